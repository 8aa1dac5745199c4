"""Rendering of keys (KEY-004 to KEY-013).

A key is segments joined by `:`. A literal stands as it is; a string goes through `text`, every
other value through the function of its kind, whose texts need no escaping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn

from .errors import IdemError

MAX_KEY_BYTES = 1024
ABSENT = "~"
"""The component of a field that is unset and may be (`MISSING_ALLOW`), digest or not."""


def missing(field: str) -> NoReturn:
    """Raises KEY_COMPONENT_MISSING. Made for expressions: `m.order_id or missing("order_id")`."""
    raise IdemError("KEY_COMPONENT_MISSING", "is missing and part of a key", field)


def bounded(key: str) -> str:
    """The rendered text of a key or a fingerprint, once it is known to have at most 1024 bytes;
    else KEY_TOO_LONG. It is ASCII, so characters are bytes."""
    if len(key) > MAX_KEY_BYTES:
        raise IdemError("KEY_TOO_LONG", f"is longer than {MAX_KEY_BYTES} bytes", "key", key)
    return key


def biz_key(key: str) -> str:
    """A rendered biz key, once it is known to be in its bounds; KEY_EMPTY where it has no bytes."""
    if not key:
        raise IdemError("KEY_EMPTY", "is a key of no bytes", "biz_key")
    return bounded(key)


def render(segments: Iterable[str | Callable[[], str]]) -> str:
    """A key of literals and of components still to be computed, from left to right.

    What the first that fails raises is the answer, then KEY_TOO_LONG. Components beyond the bound
    are computed, for their faults, and not kept.
    """
    key = ""
    separator = ""
    for segment in segments:
        component = segment if isinstance(segment, str) else segment()
        if len(key) <= MAX_KEY_BYTES:
            key += separator + component
        separator = ":"
    return bounded(key)
