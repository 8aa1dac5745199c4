"""Chapter 4: components, templates, keys."""

import hashlib

from .errors import Fault

LONGEST_KEY = 1024
ABSENT = "~"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")


def escape(text: bytes) -> str:
    """KEY-001."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text)


def digest(text: bytes) -> str:
    """KEY-003."""
    return hashlib.sha256(text).hexdigest()[:32]


def missing() -> Fault:
    """KEY-004."""
    return Fault("KEY_COMPONENT_MISSING", "the field is missing")


def render(segments: list[str]) -> str:
    """KEY-010 and the end of KEY-011: literals and components that are computed already."""
    text = ":".join(segments)
    if len(text) > LONGEST_KEY:  # all of it is ASCII
        raise Fault("KEY_TOO_LONG", f"{len(text)} bytes")
    return text
