"""Reading and writing headers (HDR-010 to HDR-034)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from .context import Context
from .decisions import Decision
from .errors import Code, IdemError
from .header_table import HEADERS, Header, printable
from .policies import BOUNDS, MAX_COUNT, Policy, PolicyValues
from .timestamps import timestamp_of_epoch, timestamp_of_text
from .transports import (
    WIRE_NAMES,
    HeaderValue,
    Transport,
    can_carry,
    identity,
    known_header,
    raw_bytes,
    written,
)

Pair = tuple[str, HeaderValue]

_REDRIVE_COUNT = next(header for header in HEADERS if header.name == "redrive_count")

_PROBLEMS: dict[Code, str] = {
    "HEADER_CONFLICT": "has values that differ",
    "HEADER_UTF8": "is ill-formed text",
    "HEADER_SYNTAX": "does not match the header's syntax",
    "HEADER_RANGE": "is out of the header's range",
    "KEY_SYNTAX": "is not a key of bytes from 21 to 7E",
    "KEY_TOO_LONG": "is longer than 1024 bytes",
    "SPEC_VERSION": "is a major version of the spec that is not known",
}


@dataclass(frozen=True)
class ParsedHeaders:
    """The headers of a delivery."""

    envelope: dict[str, str]
    """The known headers that are there, by their names in HDR-002, in its order."""
    unknown: list[Pair]
    """The other pairs as they were given."""
    warnings: list[str]
    """The context headers that were left out for a fault."""


def parse_headers(transport: Transport, pairs: Iterable[Pair]) -> ParsedHeaders:
    """The headers of a delivery, checked; the first fault in the table's order is the answer.

    HEADER_CONFLICT, HEADER_UTF8, HEADER_SYNTAX (KEY_SYNTAX), HEADER_RANGE (KEY_TOO_LONG,
    SPEC_VERSION); such a message is MALFORMED. Faults of context headers are warnings.
    """
    known, unknown = _sorted_out(transport, pairs)
    envelope: dict[str, str] = {}
    warnings = []
    for header in HEADERS:
        if header.name in known:
            try:
                envelope[header.name] = _read(transport, header, known[header.name])
            except IdemError:
                if not header.is_context:
                    raise
                warnings.append(header.name)
    return ParsedHeaders(envelope, unknown, warnings)


def policy_values(envelope: Mapping[str, str]) -> PolicyValues:
    """What the headers of a parsed envelope say about the policy, for `resolve`."""
    values: dict[str, object] = {name: int(envelope[name]) for name in BOUNDS if name in envelope}
    if "backoff_schedule" in envelope:
        values["backoff_schedule"] = tuple(map(int, envelope["backoff_schedule"].split(",")))
    return cast(PolicyValues, values)


def producer_headers(
    context: Context,
    *,
    idempotency_key: str,
    event_type: str,
    idempotency_key_previous: str | None = None,
    biz_key: str | None = None,
    fingerprint: str | None = None,
    occurred_at: str | None = None,
    expected_current_state: str | None = None,
    policy: Policy | None = None,
) -> list[tuple[str, str]]:
    """What a producer writes (HDR-020), by the names of HDR-002 and in its order.

    `bind` puts it on a transport. None is left out, and an empty value of the context; `policy` is
    the schema's, None where it has no `retry`.

    Generated code passes its arguments in the order of CONF-042, so the first fault is the answer.
    """
    produced_at = context.produced_at
    values = {
        "idempotency_key": idempotency_key,
        "event_id": context.event_id or None,
        "event_type": event_type,
        "biz_key": biz_key,
        "topic": context.topic or None,
        "produced_at": timestamp_of_text(produced_at, 3, "produced_at") if produced_at else None,
        "occurred_at": occurred_at,
        "traceparent": context.traceparent or None,
        "tracestate": context.tracestate or None,
        "expected_current_state": expected_current_state,
        "idempotency_key_previous": idempotency_key_previous,
        "fingerprint": fingerprint,
        "idem_spec": "1",
    }
    if policy is not None:
        values["max_retry"] = str(policy.max_retry)
        values["max_hold"] = str(policy.max_hold)
        values["backoff_jitter"] = str(policy.backoff_jitter)
        if policy.backoff_schedule:
            values["backoff_schedule"] = ",".join(map(str, policy.backoff_schedule))
        else:
            values["backoff_base"] = str(policy.backoff_base)
            values["backoff_max"] = str(policy.backoff_max)
    given = ((header.name, values.get(header.name)) for header in HEADERS)
    return [(name, value) for name, value in given if value is not None]


def bind(transport: Transport, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers by the names of HDR-002 as a transport writes them. Text stands for its UTF-8 bytes;
    on AMQP it is a long string."""
    names = WIRE_NAMES[transport]
    return [(names[name], written(transport, name, value)) for name, value in headers]


