"""The reading of headers, which most of a stream have in common."""

from __future__ import annotations

from idemspec import Transport, parse_headers
from idemspec.header_table import HEADERS
from idemspec.transports import HeaderValue

from .header_text import Headers

# What producers write alike into every message of a type, and retries change to a few values.
_ALIKE = frozenset(
    header.name
    for header in HEADERS
    if header.name.startswith(("max_", "backoff_"))
    or header.name in ("event_type", "topic", "idem_spec", "retry_count", "hold_count")
)

_MOST = 1024
_known: dict[tuple[tuple[str, HeaderValue], ...], dict[str, str]] = {}


def parse_quickly(headers: Headers) -> dict[str, str]:
    """The envelope of `parse_headers`, whose checks of one header do not depend on the others:
    those that are alike in many messages are checked once."""
    alike = tuple(pair for pair in headers if pair[0] in _ALIKE)
    known = _known.get(alike)
    if known is None:
        envelope = parse_headers(Transport.KAFKA, headers).envelope
        if len(_known) >= _MOST:
            _known.clear()
        _known[alike] = {name: envelope[name] for name in envelope if name in _ALIKE}
        return envelope
    others = [pair for pair in headers if pair[0] not in _ALIKE]
    return known | parse_headers(Transport.KAFKA, others).envelope
