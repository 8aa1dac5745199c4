"""Chapters 3, 4 and 6 for messages: what a producer sends, from a schema and a payload.

The types and their options come from descriptors.binpb, so nothing here is generated.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from . import canonical_text, hash, headers, key, retry  # noqa: A004
from .errors import Fault

DESCRIPTORS = Path(__file__).resolve().parent.parent / "descriptors.binpb"
MESSAGE_OPTIONS = FIELD_OPTIONS = 73157  # chapter 3, extension numbers

MISSING_ALLOW = 2
DIGEST_SHA256 = 1
UNITS = {1: "s", 2: "ms", 3: "us", 4: "ns"}


# --- Descriptors and options


@cache
def pool() -> descriptor_pool.DescriptorPool:
    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes())
    made = descriptor_pool.DescriptorPool()
    for file in files.file:
        made.Add(file)
    return made


def options(descriptor: Any, number: int) -> Any:
    """The option with that extension number, None where the schema has none.

    Python knows the options of a descriptor by its own pool, where ours are unknown fields; so they
    are parsed again as the extendee that stands in the descriptors.
    """
    raw = descriptor.GetOptions()
    extendee = pool().FindMessageTypeByName(raw.DESCRIPTOR.full_name)
    parsed = message_factory.GetMessageClass(extendee).FromString(raw.SerializeToString())
    extension: Any = pool().FindExtensionByNumber(extendee, number)
    return parsed.Extensions[extension] if parsed.HasExtension(extension) else None


def find(type_name: str) -> Any:
    """The descriptor of a message, None where there is none."""
    try:
        return pool().FindMessageTypeByName(type_name)
    except KeyError:
        return None


def parse(descriptor: Any, payload: bytes) -> Message:
    """CONF-040."""
    try:
        message = message_factory.GetMessageClass(descriptor).FromString(payload)
    except DecodeError as error:
        raise Fault("PAYLOAD_INVALID", str(error)) from None
    if not message.IsInitialized():
        raise Fault("PAYLOAD_INVALID", "a required field is missing")
    return message


# --- Fields


def read(message: Message, path: str) -> tuple[Any, Any]:
    """The field at the end of a path and its value, None where it is missing (KEY-004).

    The zero value of a field without presence comes back as what it is: whether that is missing is
    for the caller to say.
    """
    *walk, last = path.split(".")
    descriptor: Any = message.DESCRIPTOR
    reached: Message | None = message
    for name in walk:
        step = descriptor.fields_by_name[name]
        if reached is not None:
            reached = getattr(reached, name) if reached.HasField(name) else None
        descriptor = step.message_type
    leaf = descriptor.fields_by_name[last]
    if reached is None or (leaf.has_presence and not reached.HasField(last)):
        return leaf, None
    return leaf, getattr(reached, last)


def is_zero(leaf: Any, value: Any) -> bool:
    return not leaf.has_presence and value == leaf.default_value


@dataclass
class Text:
    """A canonical text, and whether it is a timestamp (KEY-002)."""

    text: bytes
    timestamp: bool = False


_WRAPPERS = {
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Bytes", "Int32", "Int64", "String", "UInt32", "UInt64")
}


def text_of(leaf: Any, value: Any) -> Text:
    """Chapter 2, by the field's type and its options."""
    settings = options(leaf, FIELD_OPTIONS)
    kind = leaf.type
    if leaf.message_type is not None:
        name = leaf.message_type.full_name
        if name not in _WRAPPERS:
            return _text_of_message(name, settings, value)
        kind = leaf.message_type.fields_by_name["value"].type
        value = value.value
    if kind == FieldDescriptor.TYPE_STRING:
        return _text_of_string(settings, value)
    if kind == FieldDescriptor.TYPE_BYTES:
        return Text(canonical_text.octets(value).encode())
    if kind == FieldDescriptor.TYPE_BOOL:
        return Text(canonical_text.boolean(value).encode())
    if kind == FieldDescriptor.TYPE_ENUM:
        return Text(canonical_text.enum(value).encode())
    if settings is not None and settings.HasField("timestamp"):
        unit = UNITS[settings.timestamp.unit]
        digits = fraction_digits(settings, "timestamp")
        return Text(canonical_text.timestamp_of_epoch(value, unit, digits).encode(), True)
    # Parsing has given the integer the sign of its declared type already.
    return Text(b"%d" % value)


def fraction_digits(settings: Any, option: str) -> int:
    """OPT-021: three where it is not stated."""
    if settings is not None and settings.HasField(option):
        stated = getattr(settings, option)
        if stated.HasField("fraction_digits"):
            return stated.fraction_digits
    return 3


def max_scale(settings: Any) -> int | None:
    if settings is not None and settings.decimal.HasField("max_scale"):
        return settings.decimal.max_scale
    return None


