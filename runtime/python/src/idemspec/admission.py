"""Whether a handler may run, by a record and a delivery (DEDUP-001 to DEDUP-006)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .fingerprints import conflict


class RecordState(Enum):
    """Where a dedup record stands."""

    PROCESSING = "PROCESSING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    DEAD = "DEAD"


class AdmissionVerdict(Enum):
    """What admission says about a delivery."""

    PROCEED = "PROCEED"
    KEY_REUSED = "KEY_REUSED"
    DUPLICATE = "DUPLICATE"
    STALE = "STALE"
    IN_PROGRESS = "IN_PROGRESS"
    CRASH_LOOP = "CRASH_LOOP"


@dataclass(frozen=True)
class Record:
    """What a store has for one (scope, key)."""

    state: RecordState
    fence: int
    attempts: int
    owner: str
    redrive_count: int
    position: int
    lease_until_ms: int = 0
    """PROCESSING: when the lease ends."""
    result: bytes = b""
    """SUCCESS: what the handler returned."""
    fingerprint: str | None = None


@dataclass(frozen=True)
class Delivery:
    """What a message's headers say about where it stands: `position` is retries and holds added."""

    redrive_count: int
    position: int
    fingerprint: str | None = None


@dataclass(frozen=True)
class Admission:
    """A verdict and what goes with it."""

    verdict: AdmissionVerdict
    fence: int = 0
    """PROCEED: what every write of this claim matches."""
    attempts: int = 0
    """PROCEED: claims of this life, this one included."""
    lease_until_ms: int = 0
    """PROCEED: when the claim ends."""
    recovered: bool = False
    """PROCEED: an earlier claim ended without a word."""
    result: bytes = b""
    """DUPLICATE: the stored result."""
    wait_ms: int = 0
    """IN_PROGRESS: the rest of the other claim's lease."""


def max_attempts(max_retry: int) -> int:
    """The claims that one life may have: each retry, the first, and three crashes."""
    return max_retry + 4


def admit(
    record: Record | None,
    delivery: Delivery,
    *,
    now_ms: int,
    lease_ms: int,
    max_attempts: int,
    owner: str,
) -> Admission:
    """The first of the steps of DEDUP-001 that fits.

    `owner` is a random token of one claim, sent again only where that claim's reply was lost.
    """
    if record is None:
        return Admission(AdmissionVerdict.PROCEED, 1, 1, _sum(now_ms, lease_ms))
    if conflict(record.fingerprint, delivery.fingerprint):
        return Admission(AdmissionVerdict.KEY_REUSED)
    if record.state is RecordState.SUCCESS:
        return Admission(AdmissionVerdict.DUPLICATE, result=record.result)

    redriven = delivery.redrive_count - record.redrive_count
    over = record.state is RecordState.DEAD or delivery.position < record.position
    if redriven < 0 or (redriven == 0 and over):
        return Admission(AdmissionVerdict.STALE)

    claimed = record.state is RecordState.PROCESSING
    if claimed and record.lease_until_ms > now_ms:
        if record.owner != owner:
            return Admission(AdmissionVerdict.IN_PROGRESS, wait_ms=record.lease_until_ms - now_ms)
        return Admission(
            AdmissionVerdict.PROCEED, record.fence, record.attempts, record.lease_until_ms
        )

    attempts = 0 if redriven else record.attempts
    if attempts >= max_attempts:
        return Admission(AdmissionVerdict.CRASH_LOOP)
    return Admission(
        AdmissionVerdict.PROCEED,
        _sum(record.fence, 1),
        _sum(attempts, 1),
        _sum(now_ms, lease_ms),
        recovered=claimed,
    )


def _sum(a: int, b: int) -> int:
    """Stays at the largest integer of a store's column, as every port does."""
    return min(a + b, 2**63 - 1)
