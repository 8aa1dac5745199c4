"""One delivery on its way: opened, claimed, run, settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any

from idemspec import Action, Decision, Outcome, Policy, PolicyValues

from .failures import Result
from .message import Fetched, Message
from .opening import Alike
from .records import Completion, Grant, Lane, Lease


class Status(Enum):
    """How far a delivery has come."""

    OPENED = "opened"
    """It is parsed, and has to be claimed."""
    READY = "ready"
    """It is claimed, or needs no claim, and may run."""
    ENDED = "ended"
    """`result` is set, and it has to be settled."""
    PARKED = "parked"
    """Another key is the head of its lane: settling parks it."""
    SKIPPED = "skipped"
    """It is not for this consumer."""


class MissingKey(Enum):
    """What becomes of a message without an idempotency_key header. (KEY-022)"""

    REJECT = "reject"
    """It is dead-lettered as MALFORMED."""
    PASS_THROUGH = "pass_through"
    """It runs without dedup, and backs off by topic/partition/offset. (RETRY-032)"""


class Order(Enum):
    """What a delivery that fails does to later ones of its lane. (CONS-010)"""

    UNORDERED = "unordered"
    """Nothing."""
    BLOCK = "block"
    """They wait in the window, in this process; for longer, in the table."""
    PARK = "park"
    """They wait in the table."""


class Mode(Enum):
    """What the effect of a handler is, and so what it is worth. (DEDUP-032)"""

    IDEMPOTENT = "idempotent"
    """The effect is outside, and the key is handed on: at least one call."""
    TX = "tx"
    """The effect and SUCCESS are one transaction: one effect."""


@dataclass(frozen=True)
class Rules:
    """What a route says."""

    mode: Mode = Mode.IDEMPOTENT
    order: Order = Order.UNORDERED
    missing_key: MissingKey | Callable[[Fetched], str] = MissingKey.REJECT
    """Or a function that computes the key from the message."""
    policy: PolicyValues = field(default_factory=PolicyValues)
    """The schema's."""
    handler_timeout: timedelta | None = None
    """How long a handler may take; None is the consumer's."""
    max_bytes: int | None = None
    """The largest payload; a larger one is MALFORMED."""


NO_RULES = Rules()
"""Of deliveries that end before they have a route."""

DEFAULT_POLICY = Policy()


@dataclass(slots=True, eq=False)
class Delivery:
    """Opened by `Guard.parse`."""

    fetched: Fetched
    received: float
    """On the monotonic clock."""
    rules: Rules = NO_RULES
    status: Status = Status.OPENED
    envelope: dict[str, str] = field(default_factory=dict)
    alike: Alike | None = None
    """What of its headers many messages have in common."""
    key: str = ""
    biz_key: str = ""
    origin: str = ""
    """The topic where the message began, also where it came by the retry topic."""
    lane: Lane | None = None
    policy: Policy = DEFAULT_POLICY
    redrive_count: int = 0
    header_retries: int = 0
    header_holds: int = 0
    retry_count: int = 0
    hold_count: int = 0
    """The larger of header and record."""
    grant: Grant | None = None
    alone: bool = False
    """It has to run with nothing else in this process: its claims ended without a word twice, and
    it may take the process along. (DEDUP-024)"""
    result: Result = Result(Outcome.OK)
    error: BaseException | None = None
    value: bytes = b""
    """Kept for duplicates; of a duplicate what was kept."""
    completed: bool = False
    """SUCCESS is durable already."""
    hold_in_place: bool = False
    """A RETRY or DEFER is written as the record's counts alone: the caller keeps the delivery, and
    tries it again."""
    in_place: bool = False
    """It was so, and must not be acknowledged."""
    decision: Decision = Decision(Action.ACK)
    settled: bool = False
    """What follows is durable: unless `in_place`, it may be acknowledged."""
    seconds: float = 0.0
    """How long the handler took."""
    ran: bool = False
    owner: str = ""
    """Of the claim, kept until the claim's reply is there."""
    claimed: float = 0.0
    """Before the claim was first sent: its lease began later."""
    unsure: bool = False
    """Something was written under the lease, and its reply is missing."""
    lost: bool = False
    layer: str = ""
    """What found a DUPLICATE or its like: `store`, or `state`; nothing where it was the handler.
    (CONS-041)"""
    superseded: bool = False
    """Another key has made the transition. (STATE-011)"""
    superseded_by: str = ""
    message: Message[Any] | None = None

    shadow: bool = False
    """Nothing was done: shadow mode."""

    @property
    def skipped(self) -> bool:
        return self.status is Status.SKIPPED

    @property
    def event_type(self) -> str:
        return self.envelope.get("event_type", "")

    @property
    def lease(self) -> Lease | None:
        """The claim to settle under, or the fence of a crash loop."""
        grant = self.grant
        if grant is None or grant.lease is None or not grant.lease.held:
            return None
        return grant.lease

    def again(self) -> None:
        """Makes a delivery that was held in place one to claim again."""
        self.status, self.result, self.error = Status.OPENED, Result(Outcome.OK), None
        self.value, self.completed, self.settled, self.alone = b"", False, False, False
        self.hold_in_place = self.in_place = self.ran = False
        self.grant, self.decision, self.seconds = None, Decision(Action.ACK), 0.0
        self.owner, self.claimed, self.unsure, self.lost = "", 0.0, False, False
        self.layer, self.superseded, self.superseded_by = "", False, ""
        self.message = None

    def end(self, result: Result, error: BaseException | None = None) -> None:
        self.status, self.result, self.error = Status.ENDED, result, error

    def backoff_key(self) -> str:
        """What spreads the delays. (RETRY-032)"""
        return self.key or self.fetched.place()

    def completion(self) -> Completion:
        lease, grant = self.lease, self.grant
        assert lease is not None and grant is not None, "only of one that is held"
        return Completion(lease, self.value, self.lane, grant.head)
