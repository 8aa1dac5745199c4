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
_CHECKS = {header.name: header.check for header in HEADERS if header.name not in _ALIKE}

_MOST = 1024
_known: dict[tuple[tuple[str, HeaderValue], ...], dict[str, str]] = {}


def parse_quickly(headers: Headers) -> dict[str, str]:
    """The envelope of `parse_headers` on Kafka. Those that are alike in many messages are checked
    once, and the others by the checks of its table alone where each is there once, as bytes, and
    sound. Where there is any doubt it is `parse_headers` that answers."""
    alike: list[tuple[str, HeaderValue]] = []
    envelope: dict[str, str] = {}
    for pair in headers:
        name, value = pair
        if name in _ALIKE:
            alike.append(pair)
            continue
        check = _CHECKS.get(name)
        if check is None or value is None:
            continue
        if name in envelope or not isinstance(value, bytes):
            return _slowly(headers)
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return _slowly(headers)
        if check(text) is not None:
            return _slowly(headers)
        envelope[name] = text
    same = tuple(alike)
    known = _known.get(same)
    if known is None:
        known = _slowly(alike)
        if len(_known) >= _MOST:
            _known.clear()
        _known[same] = known
    envelope.update(known)
    return envelope


def _slowly(headers: Headers) -> dict[str, str]:
    return parse_headers(Transport.KAFKA, headers).envelope
