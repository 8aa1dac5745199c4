"""Chapter 6: what a message carries, how it is read, and what its next delivery carries."""

import re
from dataclasses import dataclass, replace

from . import canonical_text
from .errors import Fault
from .key import LONGEST_KEY
from .retry import BOUNDS, LONGEST_SCHEDULE, SCHEDULE_ENTRY

KEY, CONTEXT, NAME, STATE, FINGERPRINT, INTEGER, SCHEDULE, TIMESTAMP = (
    "key context name state fingerprint integer schedule timestamp".split()
)

LONGEST_CONTEXT = 1024
_INT32 = (0, 2**31 - 1)


@dataclass(frozen=True)
class Header:
    """A row of HDR-002. `context` headers have a form of their own, and are never an error."""

    name: str
    kind: str
    context: bool = False
    bounds: tuple[int, int] | None = None


TABLE = (
    Header("idempotency_key", KEY),
    Header("event_id", "identifier", context=True),
    Header("event_type", NAME),
    Header("biz_key", KEY),
    Header("topic", "identifier", context=True),
    Header("produced_at", TIMESTAMP, context=True),
    Header("occurred_at", TIMESTAMP, context=True),
    Header("traceparent", "trace", context=True),
    Header("tracestate", "trace", context=True),
    Header("expected_current_state", STATE),
    Header("idempotency_key_previous", KEY),
    Header("fingerprint", FINGERPRINT),
    Header("idem_spec", INTEGER),
    Header("retry_count", INTEGER, bounds=_INT32),
    Header("max_retry", INTEGER, bounds=BOUNDS["max_retry"]),
    Header("hold_count", INTEGER, bounds=_INT32),
    Header("max_hold", INTEGER, bounds=BOUNDS["max_hold"]),
    Header("redrive_count", INTEGER, bounds=_INT32),
    Header("target_scope", NAME),
    Header("backoff_base", INTEGER, bounds=BOUNDS["backoff_base"]),
    Header("backoff_jitter", INTEGER, bounds=BOUNDS["backoff_jitter"]),
    Header("backoff_max", INTEGER, bounds=BOUNDS["backoff_max"]),
    Header("backoff_schedule", SCHEDULE),
    Header("retry_interval", INTEGER, bounds=(0, 608_400_000)),
    Header("next_retry_time", TIMESTAMP),
    Header("reject_reason", "reason", context=True),
)
BY_NAME = {header.name: header for header in TABLE}

# --- Bindings: names

TRANSPORTS = ("kafka", "amqp", "http", "cloudevents")
_HTTP_NAMES = {
    "idempotency_key": "Idempotency-Key",
    "traceparent": "traceparent",
    "tracestate": "tracestate",
    "idem_spec": "Idem-Spec",
}
_CLOUDEVENTS_NAMES = {
    "event_id": "id",
    "event_type": "type",
    "occurred_at": "time",
    "biz_key": "partitionkey",
}


def transport_name(transport: str, name: str) -> str:
    """HDR-040 to HDR-045."""
    if transport == "http":
        words = "-".join(word.capitalize() for word in name.split("_"))
        return _HTTP_NAMES.get(name, "Idem-" + words)
    if transport == "cloudevents":
        return _CLOUDEVENTS_NAMES.get(name, name.replace("_", ""))
    return name


