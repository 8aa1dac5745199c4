"""The rows of msg_retry, dead_letter and outbox (spec chapter 16)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from idemspec import Outcome

from .header_text import Headers

RetryAction = Literal["RETRY", "HOLD", "DEFER", "REDRIVE"]


@dataclass(slots=True)
class Row:
    """What msg_retry and dead_letter have of a message, so that it can be delivered again."""

    scope: str
    key: str
    """The idempotency key, empty where the message has none."""
    source_topic: str
    source_partition: int
    source_offset: int
    topic: str
    headers: Headers
    _: KW_ONLY
    message_key: bytes | None = None
    payload: bytes | None = None
    redrive_count: int = 0
    retry_count: int = 0
    hold_count: int = 0
    event_type: str = ""
    biz_key: str = ""
    event_id: str = ""
    reason: str = ""
    id: int = 0
    created_at: datetime | None = None


@dataclass(slots=True)
class Retry(Row):
    """A row of msg_retry: a delivery that is durable and still to come. It is published to `topic`,
    with `message_key`, `headers` and `payload` as they are. It is unique by the delivery that
    caused it; a second write raises it by (redrive_count, position). (DEDUP-027)"""

    _: KW_ONLY
    action: RetryAction = "RETRY"
    due_ms: int = 0
    """From the store's present, when it is written."""
    park: bool = False
    """It waits behind the head of its lane."""
    token: str = ""
    """The scheduler's claim, when it was read by `claim_due`."""
    publications: int = 0
    """How often a scheduler has claimed it."""
    next_retry_time: datetime | None = None

    @property
    def position(self) -> int:
        return self.retry_count + self.hold_count


class Mark(NamedTuple):
    """The publication of a row is confirmed. It removes the row only where token, redrive count and
    position are still those that were claimed. (DEDUP-027)"""

    id: int
    token: str
    redrive_count: int
    position: int


def mark_of(row: Retry) -> Mark:
    """The mark of a row that `claim_due` gave."""
    return Mark(row.id, row.token, row.redrive_count, row.position)


class OutboxCounts(NamedTuple):
    """How many rows of the outbox wait, how many the relay has given up, and since when the oldest
    is there."""

    pending: int
    failed: int
    oldest: datetime | None


class RetryCounts(NamedTuple):
    """How many rows of msg_retry there are, and how long the oldest due one waits."""

    pending: int
    parked: int
    oldest_due_ms: int


@dataclass(slots=True)
class DeadLetter(Row):
    """A row of dead_letter: a message that ended, with all that is needed to understand it and to
    redrive it. `topic` is its origin. It is unique by scope and source."""

    outcome: Outcome
    _: KW_ONLY
    redriven_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Selects dead letters; what is empty or None selects all."""

    scope: str = ""
    key: str = ""
    event_type: str = ""
    outcome: str = ""
    reason_prefix: str = ""
    since: datetime | None = None
    until: datetime | None = None
    redriven: bool = False
    """Those that were redriven already, too."""


@dataclass(slots=True)
class Outgoing:
    """A row of the outbox: a message that is durable and not yet confirmed by the broker."""

    topic: str
    headers: Headers
    message_key: bytes | None = None
    payload: bytes | None = None
    id: int = 0
    """When it was read by `claim_outgoing`; so is `attempts`."""
    attempts: int = 0
    """How often it was tried."""
