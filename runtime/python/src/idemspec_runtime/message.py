"""What handlers are given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

from .header_text import Headers

P = TypeVar("P")


class Fetched:
    """A message as the broker gave it."""

    __slots__ = ("_flat", "_headers", "key", "offset", "partition", "time_ms", "topic", "value")

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        time_ms: int = 0,
    ) -> None:
        """`time_ms` is the broker's; 0 where it gives none."""
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.key = key
        self.value = value
        self.time_ms = time_ms
        self._headers: Headers | None = headers
        self._flat: tuple[Any, ...] = ()

    @property
    def headers(self) -> Headers:
        if self._headers is not None:
            return self._headers
        names = iter(self._flat)
        return list(zip(names, names, strict=True))

    def pack(self) -> None:
        """Keeps the headers as one object, which few messages need once they are parsed: a list of
        pairs is what the collector would be busy with."""
        if self._headers is not None:
            self._flat, self._headers = tuple(chain.from_iterable(self._headers)), None

    def place(self) -> str:
        """Its position, "orders/3/1207"."""
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(slots=True)
class Message(Generic[P]):
    """A delivery as its handler sees it."""

    payload: P
    """What the route's `decode` made of `value`; `value` itself where it has none."""
    key: str
    """The idempotency key, to be passed on to whoever has the effect; empty where there is none."""
    event_type: str
    biz_key: str
    envelope: dict[str, str]
    """The headers of idem, by their names in the spec."""
    fetched: Fetched
    attempts: int
    """Claims of this life, this one included."""
    retry_count: int
    cancelled: bool = False
    """Whether a handler that takes long should stop: its lease is lost, or the consumer ends. A
    coroutine is cancelled besides."""
    moved: bool = False
    """The guard of a state machine has moved its row."""

    @property
    def value(self) -> bytes | None:
        return self.fetched.value
