"""UUIDs (TXT-060)."""

from __future__ import annotations

import re

from .errors import IdemError

_is_uuid = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}").fullmatch


def uuid(value: str, field: str = "") -> str:
    """The text of a UUID: 8-4-4-4-12 hex digits in lower case; UUID_SYNTAX where it is none."""
    if not _is_uuid(value):
        problem = "is not a UUID of 8-4-4-4-12 hex digits"
        raise IdemError("UUID_SYNTAX", problem, field, value)
    return value.lower()
