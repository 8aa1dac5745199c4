"""The known headers: their names, their order, and what a value may be (HDR-001 to HDR-003)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .errors import Code, IdemError
from .keys import MAX_KEY_BYTES
from .policies import BOUNDS, MAX_COUNT, MAX_SCHEDULE, MAX_WAIT_MS
from .strings import utf8
from .timestamps import parse_timestamp

MAX_TEXT_BYTES = 1024

Check = Callable[[str], Code | None]
"""The fault of a value, or None."""


@dataclass(frozen=True)
class Header:
    """One row of the table."""

    name: str
    check: Check
    is_context: bool = False
    """A fault is a warning."""
    is_integer: bool = False
    """AMQP integers are read."""
    last_counts: bool = False
    """Tracers append it: the last value is the value."""


def _matches(grammar: str) -> Check:
    full_match = re.compile(grammar).fullmatch
    return lambda value: None if full_match(value) else "HEADER_SYNTAX"


_is_integer = re.compile(r"0|[1-9][0-9]*").fullmatch
_is_schedule = re.compile(r"(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*))*").fullmatch
_is_key = re.compile(r"[!-~]+").fullmatch
_check_name = _matches(r"[A-Za-z0-9._-]{1,200}")


def _check_key(value: str) -> Code | None:
    if not _is_key(value):
        return "KEY_SYNTAX"
    return "KEY_TOO_LONG" if len(value) > MAX_KEY_BYTES else None


def _check_text(value: str) -> Code | None:
    return None if 1 <= len(value.encode()) <= MAX_TEXT_BYTES else "HEADER_SYNTAX"


def _check_trace(value: str) -> Code | None:
    return None


def _check_timestamp(value: str) -> Code | None:
    if not value.endswith("Z"):
        return "HEADER_SYNTAX"
    try:
        parse_timestamp(value)
    except IdemError:
        return "HEADER_SYNTAX"
    return "HEADER_RANGE" if value.startswith("0000") else None


def _check_version(value: str) -> Code | None:
    if not _is_integer(value):
        return "HEADER_SYNTAX"
    return None if value == "1" else "SPEC_VERSION"


def _check_schedule(value: str) -> Code | None:
    if not _is_schedule(value):
        return "HEADER_SYNTAX"
    delays = value.split(",")
    if len(delays) > MAX_SCHEDULE or any(_above(delay, MAX_WAIT_MS) for delay in delays):
        return "HEADER_RANGE"
    return None


def _check_reason(value: str) -> Code | None:
    return None if value == printable(value) else "HEADER_SYNTAX"


def _above(digits: str, most: int) -> bool:
    # Length first: int() is slow, and from 3.11 on refuses, where digits are very many.
    return len(digits) > 10 or int(digits) > most


def _integer(name: str, least: int, most: int) -> Header:
    def check(value: str) -> Code | None:
        if not _is_integer(value):
            return "HEADER_SYNTAX"
        return "HEADER_RANGE" if _above(value, most) or int(value) < least else None

    return Header(name, check, is_integer=True)


_control = {code: " " for code in (*range(0x20), 0x7F)}


def printable(reason: str) -> str:
    """A reject reason as it is written (HDR-023): control characters are blanks, and what is beyond
    1024 bytes is cut, before a character."""
    written = utf8(reason.translate(_control), "reject_reason")
    return written[:MAX_TEXT_BYTES].decode(errors="ignore")


HEADERS = (
    Header("idempotency_key", _check_key),
    Header("event_id", _check_text, is_context=True),
    Header("event_type", _check_name),
    Header("biz_key", _check_key),
    Header("topic", _check_text, is_context=True),
    Header("produced_at", _check_timestamp, is_context=True),
    Header("occurred_at", _check_timestamp, is_context=True),
    Header("traceparent", _check_trace, is_context=True, last_counts=True),
    Header("tracestate", _check_trace, is_context=True, last_counts=True),
    Header("expected_current_state", _matches(r"[A-Za-z0-9._-]{0,200}")),
    Header("idempotency_key_previous", _check_key),
    Header("fingerprint", _matches(r"[0-9a-f]{8}-[0-9a-f]{16}")),
    Header("idem_spec", _check_version, is_integer=True),
    _integer("retry_count", 0, MAX_COUNT),
    _integer("max_retry", *BOUNDS["max_retry"]),
    _integer("hold_count", 0, MAX_COUNT),
    _integer("max_hold", *BOUNDS["max_hold"]),
    _integer("redrive_count", 0, MAX_COUNT),
    Header("target_scope", _check_name),
    _integer("backoff_base", *BOUNDS["backoff_base"]),
    _integer("backoff_jitter", *BOUNDS["backoff_jitter"]),
    _integer("backoff_max", *BOUNDS["backoff_max"]),
    Header("backoff_schedule", _check_schedule),
    _integer("retry_interval", 0, 608_400_000),
    Header("next_retry_time", _check_timestamp),
    Header("reject_reason", _check_reason, is_context=True),
)