def _ascii_lower(text: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def header_of(transport: str, given: str) -> Header | None:
    """The known header that a transport's name stands for."""
    for header in TABLE:
        name = transport_name(transport, header.name)
        if name == given:
            return header
        if transport == "http" and _ascii_lower(name) == _ascii_lower(given):
            return header
    return None


# --- Values

# What a pair's value is: bytes, an AMQP integer, or null.
Given = bytes | int | None


@dataclass(frozen=True)
class Value:
    """One value of a known header: its bytes as they are passed on, the bytes that it means, and
    whether the binding itself finds fault with its form."""

    raw: bytes
    meaning: bytes
    malformed: bool = False
    quoted_wrongly: bool = False

    @property
    def identity(self) -> tuple[bool, bytes]:
        """What is equal in HDR-012: a value that HDR-043 refuses equals itself alone."""
        return self.quoted_wrongly, self.meaning


def value_of(transport: str, header: Header, given: bytes | int) -> Value:
    """HDR-041 to HDR-044."""
    if isinstance(given, int):
        raw = str(given).encode()
        return Value(raw, raw, malformed=header.kind != INTEGER)
    if transport != "http":
        return Value(given, given)
    raw = given.strip(b" \t")
    malformed = any(not 0x20 <= byte <= 0x7E for byte in raw)
    if header.name == "idempotency_key" and raw.startswith(b'"'):
        unquoted = _unquote(raw)
        if unquoted is None:
            return Value(raw, raw, malformed=True, quoted_wrongly=True)
        return Value(raw, unquoted, malformed)
    return Value(raw, raw, malformed)


def _unquote(raw: bytes) -> bytes | None:
    """HDR-043: a string of RFC 8941, or None."""
    if not re.fullmatch(rb'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"', raw):
        return None
    return re.sub(rb'\\(["\\])', rb"\1", raw[1:-1])


def distinct(header: Header, values: list[Value]) -> list[Value]:
    """HDR-012: what counts of several values."""
    if header.kind == "trace":
        return values[-1:]
    seen: dict[tuple[bool, bytes], Value] = {}
    for value in values:
        first = seen.setdefault(value.identity, value)
        if value.malformed and not first.malformed:  # HDR-041: an integer beside an equal text
            seen[value.identity] = replace(first, malformed=True)
    return list(seen.values())


# --- Reading


def check(transport: str, header: Header, values: list[Value]) -> str:
    """HDR-011: the header's text, or its first fault."""
    values = distinct(header, values)
    if len(values) > 1:
        raise Fault("HEADER_CONFLICT", header.name)
    value = values[0]
    try:
        value.raw.decode("utf-8", "strict")
        text = value.meaning.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise Fault("HEADER_UTF8", header.name) from None
    amqp_integer = transport == "amqp" and value.malformed
    if header.kind == KEY and not amqp_integer:
        if value.malformed or not re.fullmatch(r"[\x21-\x7e]+", text):
            raise Fault("KEY_SYNTAX", header.name)
        if len(text) > LONGEST_KEY:
            raise Fault("KEY_TOO_LONG", header.name)
        return text
    if value.malformed or not _syntax(header, text):
        raise Fault("HEADER_SYNTAX", header.name)
    if header.name == "idem_spec":
        if text != "1":
            raise Fault("SPEC_VERSION", text)
    elif not _range(header, text):
        raise Fault("HEADER_RANGE", header.name)
    return text


_NUMBER = r"(?:0|[1-9][0-9]*)"
_FORMS = {
    "identifier": r"(?s:.+)",
    NAME: r"[A-Za-z0-9._-]{1,200}",
    STATE: r"[A-Za-z0-9._-]{0,200}",
    FINGERPRINT: r"[0-9a-f]{8}-[0-9a-f]{16}",
    INTEGER: _NUMBER,
    SCHEDULE: rf"{_NUMBER}(?:,{_NUMBER})*",
    "trace": r"(?s:.*)",
    "reason": r"[^\x00-\x1f\x7f]*",
}


def _syntax(header: Header, text: str) -> bool:
    if header.kind == TIMESTAMP:
        return _timestamp_year(text) is not None
    if header.kind in ("identifier", "reason") and len(text.encode()) > LONGEST_CONTEXT:
        return False
    return re.fullmatch(_FORMS[header.kind], text) is not None


def _range(header: Header, text: str) -> bool:
    if header.kind == TIMESTAMP:
        return _timestamp_year(text) != 0
    if header.kind == SCHEDULE:
        entries = text.split(",")
        return len(entries) <= LONGEST_SCHEDULE and all(
            _within(entry, SCHEDULE_ENTRY) for entry in entries
        )
    return header.bounds is None or _within(text, header.bounds)


def _within(number: str, bounds: tuple[int, int]) -> bool:
    # A longer number is larger than any bound; Python's int() has a limit of its own.
    return len(number) <= 20 and bounds[0] <= int(number) <= bounds[1]


def _timestamp_year(text: str) -> int | None:
    """HDR-003: the grammar of TXT-024 without offsets."""
    if not text.endswith("Z"):
        return None
    try:
        canonical_text.parse_timestamp(text)
    except Fault:
        return None
    return int(text[:4])


@dataclass
class Read:
    envelope: dict[str, str]
    unknown: list[int]  # the positions of the pairs that are passed through
    warnings: list[str]


def gather(
    transport: str, pairs: list[tuple[str, Given]]
) -> tuple[dict[str, list[Value]], list[int]]:
    """The values of each known header without nulls (HDR-010), and the unknown pairs (HDR-015)."""
    known: dict[str, list[Value]] = {}
    unknown = []
    for position, (name, given) in enumerate(pairs):
        header = header_of(transport, name)
        if header is None:
            unknown.append(position)
        elif given is not None:
            known.setdefault(header.name, []).append(value_of(transport, header, given))
    return known, unknown


def read(transport: str, pairs: list[tuple[str, Given]]) -> Read:
    """HDR-010 to HDR-015."""
    known, unknown = gather(transport, pairs)
    envelope: dict[str, str] = {}
    warnings = []
    for header in TABLE:
        if header.name not in known:
            continue
        try:
            envelope[header.name] = check(transport, header, known[header.name])
        except Fault:
            if not header.context:
                raise
            warnings.append(header.name)
    return Read(envelope, unknown, warnings)


# --- The next delivery


@dataclass
class NextDelivery:
    action: str
    scope: str
    topic: str
    now_ms: int
    delay_ms: int = 0
    retry_count: int | None = None
    hold_count: int | None = None
    redrive_count: int = 0
    reject_reason: str | None = None
    drop_fingerprint: bool = False


def next_headers(
    transport: str, pairs: list[tuple[str, Given]], delivery: NextDelivery
) -> tuple[list[tuple[str, bytes]], list[int]]:
    """HDR-030 to HDR-034: the known headers as (name, bytes), then the unknown pairs."""
    known, unknown = gather(transport, pairs)
    changed = _changes(transport, known, delivery)
    written = []
    for header in TABLE:
        name = transport_name(transport, header.name)
        if header.name in changed:
            text = changed[header.name]
            if text is not None:
                written.append((name, text.encode()))
        else:
            for value in distinct(header, known.get(header.name, [])):
                written.append((name, value.raw))
    return written, unknown


def _changes(
    transport: str, known: dict[str, list[Value]], delivery: NextDelivery
) -> dict[str, str | None]:
    """HDR-031, a column of it: None removes a header."""
    changed: dict[str, str | None] = {"target_scope": delivery.scope}
    if "topic" not in known:
        changed["topic"] = delivery.topic

    if delivery.action in ("RETRY", "HOLD", "DEFER"):
        changed["retry_interval"] = str(delivery.delay_ms)
        changed["next_retry_time"] = due(delivery.now_ms + delivery.delay_ms)
    else:
        changed["retry_interval"] = None
        changed["next_retry_time"] = None

    if delivery.action == "REDRIVE":
        changed["retry_count"] = "0"
        changed["hold_count"] = "0"
        changed["redrive_count"] = str(_next_redrive(transport, known, delivery))
        changed["reject_reason"] = None
        if delivery.drop_fingerprint:
            changed["fingerprint"] = None
    else:
        if delivery.retry_count is not None:
            changed["retry_count"] = str(delivery.retry_count)
        if delivery.hold_count is not None:
            changed["hold_count"] = str(delivery.hold_count)
        if delivery.action != "DEFER":
            assert delivery.reject_reason is not None
            changed["reject_reason"] = reject_reason(transport, delivery.reject_reason)
    return changed


def _next_redrive(transport: str, known: dict[str, list[Value]], delivery: NextDelivery) -> int:
    """HDR-033."""
    header_count = 0
    if "redrive_count" in known:
        try:
            header_count = int(check(transport, BY_NAME["redrive_count"], known["redrive_count"]))
        except Fault:
            pass
    return min(max(header_count, delivery.redrive_count) + 1, 2**31 - 1)


def due(epoch_ms: int) -> str:
    """HDR-034."""
    seconds, rest = divmod(epoch_ms, 1000)
    return canonical_text.timestamp(seconds, rest * 1_000_000, 3)


def reject_reason(transport: str, text: str) -> str:
    """HDR-023, then HDR-044."""
    text = re.sub(r"[\x00-\x1f\x7f]", " ", text)
    while len(text.encode()) > LONGEST_CONTEXT:
        text = text[:-1]
    if transport == "http":
        text = re.sub(r"[^\x20-\x7e]", "?", text)
    return text
