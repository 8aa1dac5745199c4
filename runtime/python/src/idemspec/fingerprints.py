"""Fingerprints: the same key with another content is a mistake (HASH-030, HASH-031)."""

from __future__ import annotations

from .hashing import hash_text


def template_tag(template: str) -> str:
    """The eight digits before the `-`: they say which template a fingerprint is of."""
    return hash_text(template)[8:]


def fingerprint(tag: str, rendered: str) -> str:
    """The fingerprint of a rendered text (`bounded`) under the tag of its template."""
    return f"{tag}-{hash_text(rendered)}"


def conflict(one: str | None, other: str | None) -> bool:
    """Whether two fingerprints are comparable, being of one template, and differ."""
    return one is not None and other is not None and one[:8] == other[:8] and one != other
