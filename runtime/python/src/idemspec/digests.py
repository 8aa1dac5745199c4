"""Digests of what may not be read in a log (KEY-003)."""

from __future__ import annotations

from hashlib import sha256

from .strings import utf8


def digest(value: str, field: str = "") -> str:
    """The first 32 hex digits of SHA-256 of a canonical text, before escaping.

    A string is its own canonical text; where it is ill-formed, STRING_UTF8.
    """
    return sha256(utf8(value, field)).hexdigest()[:32]
