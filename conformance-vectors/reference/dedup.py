"""Chapter 9: may the handler run?"""

from dataclasses import dataclass

from .hash import comparable_and_different


@dataclass
class Record:
    state: str
    fence: int
    attempts: int
    owner: str
    redrive_count: int
    position: int
    lease_until: int = 0
    fingerprint: str | None = None
    result: bytes = b""


@dataclass
class Delivery:
    redrive_count: int
    position: int
    owner: str
    now: int
    lease: int
    max_attempts: int
    fingerprint: str | None = None


@dataclass
class Admission:
    verdict: str
    fence: int = 0
    attempts: int = 0
    lease_until: int = 0
    recovered: bool = False
    result: bytes = b""
    wait: int = 0


def sum_of(a: int, b: int) -> int:
    """CONF-037."""
    return min(a + b, 2**63 - 1)


def admit(record: Record | None, delivery: Delivery) -> Admission:
    """DEDUP-001 to DEDUP-006: the first step that fits is the answer."""
    new_lease = sum_of(delivery.now, delivery.lease)

    # 1
    if record is None:
        return Admission("PROCEED", fence=1, attempts=1, lease_until=new_lease)
    # 2
    if comparable_and_different(record.fingerprint, delivery.fingerprint):
        return Admission("KEY_REUSED")
    # 3
    if record.state == "SUCCESS":
        return Admission("DUPLICATE", result=record.result)
    # 4
    if delivery.redrive_count < record.redrive_count:
        return Admission("STALE")
    if delivery.redrive_count == record.redrive_count:
        if record.state == "DEAD" or delivery.position < record.position:
            return Admission("STALE")
    # 5
    processing = record.state == "PROCESSING"
    if processing and record.lease_until > delivery.now:
        if record.owner == delivery.owner:
            return Admission("PROCEED", record.fence, record.attempts, record.lease_until)
        return Admission("IN_PROGRESS", wait=record.lease_until - delivery.now)
    # 6 to 8: a new fence
    if delivery.redrive_count > record.redrive_count:
        attempts = 1
    elif record.attempts >= delivery.max_attempts:
        return Admission("CRASH_LOOP")
    else:
        attempts = sum_of(record.attempts, 1)
    return Admission("PROCEED", sum_of(record.fence, 1), attempts, new_lease, recovered=processing)
