"""Handlers and the event types they are for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypedDict

from idemspec import Policy, PolicyValues

from .breaker import Breaker, BreakerConfig
from .delivery import MissingKey, Mode, Order, Rules
from .message import Fetched, Message
from .shadow import Shadow
from .state import Table

DEFAULT_BATCH = 100


class RouteOptions(TypedDict, total=False):
    """What a route may say; what it leaves out is the default in brackets."""

    batch: int | bool
    """The handler takes a list of at most so many messages (True: 100), and returns a list with one
    result for each: an exception for what failed, else None or bytes. [one message]"""
    order: Order
    """What a delivery that fails does to later ones of its biz key. [Order.UNORDERED]"""
    missing_key: MissingKey | Callable[[Fetched], str]
    """What becomes of a message without an idempotency_key header; or a function that computes the
    key. [MissingKey.REJECT]"""
    policy: Policy | PolicyValues
    """The retry policy, where headers have none. [the generated helper's, else the spec's]"""
    timeout: timedelta
    """How long a handler may take: a coroutine is cancelled then, and a transaction loses its
    connection; a `def` is waited for. [GuardConfig.handler_timeout]"""
    max_bytes: int
    """The largest payload; a larger one is MALFORMED. [none]"""
    workers: int
    """How many handlers run at a time. [the consumer's]"""
    hold: timedelta
    """How long an Order.BLOCK route keeps a biz key in the window before it waits in the store.
    [1 minute]"""
    state: Table
    """The table of a state machine whose row the message moves: the handler is called for what
    moves. `event` is the generated helper of a message with a transition. [none]"""
    state_id: Callable[[Message[Any]], object]
    """What selects the row. [the biz key]"""
    dead_letter_superseded: bool
    """What becomes of a message whose transition another key has made. [as the schema says]"""
    shadow: bool
    """Nothing is done: what would become of the messages is measured and logged. [False]"""
    breaker: BreakerConfig
    """When the route rests. [10 failures of different keys in a row]"""


@dataclass(eq=False)
class Route:
    """A handler in a consumer."""

    event: Any
    """An event type, or a generated helper."""
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
    table: Table | None = None
    """Of a state machine."""
    shadow: Shadow | None = None
    """In its place nothing is done."""
    breaker: Breaker = field(default_factory=lambda: Breaker(BreakerConfig()))

    def __post_init__(self) -> None:
        self.event_type: str = self.event if isinstance(self.event, str) else self.event.EVENT_TYPE
        self.is_async = inspect.iscoroutinefunction(self.handler)

    @property
    def moves(self) -> bool:
        """Whether a row of a state machine moves with its messages."""
        return self.table is not None

    @property
    def blocks(self) -> bool:
        return self.rules.order is Order.BLOCK


def route_of(
    mode: Mode,
    event: Any,
    handler: Callable[..., Any],
    decode: Callable[[bytes], Any] | None,
    options: RouteOptions,
) -> Route:
    """The route of a handler; `event` is an event type, or a generated helper."""
    if unknown := options.keys() - RouteOptions.__annotations__.keys():
        there = ", ".join(sorted(RouteOptions.__annotations__))
        raise TypeError(f"no option is named {min(unknown)}; there are: {there}")
    policy = options.get("policy")
    if policy is None and not isinstance(event, str):
        policy = getattr(event, "POLICY", None)
    rules = Rules(
        mode,
        options.get("order", Order.UNORDERED),
        options.get("missing_key", MissingKey.REJECT),
        _values(policy),
        options.get("timeout"),
        options.get("max_bytes"),
    )
    batch = options.get("batch", 0)
    return Route(
        event,
        rules,
        handler,
        decode,
        batch=DEFAULT_BATCH if batch is True else int(batch),
        workers=options.get("workers", 0),
        hold=options.get("hold", timedelta(minutes=1)).total_seconds(),
        table=options.get("state"),
        shadow=Shadow(event) if options.get("shadow") else None,
        breaker=Breaker(options.get("breaker", BreakerConfig())),
    )


def _values(policy: Policy | PolicyValues | None) -> PolicyValues:
    if isinstance(policy, Policy):
        return PolicyValues(
            max_retry=policy.max_retry,
            max_hold=policy.max_hold,
            backoff_base=policy.backoff_base,
            backoff_max=policy.backoff_max,
            backoff_jitter=policy.backoff_jitter,
            backoff_schedule=policy.backoff_schedule,
        )
    return policy or PolicyValues()
