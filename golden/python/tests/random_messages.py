"""Messages of random values that have a text, with random holes."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import UUID

from google.protobuf.descriptor import FieldDescriptor
from messages import FIELD

TEXTS = ["p-17", "p/17", "a b", "~", "%7E", "ü", "東京", "\U0001f600", "\x00", ":", "A.b_c-9"]
RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, (1 << 64) - 1),
}
FIRST, LAST = -62_135_596_800, 253_402_300_799


def fill(message: Any, random: Random, holes: float, depth: int = 0) -> None:
    """Sets fields, each with a probability; of a oneof, the last one that is set stays."""
    for field in message.DESCRIPTOR.fields:
        if random.random() < holes or field.is_repeated:
            continue
        if field.message_type and field.message_type.file.package.startswith("idem."):
            if depth < 3:
                inner = getattr(message, field.name)
                inner.SetInParent()
                fill(inner, random, holes, depth + 1)
        elif field.message_type:
            inner = getattr(message, field.name)
            inner.SetInParent()
            fill_known(inner, field, random)
        elif field.type != FieldDescriptor.TYPE_GROUP and not (
            field.enum_type and field.enum_type.is_closed
        ):
            setattr(message, field.name, scalar(field, field, random))


def fill_known(inner: Any, field: Any, random: Random) -> None:
    kind = field.message_type.name
    scale = field.GetOptions().Extensions[FIELD].decimal
    if kind == "Timestamp":
        inner.seconds, inner.nanos = random.randint(FIRST, LAST), random.randrange(10**9)
    elif kind == "Duration":
        sign = random.choice((-1, 1))
        inner.seconds = sign * random.choice((0, 1, 315_575_999_999))
        inner.nanos = sign * random.randrange(10**9)
    elif kind == "Date":
        inner.year, inner.month, inner.day = random.randint(1, 9999), 2, random.randint(1, 28)
    elif kind == "Decimal":
        inner.value = random.choice(("", decimal(scale, random)))
    elif kind == "Money":
        sign = random.choice((-1, 1))
        inner.currency_code = random.choice(("USD", "JPY"))
        inner.units, inner.nanos = sign * random.randrange(1 << 62), sign * random.randrange(10**9)
    elif random.random() < 0.8 or field.GetOptions().Extensions[FIELD].ListFields()[1:]:
        inner.value = scalar(field, inner.DESCRIPTOR.fields_by_name["value"], random)


def scalar(annotated: Any, field: Any, random: Random) -> Any:
    options = annotated.GetOptions().Extensions[FIELD]
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return random.random() < 0.5
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.randbytes(random.randrange(4))
    if field.cpp_type != FieldDescriptor.CPPTYPE_STRING:
        least, most = RANGES[field.cpp_type]
        if options.HasField("timestamp"):
            unit = (1, 10**3, 10**6, 10**9)[options.timestamp.unit - 1]
            least, most = max(least, FIRST * unit), min(most, LAST * unit)
        return random.choice((least, most, 0 if least <= 0 else least, random.randint(least, most)))
    if options.HasField("decimal"):
        return decimal(options.decimal, random)
    if options.HasField("timestamp"):
        day, fraction = random.randint(1, 28), random.choice(("", ".5", ".000000001"))
        offset = random.choice(("Z", "-00:00", "+05:30", "-23:59"))
        return f"{random.randint(2, 9998):04}-02-{day:02}T23:59:59{fraction}{offset}"
    if options.uuid:
        return random.choice((str.upper, str.lower))(str(UUID(int=random.getrandbits(128))))
    return random.choice(("", *TEXTS))


def decimal(options: Any, random: Random) -> str:
    scale = options.max_scale if options.HasField("max_scale") else 9
    sign, whole = random.choice(("", "+", "-")), random.choice(("0", "00", "100", "7"))
    fraction = random.choice(("", "." + "".join(random.choices("0123456789", k=scale)) + "00"))
    return sign + whole + fraction + random.choice(("", "e0", "E+2"))
