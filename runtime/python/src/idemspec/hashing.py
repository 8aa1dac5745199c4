"""The one hash, for routing, never an identity (HASH-001, HASH-002)."""

from __future__ import annotations

from xxhash import xxh64_hexdigest, xxh64_intdigest

from .strings import utf8


def hash64(value: str | bytes) -> int:
    """XXH64 with seed 0 over bytes, or over a text's UTF-8 bytes, as an unsigned number."""
    return xxh64_intdigest(value if isinstance(value, bytes) else utf8(value))


def hash_text(value: str | bytes) -> str:
    """The same as 16 lower-case hex digits, most significant first."""
    return xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value))
