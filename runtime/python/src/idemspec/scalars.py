"""Integers, booleans, enums and bytes (TXT-050 to TXT-054).

Generated code writes integers and enums as they are, since protobuf has checked their range.
"""

from __future__ import annotations

from typing import Literal

from .errors import IdemError

IntegerType = Literal[
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
]

_INT32 = (-(1 << 31), (1 << 31) - 1)
_INT64 = (-(1 << 63), (1 << 63) - 1)
_UINT32 = (0, (1 << 32) - 1)
_UINT64 = (0, (1 << 64) - 1)
INTEGER_TYPES: dict[IntegerType, tuple[int, int]] = {
    "int32": _INT32,
    "int64": _INT64,
    "uint32": _UINT32,
    "uint64": _UINT64,
    "sint32": _INT32,
    "sint64": _INT64,
    "fixed32": _UINT32,
    "fixed64": _UINT64,
    "sfixed32": _INT32,
    "sfixed64": _INT64,
}


def integer(value: int, of: IntegerType, field: str = "") -> str:
    """The text of an integer in base 10; INT_RANGE where its protobuf type does not hold it."""
    least, most = INTEGER_TYPES[of]
    if not least <= value <= most:
        raise IdemError("INT_RANGE", f"is not one of {of}", field, value)
    return str(value)


def enum_number(value: int, field: str = "") -> str:
    """The text of an enum: its number, declared or not; INT_RANGE beyond int32."""
    return integer(value, "int32", field)


def boolean(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def hexadecimal(value: bytes, limit: int | None = 513) -> str:
    """Two lower-case hex digits a byte; those beyond `limit` bytes are not written, since a key is
    KEY_TOO_LONG by then. With None all are."""
    return value[:limit].hex()