def _text_of_message(name: str, settings: Any, value: Any) -> Text:
    if name == "google.protobuf.Timestamp":
        digits = fraction_digits(settings, "timestamp")
        text = canonical_text.timestamp(value.seconds, value.nanos, digits)
        return Text(text.encode(), True)
    if name == "google.protobuf.Duration":
        digits = fraction_digits(settings, "duration")
        return Text(canonical_text.duration(value.seconds, value.nanos, digits).encode())
    if name == "google.type.Date":
        return Text(canonical_text.date(value.year, value.month, value.day).encode())
    if name == "google.type.Decimal":
        # TXT-008: empty is 0 here, and nowhere else.
        return Text(
            canonical_text.decimal(value.value.encode() or b"0", max_scale(settings)).encode()
        )
    assert name == "google.type.Money", name
    currency = value.currency_code.encode()
    return Text(canonical_text.money(currency, value.units, value.nanos).encode())


def _text_of_string(settings: Any, value: str | bytes) -> Text:
    # Python gives the bytes of a string that its schema does not check and that is not UTF-8.
    raw = value if isinstance(value, bytes) else value.encode()
    if settings is not None and settings.HasField("decimal"):
        return Text(canonical_text.decimal(raw, max_scale(settings)).encode())
    if settings is not None and settings.HasField("timestamp"):
        digits = fraction_digits(settings, "timestamp")
        text = raw.decode("utf-8", "replace")  # no replacement is part of a timestamp
        return Text(canonical_text.timestamp_of_text(text, digits).encode(), True)
    if settings is not None and settings.uuid:
        return Text(canonical_text.uuid(raw.decode("utf-8", "replace")).encode())
    return Text(canonical_text.utf8(raw))


def component(message: Message, path: str) -> str:
    """KEY-001 to KEY-006."""
    leaf, value = read(message, path)
    settings = options(leaf, FIELD_OPTIONS)
    allowed = settings is not None and settings.missing == MISSING_ALLOW
    if value is None and allowed:
        return key.ABSENT
    if value is None or (is_zero(leaf, value) and not allowed):
        raise key.missing()
    made = text_of(leaf, value)
    if settings is not None and settings.digest == DIGEST_SHA256:
        return key.digest(made.text)
    return made.text.decode() if made.timestamp else key.escape(made.text)


# --- Templates


def render(message: Message, template: str) -> str:
    """KEY-010 and KEY-011."""
    segments = []
    for segment in template.split(":"):
        placeholder = re.fullmatch(r"\{(.*)\}", segment)
        segments.append(component(message, placeholder[1]) if placeholder else segment)
    return key.render(segments)


def occurred_at(message: Message, template: str) -> str | None:
    """HDR-021."""
    leaf, value = read(message, template[1:-1])
    if value is None or is_zero(leaf, value):
        return None
    return text_of(leaf, value).text.decode()


# --- What a producer sends


@dataclass
class Sent:
    event_type: str
    idempotency_key: str
    idempotency_key_previous: str | None = None
    biz_key: str | None = None
    fingerprint: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)


def produce(settings: Any, message: Message, context: dict[str, str]) -> Sent:
    """HDR-020, with faults in the order of CONF-042."""
    sent = Sent(
        event_type=settings.idempotency_key.split(":")[0],
        idempotency_key=render(message, settings.idempotency_key),
    )
    if settings.HasField("idempotency_key_previous"):
        sent.idempotency_key_previous = render(message, settings.idempotency_key_previous)
    if settings.HasField("biz_key"):
        sent.biz_key = render(message, settings.biz_key)
        hash.check_key(sent.biz_key.encode())  # KEY-013
    if settings.HasField("fingerprint"):
        rendered = render(message, settings.fingerprint)
        sent.fingerprint = hash.fingerprint(settings.fingerprint.encode(), rendered.encode())

    values: dict[str, str | None] = {
        **context,
        "idempotency_key": sent.idempotency_key,
        "event_type": sent.event_type,
        "biz_key": sent.biz_key,
        "idempotency_key_previous": sent.idempotency_key_previous,
        "fingerprint": sent.fingerprint,
        "idem_spec": "1",
    }
    if settings.HasField("occurred_at"):
        values["occurred_at"] = occurred_at(message, settings.occurred_at)
    if settings.HasField("transition"):
        values["expected_current_state"] = getattr(settings.transition, "from")
    if settings.HasField("retry"):
        values |= policy(settings.retry)
    for header in headers.TABLE:
        value = values.get(header.name)
        if value is not None:
            sent.headers.append((header.name, value))
    return sent


def policy(settings: Any) -> dict[str, str]:
    """The policy of a schema, defaults filled in."""
    stated = {
        "max_retry": "max_retry",
        "max_hold": "max_hold",
        "backoff_base": "backoff_base_seconds",
        "backoff_jitter": "backoff_jitter_ms",
        "backoff_max": "backoff_max_seconds",
    }
    values = {
        name: str(getattr(settings, option) if settings.HasField(option) else retry.DEFAULTS[name])
        for name, option in stated.items()
    }
    if settings.backoff_schedule_ms:
        del values["backoff_base"], values["backoff_max"]
        values["backoff_schedule"] = ",".join(str(entry) for entry in settings.backoff_schedule_ms)
    return values
