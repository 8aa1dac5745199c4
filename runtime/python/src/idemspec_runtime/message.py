"""What handlers are given."""

from __future__ import annotations

from typing import Generic, TypeVar

from idemspec.transports import HeaderValue

from .header_text import Headers
from .opening import parse_quickly

P = TypeVar("P")


class Fetched:
    """A message as the broker gave it."""

    __slots__ = (
        "_envelope",
        "key",
        "names",
        "offset",
        "partition",
        "time_ms",
        "topic",
        "value",
        "values",
    )

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
        # Two objects, and not a list of pairs, which the collector would be busy with.
        self.names: tuple[str, ...]
        self.values: tuple[HeaderValue, ...]
        self.names, self.values = zip(*headers, strict=True) if headers else ((), ())
        self._envelope: dict[str, str] | None = None

    @property
    def headers(self) -> Headers:
        return list(zip(self.names, self.values, strict=True))

    @property
    def envelope(self) -> dict[str, str]:
        """The headers of idem, by their names in the spec. Few messages are asked for all of
        them."""
        if self._envelope is None:
            self._envelope = parse_quickly(self.headers)
        return self._envelope

    def place(self) -> str:
        """Its position, "orders/3/1207"."""
        return f"{self.topic}/{self.partition}/{self.offset}"


class Message(Generic[P]):
    """A delivery as its handler sees it."""

    __slots__ = (
        "_envelope",
        "attempts",
        "biz_key",
        "cancelled",
        "event_type",
        "fetched",
        "key",
        "moved",
        "payload",
        "retry_count",
    )

    def __init__(
        self,
        payload: P,
        key: str,
        event_type: str,
        biz_key: str,
        envelope: dict[str, str] | None,
        fetched: Fetched,
        attempts: int = 1,
        retry_count: int = 0,
    ) -> None:
        """Without an envelope it is that of what was fetched."""
        self.payload = payload
        """What the route's `decode` made of `value`; `value` itself where it has none."""
        self.key = key
        """The idempotency key, to be passed on to whoever has the effect; empty where there is
        none."""
        self.event_type = event_type
        self.biz_key = biz_key
        self._envelope = envelope
        self.fetched = fetched
        self.attempts = attempts
        """Claims of this life, this one included."""
        self.retry_count = retry_count
        self.cancelled = False
        """Whether a handler that takes long should stop: its lease is lost, or the consumer ends. A
        coroutine is cancelled besides."""
        self.moved = False
        """The guard of a state machine has moved its row."""

    @property
    def envelope(self) -> dict[str, str]:
        """The headers of idem, by their names in the spec."""
        return self.fetched.envelope if self._envelope is None else self._envelope

    @property
    def value(self) -> bytes | None:
        return self.fetched.value

    def __repr__(self) -> str:
        return f"<{self.event_type} {self.key} at {self.fetched.place()}>"