def next_headers(
    transport: Transport,
    pairs: Iterable[Pair],
    decision: Decision,
    *,
    scope: str,
    topic: str,
    now_ms: int,
) -> list[Pair]:
    """The headers of the delivery that follows from a decision other than ACK (HDR-030 to HDR-034).

    `scope` is the consumer's, `topic` where this delivery came from, `now_ms` counts from 1970. A
    time beyond the year 9999 is TIMESTAMP_RANGE.
    """
    changes: dict[str, str | None] = {"target_scope": scope}
    if decision.retry_count is not None:
        changes["retry_count"] = str(decision.retry_count)
    if decision.hold_count is not None:
        changes["hold_count"] = str(decision.hold_count)
    if decision.reject_reason is not None:
        changes["reject_reason"] = printable(decision.reject_reason)
    if decision.delay_ms is None:
        changes["retry_interval"] = changes["next_retry_time"] = None
    else:
        changes["retry_interval"] = str(decision.delay_ms)
        due = timestamp_of_epoch(now_ms + decision.delay_ms, "ms", 3, "next_retry_time")
        changes["next_retry_time"] = due
    known, unknown = _sorted_out(transport, pairs)
    return _replaced(transport, known, unknown, topic, changes)


def redrive_headers(
    transport: Transport,
    pairs: Iterable[Pair],
    *,
    record_redrive_count: int,
    scope: str,
    topic: str,
    drop_fingerprint: bool = False,
) -> list[Pair]:
    """The headers of a dead letter's next life (HDR-033).

    `drop_fingerprint` where the payload was repaired, so that the comparison is skipped.
    """
    known, unknown = _sorted_out(transport, pairs)
    lives = record_redrive_count
    if counts := known.get("redrive_count"):
        with suppress(IdemError):
            lives = max(lives, int(_read(transport, _REDRIVE_COUNT, counts)))
    changes: dict[str, str | None] = {
        "target_scope": scope,
        "retry_count": "0",
        "hold_count": "0",
        "redrive_count": str(min(lives + 1, MAX_COUNT)),
        "retry_interval": None,
        "next_retry_time": None,
        "reject_reason": None,
    }
    if drop_fingerprint:
        changes["fingerprint"] = None
    return _replaced(transport, known, unknown, topic, changes)


_Known = dict[str, list[str | bytes | int]]


def _sorted_out(transport: Transport, pairs: Iterable[Pair]) -> tuple[_Known, list[Pair]]:
    """The values of each known header that count, and the unknown pairs."""
    known: _Known = {}
    unknown: list[Pair] = []
    for name, value in pairs:
        header = known_header(transport, name)
        if header is None:
            unknown.append((name, value))
        elif value is not None:
            if header.last_counts:
                known[header.name] = [value]
            else:
                known.setdefault(header.name, []).append(value)
    return known, unknown


def _read(transport: Transport, header: Header, values: list[str | bytes | int]) -> str:
    """The text of a header, or its first fault."""
    found, *others = dict.fromkeys(
        identity(transport, header, raw_bytes(transport, value)) for value in values
    )
    if others:
        raise _fault("HEADER_CONFLICT", header, found)
    try:
        text = found.decode()
    except UnicodeDecodeError:
        raise _fault("HEADER_UTF8", header, found) from None
    if not header.is_integer and any(isinstance(value, int) for value in values):
        raise _fault("HEADER_SYNTAX", header, found)
    code = header.check(text)
    if code is None and not can_carry(transport, text):
        code = "HEADER_SYNTAX"
    if code is not None:
        raise _fault(code, header, found)
    return text


def _fault(code: Code, header: Header, value: bytes) -> IdemError:
    return IdemError(code, _PROBLEMS[code], header.name, value)


def _replaced(
    transport: Transport,
    known: _Known,
    unknown: list[Pair],
    topic: str,
    changes: dict[str, str | None],
) -> list[Pair]:
    """Known headers in the table's order, changed or as they are, then the unknown ones."""
    if "topic" not in known:
        changes["topic"] = topic
    pairs: list[Pair] = []
    for header in HEADERS:
        name = WIRE_NAMES[transport][header.name]
        if header.name in changes:
            change = changes[header.name]
            if change is not None:
                pairs.append((name, written(transport, header.name, change)))
        else:
            kept: dict[bytes, bytes] = {}
            for value in known.get(header.name, ()):
                raw = raw_bytes(transport, value)
                kept.setdefault(identity(transport, header, raw), raw)
            pairs.extend((name, _text_or_bytes(raw)) for raw in kept.values())
    return pairs + unknown


def _text_or_bytes(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
