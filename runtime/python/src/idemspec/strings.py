"""Strings as text of a key (GEN-004, TXT-070, KEY-001)."""

from __future__ import annotations

import re

from .errors import IdemError

_is_safe = re.compile(r"[A-Za-z0-9._-]{0,1024}").fullmatch
_ESCAPED = [chr(byte) if _is_safe(chr(byte)) else f"%{byte:02X}" for byte in range(256)]
_surrogate = re.compile("[\ud800-\udfff]").search


def text(value: str, field: str = "", limit: int | None = 1025) -> str:
    """The component of a string: every byte outside `A-Z a-z 0-9 - . _` written `%XX`.

    Ill-formed text is STRING_UTF8. Beyond `limit` characters text is checked and not written: by
    default no more than a key needs to be KEY_TOO_LONG, with None all of it.
    """
    if _is_safe(value):
        return value
    well_formed(value, field)
    return "".join(map(_ESCAPED.__getitem__, value[:limit].encode()))


def well_formed(value: str | bytes, field: str = "") -> str:
    """A string as it is, or decoded; ill-formed text is STRING_UTF8.

    Bytes are what protobuf gives for a string field that is no UTF-8, where the schema lets it be
    none (proto2, `utf8_validation = NONE`).
    """
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise _ill_formed(value, field, error.start) from None
    if found := _surrogate(value):
        raise _ill_formed(value, field, len(value[: found.start()].encode()))
    return value


def scannable(value: str | bytes) -> str:
    """The same for a field that is a decimal, a timestamp or a UUID: ill-formed text is of none of
    their grammars, so that it becomes a fault of syntax there."""
    return value if isinstance(value, str) else value.decode(errors="surrogateescape")


def utf8(value: str, field: str = "") -> bytes:
    """The UTF-8 bytes of a string; ill-formed text is STRING_UTF8."""
    return well_formed(value, field).encode()


def _ill_formed(value: str | bytes, field: str, offset: int) -> IdemError:
    return IdemError("STRING_UTF8", "is ill-formed text", field, value, offset)
