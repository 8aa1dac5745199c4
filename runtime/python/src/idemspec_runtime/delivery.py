"""One delivery on its way: opened, claimed, run, settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any, NamedTuple

from idemspec import Action, AdmissionVerdict, Decision, Outcome, Policy, PolicyValues

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
OK = Result(Outcome.OK)
ACK = Decision(Action.ACK)


class New(NamedTuple):
    """What claims of new keys have in common."""

    scope: str
    now_ms: int
    """On the store's clock."""
    lease_ms: int


class Delivery:
    """Opened by `Guard.parse`. Few of its fields ever differ from what they are for the class."""

    rules: Rules = NO_RULES
    status: Status = Status.OPENED
    alike: Alike | None = None
    """What of its headers many messages have in common."""
    key: str = ""
    key_previous: str = ""
    """The key by the template before, during a migration. (KEY-030)"""
    biz_key: str = ""
    fingerprint: str = ""
    produced_at: str = ""
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
    new: New | None = None
    """The claim of a key that was new, as long as nobody asks for its grant."""
    alone: bool = False
    """It has to run with nothing else in this process: its claims ended without a word twice, and
    it may take the process along. (DEDUP-024)"""
    result: Result = OK
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
    decision: Decision = ACK
    settled: bool = False
    """What follows is durable: unless `in_place`, it may be acknowledged."""
    seconds: float = 0.0
    """How long the handler took."""
    ran: bool = False
    owner: str = ""
    """Of the claim, kept until the claim's reply is there, or as long as it is `new`."""
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
    _grant: Grant | None = None
    given_envelope: dict[str, str] | None = None
    """In place of that of `fetched`."""

    def __init__(
        self,
        fetched: Fetched,
        received: float,
        *,
        envelope: dict[str, str] | None = None,
        **fields: Any,
    ) -> None:
        """`received` is on the monotonic clock. Without an envelope it is that of what was
        fetched."""
        self.fetched = fetched
        self.received = received
        if envelope is not None:
            self.given_envelope = envelope
        for name, value in fields.items():
            setattr(self, name, value)

    @property
    def envelope(self) -> dict[str, str]:
        return self.fetched.envelope if self.given_envelope is None else self.given_envelope

    @property
    def grant(self) -> Grant | None:
        new = self.new
        if new is not None:
            until = new.now_ms + new.lease_ms
            self._grant = Grant(AdmissionVerdict.PROCEED, 0, 0, self.lease, 1, until)
            self.new = None
        return self._grant

    @grant.setter
    def grant(self, grant: Grant | None) -> None:
        self._grant, self.new, self.owner = grant, None, ""

    @property
    def skipped(self) -> bool:
        return self.status is Status.SKIPPED

    @property
    def event_type(self) -> str:
        return self.envelope.get("event_type", "") if self.alike is None else self.alike.event_type

    @property
    def lease(self) -> Lease | None:
        """The claim to settle under, or the fence of a crash loop. It changes nothing: whoever
        renews leases asks, while another thread may be settling."""
        new = self.new
        if new is not None:
            return Lease(new.scope, self.key, 1, self.owner)
        grant = self._grant
        if grant is None or grant.lease is None or not grant.lease.held:
            return None
        return grant.lease

    def again(self) -> None:
        """Makes a delivery that was held in place one to claim again."""
        for name in _OF_ONE_TRY:
            vars(self).pop(name, None)

    def end(self, result: Result, error: BaseException | None = None) -> None:
        self.status, self.result, self.error = Status.ENDED, result, error

    def backoff_key(self) -> str:
        """What spreads the delays. (RETRY-032)"""
        return self.key or self.fetched.place()

    def completion(self) -> Completion:
        lease, grant = self.lease, self.grant
        assert lease is not None and grant is not None, "only of one that is held"
        return Completion(lease, self.value, self.lane, grant.head)


_OF_ONE_TRY = (
    *("status", "result", "error", "value", "completed", "settled", "alone", "hold_in_place"),
    *(
        "in_place",
        "ran",
        "_grant",
        "new",
        "decision",
        "seconds",
        "owner",
        "claimed",
        "unsure",
        "lost",
    ),
    *("layer", "superseded", "superseded_by", "message"),
)
