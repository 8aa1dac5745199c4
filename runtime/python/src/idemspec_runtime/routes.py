"""Handlers and the event types they are for."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .breaker import Breaker, BreakerConfig
from .delivery import Order, Rules

if TYPE_CHECKING:
    from .engine import Task

DEFAULT_BATCH = 100


@dataclass(eq=False)
class Route:
    """A handler at work in a consumer. The fields of the second block are under the engine's
    lock."""

    event_type: str
    rules: Rules
    handler: Callable[..., Any]
    decode: Callable[[bytes], Any] | None
    batch: int = 0
    """Above 0 the handler takes so many messages at most."""
    workers: int = 0
    """How many run at a time; 0 is the consumer's."""
    hold: float = 60.0
    """How long a BLOCK route keeps a biz key in the window, in seconds, before it waits in the
    store. (CONS-012)"""
    breaker: Breaker = field(default_factory=lambda: Breaker(BreakerConfig()))

    waiting: deque[Task] = field(default_factory=deque)
    """To be claimed."""
    runnable: deque[Task] = field(default_factory=deque)
    claiming: int = 0
    running: int = 0
    seconds: float = 0.001
    """Moving average of what a handler takes."""

    def __post_init__(self) -> None:
        self.is_async = inspect.iscoroutinefunction(self.handler)
        if self.is_async and self.batch:
            raise ValueError(
                f"route {self.event_type}: a batch handler is a `def`: it has its worker to itself"
            )

    @property
    def blocks(self) -> bool:
        return self.rules.order is Order.BLOCK
