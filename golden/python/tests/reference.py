"""What spec chapters 2 to 6 say, by reflection and the standard library: slow, and for values that
have a text alone. Nothing of it is shared with the code under test."""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_DOWN, Context, Decimal, InvalidOperation
from typing import Any
from urllib.parse import quote
from uuid import UUID

import xxhash
from idem.v1 import options_pb2
from messages import FIELD, Annotated

EXACT = Context(prec=1000)
UNITS = {1: 1, 2: 10**3, 3: 10**6, 4: 10**9}


class Fault(Exception):
    """A code, and the path of a field."""


def render(template: str, message: Any) -> str:
    segments = template.split(":")
    return ":".join(component(s[1:-1], message) if s[0] == "{" else s for s in segments)


def component(path: str, message: Any) -> str:
    is_set, value, field = walk(path, message)
    options = field.GetOptions().Extensions[FIELD]
    allow = options.missing == options_pb2.MISSING_ALLOW
    if not is_set:
        if allow:
            return "~"
        raise Fault("KEY_COMPONENT_MISSING", path)
    if not allow and not field.has_presence and not value:
        raise Fault("KEY_COMPONENT_MISSING", path)
    try:
        text = canonical(value, field)
    except InvalidOperation:
        raise Fault("DECIMAL_SYNTAX", path) from None
    if options.digest == options_pb2.DIGEST_SHA256:
        return hashlib.sha256(text.encode()).hexdigest()[:32]
    if is_timestamp(field):
        return text
    return quote(text, safe="").replace("~", "%7E")


def biz_key(template: str, message: Any) -> str:
    key = render(template, message)
    if not key:
        raise Fault("KEY_EMPTY", "biz_key")
    return key


def walk(path: str, message: Any) -> tuple[bool, Any, Any]:
    """Whether the leaf of a path is set (as far as it can tell), what it holds, and its field."""
    *parents, leaf = path.split(".")
    is_set = True
    for name in parents:
        is_set = is_set and message.HasField(name)
        message = getattr(message, name)
    field = message.DESCRIPTOR.fields_by_name[leaf]
    if field.has_presence:
        is_set = is_set and message.HasField(leaf)
    return is_set, getattr(message, leaf), field


def is_timestamp(field: Any) -> bool:
    if field.message_type and field.message_type.full_name == "google.protobuf.Timestamp":
        return True
    return bool(field.GetOptions().Extensions[FIELD].HasField("timestamp"))


def digits(options: Any) -> int:
    return int(options.fraction_digits) if options.HasField("fraction_digits") else 3


def canonical(value: Any, field: Any) -> str:
    options = field.GetOptions().Extensions[FIELD]
    if field.message_type:
        kind = field.message_type.full_name
        if kind == "google.protobuf.Timestamp":
            return instant(value.seconds * 10**9 + value.nanos, digits(options.timestamp))
        if kind == "google.protobuf.Duration":
            return duration(value, digits(options.duration))
        if kind == "google.type.Date":
            return date(value.year, value.month, value.day).isoformat()
        if kind == "google.type.Decimal":
            return plain(value.value or "0")
        if kind == "google.type.Money":
            amount = EXACT.add(Decimal(value.units), Decimal(value.nanos).scaleb(-9))
            return str(value.currency_code) + plain(amount)
        value = value.value
    if isinstance(value, bool):
        return str(value).lower()
    if options.HasField("decimal"):
        return plain(value)
    if options.HasField("timestamp"):
        if isinstance(value, int):
            return instant(
                value * 10**9 // UNITS[options.timestamp.unit], digits(options.timestamp)
            )
        return instant(nanos_of(value), digits(options.timestamp))
    if options.uuid:
        return str(UUID(value))
    return value.hex() if isinstance(value, bytes) else str(value)


def plain(value: str | Decimal) -> str:
    number = Decimal(value)
    return f"{EXACT.normalize(number):f}" if number else "0"


def instant(nanos: int, fraction_digits: int) -> str:
    seconds, nanos = divmod(nanos, 10**9)
    whole = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    fraction = "." + f"{nanos:09}"[:fraction_digits] if fraction_digits else ""
    return f"{whole.isoformat()}{fraction}Z"


def nanos_of(text: str) -> int:
    """Of RFC 3339 text, whose fraction datetime would cut."""
    whole, rest = text[:19], text[19:].replace("Z", "+00:00")
    fraction, offset = rest[:-6].lstrip("."), rest[-6:]
    moment = datetime.fromisoformat(whole + offset).astimezone(timezone.utc)
    seconds = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1)
    return seconds * 10**9 + int(fraction.ljust(9, "0"))


def duration(value: Any, fraction_digits: int) -> str:
    span = EXACT.add(Decimal(value.seconds), Decimal(value.nanos).scaleb(-9))
    cut = span.quantize(Decimal(1).scaleb(-fraction_digits), ROUND_DOWN, EXACT)
    return f"{cut if cut else abs(cut):f}s"


def hash_of(text: str) -> str:
    return xxhash.xxh64(text.encode()).hexdigest()


def headers(of: Annotated, message: Any) -> list[tuple[str, str]]:
    """HDR-020, for a producer without a context."""
    options = of.options
    found = {
        "idempotency_key": render(options.idempotency_key, message),
        "event_type": options.idempotency_key.split(":")[0],
    }
    if options.HasField("idempotency_key_previous"):
        found["idempotency_key_previous"] = render(options.idempotency_key_previous, message)
    if options.HasField("biz_key"):
        found["biz_key"] = biz_key(options.biz_key, message)
    if options.HasField("fingerprint"):
        content = render(options.fingerprint, message)
        found["fingerprint"] = f"{hash_of(options.fingerprint)[8:]}-{hash_of(content)}"
    if options.HasField("occurred_at"):
        is_set, value, field = walk(options.occurred_at[1:-1], message)
        if is_set and (value or field.has_presence):
            found["occurred_at"] = canonical(value, field)
    if options.HasField("transition"):
        # The text is written where it is "", and presence is real in proto2.
        found["expected_current_state"] = getattr(options.transition, "from")
    found["idem_spec"] = "1"
    if options.HasField("retry"):
        found.update(policy(options.retry))
    order = (
        "idempotency_key event_type biz_key occurred_at expected_current_state "
        "idempotency_key_previous fingerprint idem_spec max_retry max_hold backoff_base "
        "backoff_jitter backoff_max backoff_schedule"
    ).split()
    return [(name, found[name]) for name in order if name in found]


def policy(retry: Any) -> dict[str, str]:
    def stated(name: str, otherwise: int) -> str:
        return str(getattr(retry, name) if retry.HasField(name) else otherwise)

    values = {
        "max_retry": stated("max_retry", 5),
        "max_hold": stated("max_hold", 20),
        "backoff_jitter": stated("backoff_jitter_ms", 1000),
    }
    if retry.backoff_schedule_ms:
        return {**values, "backoff_schedule": ",".join(map(str, retry.backoff_schedule_ms))}
    base = stated("backoff_base_seconds", 1)
    return {**values, "backoff_base": base, "backoff_max": stated("backoff_max_seconds", 300)}
