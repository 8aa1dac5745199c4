"""The reading of headers, which most of a stream have in common."""

from __future__ import annotations

import re

from idemspec import Transport, parse_headers
from idemspec.errors import Code
from idemspec.header_table import HEADERS, Check
from idemspec.transports import HeaderValue

from .header_text import Headers

# What producers write alike into every message of a type, and retries change to a few values.
ALIKE = frozenset(
    header.name
    for header in HEADERS
    if header.name.startswith(("max_", "backoff_"))
    or header.name in ("event_type", "topic", "idem_spec", "retry_count", "hold_count")
)
_CHECKS = {header.name: header.check for header in HEADERS if header.name not in ALIKE}

_MOST = 1024


class Alike:
    """Headers that many messages have in common, by whose identity others may remember things."""

    __slots__ = ("envelope", "event_type", "hold_count", "retry_count")

    def __init__(self, envelope: dict[str, str]) -> None:
        self.envelope = envelope
        self.event_type = envelope.get("event_type", "")
        self.retry_count = int(envelope.get("retry_count", "0"))
        self.hold_count = int(envelope.get("hold_count", "0"))


_known: dict[tuple[tuple[str, HeaderValue], ...], Alike] = {}

# Times are of few seconds: what is in front of the fraction is checked once.
_fraction = re.compile(r"(?:\.[0-9]{1,9})?Z").fullmatch
_SECOND = len("2026-01-01T00:00:00")
_seconds: set[str] = set()


def check_time(value: str) -> Code | None:
    second = value[:_SECOND]
    if second in _seconds and _fraction(value, _SECOND):
        return None
    fault = _check_any_time(value)
    if fault is None and _fraction(value, _SECOND):
        if len(_seconds) >= _MOST:
            _seconds.clear()
        _seconds.add(second)
    return fault


_check_any_time = _CHECKS["produced_at"]
for _name, _check in list(_CHECKS.items()):
    if _check is _check_any_time:
        _CHECKS[_name] = check_time
# What is not to be looked at further, in one look-up with the checks.
DISPATCH: dict[str, Check | None] = {**dict.fromkeys(ALIKE), **_CHECKS}


def _unknown(value: str) -> Code | None:
    raise AssertionError("it is compared, and not called")


def parse_quickly(headers: Headers) -> dict[str, str]:
    """The envelope of `parse_headers` on Kafka. What is alike is checked once for many messages,
    and the others by the checks of the table alone where each is there once, as bytes, and sound.
    Where there is any doubt it is `parse_headers` that answers."""
    alike: list[tuple[str, HeaderValue]] = []
    envelope: dict[str, str] = {}
    for pair in headers:
        name, value = pair
        check = DISPATCH.get(name, _unknown)
        if check is None:
            alike.append(pair)
            continue
        if check is _unknown or value is None:
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
    envelope.update(alike_of(tuple(alike)).envelope)
    return envelope


def alike_of(same: tuple[tuple[str, HeaderValue], ...]) -> Alike:
    known = _known.get(same)
    if known is None:
        known = Alike(_slowly(list(same)))
        if len(_known) >= _MOST:
            _known.clear()
        _known[same] = known
    return known


def _slowly(headers: Headers) -> dict[str, str]:
    return parse_headers(Transport.KAFKA, headers).envelope
