"""The quick reading of what a delivery is opened by: by the places of headers, which are the same
in all that one producer writes. Nothing else is looked at before somebody asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from idemspec import IdemError, hash_text
from idemspec.header_table import HEADERS
from idemspec.transports import HeaderValue

from .delivery import Delivery
from .opening import ALIKE, DISPATCH, Alike, alike_of, check_time

Sound = Callable[[Any], object]
"""Whether a value is sound without doubt."""

_MOST = 256
"""What is remembered of layouts, and of each."""

_is_key = re.compile(rb"[!-~]{1,1024}").fullmatch
_is_fraction = re.compile(rb"(?:\.[0-9]{1,9})?Z").fullmatch
_SECOND = len(b"2026-01-01T00:00:00")
_seconds: set[bytes] = set()
"""Those that `check_time` has found to be sound."""


def _is_time(value: bytes) -> bool:
    second = value[:_SECOND]
    if second in _seconds and _is_fraction(value, _SECOND):
        return True
    if check_time(value.decode()) is not None:
        return False
    if _is_fraction(value, _SECOND):
        if len(_seconds) >= _MOST:
            _seconds.clear()
        _seconds.add(second)
    return True


_SOUND: dict[str, Sound] = {
    "idempotency_key": _is_key,
    "biz_key": _is_key,
    "idempotency_key_previous": _is_key,
    "fingerprint": re.compile(rb"[0-9a-f]{8}-[0-9a-f]{16}").fullmatch,
    "expected_current_state": re.compile(rb"[A-Za-z0-9._-]{0,200}").fullmatch,
    "produced_at": _is_time,
}
_CONTEXT = frozenset(header.name for header in HEADERS if header.is_context)
_READ = ALIKE | _SOUND.keys() | _CONTEXT


class Layout:
    """Where things are in headers of the same names in the same order."""

    __slots__ = (
        "_known",
        "_of_alike",
        "biz_key",
        "fingerprint",
        "key",
        "names",
        "previous",
        "produced_at",
        "strict",
    )

    def __init__(self, names: tuple[str, ...], at: dict[str, int]) -> None:
        self.names = names
        self.key = at["idempotency_key"]
        self.biz_key = at.get("biz_key")
        self.fingerprint = at.get("fingerprint")
        self.previous = at.get("idempotency_key_previous")
        self.produced_at = at.get("produced_at")
        self.strict = [(at[name], sound) for name, sound in _SOUND.items() if name in at]
        places = [place for name, place in at.items() if name in ALIKE]
        self._of_alike = itemgetter(*places, places[0]) if places else None
        self._known: dict[Any, Alike] = {}

    def alike(self, values: tuple[HeaderValue, ...]) -> Alike:
        same = None if self._of_alike is None else self._of_alike(values)
        known = self._known.get(same)
        if known is None:
            pairs = zip(self.names, values, strict=True)
            known = alike_of(tuple(pair for pair in pairs if pair[0] in ALIKE))
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[same] = known
        return known


_layouts: dict[tuple[str, ...], Layout | None] = {}


def layout_of(names: tuple[str, ...]) -> Layout | None:
    """None where there may be more to headers of such names than `Layout` knows of."""
    try:
        return _layouts[names]
    except KeyError:
        pass
    at = {name: place for place, name in enumerate(names) if name in DISPATCH}
    known = sum(name in DISPATCH for name in names)
    layout = None
    if known == len(at) and "idempotency_key" in at and at.keys() <= _READ:
        layout = Layout(names, at)
    if len(_layouts) >= _MOST:
        _layouts.clear()
    _layouts[names] = layout
    return layout


def open_quickly(d: Delivery) -> bool:
    """Reads what a delivery is opened by, as `parse_quickly` would. False where there is any
    doubt."""
    fetched = d.fetched
    layout = layout_of(fetched.names)
    if layout is None:
        return False
    values: tuple[Any, ...] = fetched.values
    try:
        for place, sound in layout.strict:
            if not sound(values[place]):
                return False
        d.alike = alike = layout.alike(values)
    except (IdemError, TypeError, ValueError, AttributeError):
        return False
    fetched.names = layout.names  # of all of them the same object
    d.key = values[layout.key].decode()
    if layout.biz_key is None:
        d.biz_key = biz_key_of(fetched.key)
    else:
        d.biz_key = values[layout.biz_key].decode()
    if layout.fingerprint is not None:
        d.fingerprint = values[layout.fingerprint].decode()
    if layout.previous is not None:
        d.key_previous = values[layout.previous].decode()
    if layout.produced_at is not None:
        d.produced_at = values[layout.produced_at].decode()
    if alike.retry_count:
        d.header_retries = d.retry_count = alike.retry_count
    if alike.hold_count:
        d.header_holds = d.hold_count = alike.hold_count
    return True


def biz_key_of(key: bytes | None) -> str:
    """The lane of a message without a biz_key header: its key on the broker. One that is no text of
    the spec is named by its hash."""
    if not key:
        return ""
    return key.decode() if _is_key(key) else f"hash:{hash_text(key)}"
