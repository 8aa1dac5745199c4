"""What a store is asked and answers about dedup records (spec chapter 9).

Times are milliseconds. A store decides by `Claim.admit`, whatever it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from idemspec import Admission, AdmissionVerdict, Delivery, Outcome, Record, RecordState, admit

from .rows import DeadLetter, Retry

MAX_RESULT = 65_536
"""The most bytes of a result that a record keeps. (DEDUP-010)"""

DEFAULT_RETENTION = timedelta(days=14)
"""How long a record is kept after its last change. (DEDUP-029)"""

_LARGEST = 2**63 - 1


class Fenced(Exception):
    """A claim is no longer held: another has taken the key over, or it was forgotten. What was done
    in the same transaction is rolled back. (DEDUP-020)"""


class NotBegun(Exception):
    """There was no transaction to begin with: what the handler did in it was not even refused."""


@dataclass(frozen=True, slots=True)
class Lane:
    """An order of messages: those of one biz key of one origin topic, within a scope."""

    topic: str
    biz_key: str


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The dedup record of one (scope, key). (DEDUP-010)"""

    scope: str
    key: str
    record: Record
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    retry_count: int = 0
    hold_count: int = 0
    """The counts of the delivery that is still to come."""


@dataclass(slots=True)
class Lease:
    """A claim that is held. What is written under it matches fence and owner and PROCESSING, or
    nothing is written. (DEDUP-020)"""

    scope: str
    key: str
    fence: int = 0
    owner: str = ""
    """The claim's token; empty for a crash loop, which holds none."""
    previous: str = ""
    previous_fence: int = 0

    @property
    def held(self) -> bool:
        """Whether there is a claim, or the fence of one, to match."""
        return self.fence != 0 or self.previous_fence != 0


@dataclass(slots=True)
class Grant:
    """The answer to a claim. Where `verdict` is PROCEED the claim is written, and `lease` holds
    it."""

    verdict: AdmissionVerdict | None
    """None where `too_old` or `parked` says why nothing was written."""
    retry_count: int
    hold_count: int
    """The larger of the delivery's and the record's, within one redrive count. (DEDUP-011)"""
    lease: Lease | None = None
    attempts: int = 0
    lease_until_ms: int = 0
    recovered: bool = False
    result: bytes = b""
    wait_ms: int = 0
    too_old: bool = False
    parked: bool = False
    """Another key is the head of the claim's lane."""
    head: bool = False
    """This key is the head of its lane, which it has to leave when it ends."""
    record_redrive_count: int = 0
    record_fingerprint: str = ""
    """What the key was used with before, of a KEY_REUSED."""

    def outcome(self) -> Outcome | None:
        """What the grant means for the delivery; None where it may run, or has to park."""
        if self.too_old:
            return Outcome.TOO_OLD
        if self.verdict is None or self.verdict is AdmissionVerdict.PROCEED:
            return None
        return Outcome[self.verdict.value]


# Of two keys the first of these verdicts is that of both. (DEDUP-026)
_SEVERITY = {
    AdmissionVerdict.KEY_REUSED: 1,
    AdmissionVerdict.DUPLICATE: 2,
    AdmissionVerdict.STALE: 3,
    AdmissionVerdict.IN_PROGRESS: 4,
    AdmissionVerdict.CRASH_LOOP: 5,
    AdmissionVerdict.PROCEED: 6,
}


@dataclass(slots=True)
class Claim:
    """Asks whether one delivery may run."""

    scope: str
    key: str
    owner: str
    """A random token of this claim alone, sent again only where its reply was lost. (DEDUP-013)"""
    lease_ms: int
    max_attempts: int
    fingerprint: str = ""
    previous: str = ""
    """The key by the template before, during a migration. (KEY-030)"""
    redrive_count: int = 0
    retry_count: int = 0
    hold_count: int = 0
    old: bool = False
    """The message was produced before the retention began. (DEDUP-029)"""
    lane: Lane | None = None
    """Set on a route that parks."""

    @property
    def dual(self) -> bool:
        return self.previous not in ("", self.key)

    @property
    def position(self) -> int:
        return self.retry_count + self.hold_count

    def admit(
        self, current: StoredRecord | None, previous: StoredRecord | None, now_ms: int
    ) -> Grant:
        """Decides, given the records of its keys. It is pure: the records have to be locked.
        (DEDUP-001, DEDUP-026, DEDUP-029)"""
        counts = self.retry_count, self.hold_count
        if current is None and previous is None:
            if self.old and self.redrive_count == 0:
                return Grant(None, *counts, too_old=True)
            if not self.dual:
                new = _admit_new(now_ms, self.lease_ms)
                lease = Lease(self.scope, self.key, new.fence, self.owner)
                return Grant(new.verdict, *counts, lease, new.attempts, new.lease_until_ms)
        verdict = self._admit(current, now_ms)
        lease = Lease(self.scope, self.key, verdict.fence, self.owner)
        decides = current
        if self.dual:
            other = self._admit(previous, now_ms)
            lease.previous, lease.previous_fence = self.previous, other.fence
            if _SEVERITY[other.verdict] < _SEVERITY[verdict.verdict]:
                decides = previous
            verdict = _both(verdict, other)
        grant = Grant(
            verdict.verdict,
            *counts,
            attempts=verdict.attempts,
            lease_until_ms=verdict.lease_until_ms,
            recovered=verdict.recovered,
            result=verdict.result,
            wait_ms=verdict.wait_ms,
        )
        for record in (current, previous):
            if record is not None:
                self._see(record, grant)
        if verdict.verdict is AdmissionVerdict.PROCEED:
            grant.lease = lease
        elif verdict.verdict is AdmissionVerdict.CRASH_LOOP:
            lease.owner = ""
            lease.fence, lease.previous_fence = _open_fence(current), _open_fence(previous)
            grant.lease = lease
        elif verdict.verdict is AdmissionVerdict.KEY_REUSED and decides is not None:
            grant.record_fingerprint = decides.record.fingerprint or ""
        return grant

    def _admit(self, record: StoredRecord | None, now_ms: int) -> Admission:
        return admit(
            None if record is None else record.record,
            Delivery(self.redrive_count, self.position, self.fingerprint or None),
            now_ms=now_ms,
            lease_ms=self.lease_ms,
            max_attempts=self.max_attempts,
            owner=self.owner,
        )

    def _see(self, record: StoredRecord, grant: Grant) -> None:
        lives = record.record.redrive_count
        grant.record_redrive_count = max(grant.record_redrive_count, lives)
        if lives == self.redrive_count:
            grant.retry_count = max(grant.retry_count, record.retry_count)
            grant.hold_count = max(grant.hold_count, record.hold_count)

    def claimed(
        self, key: str, fence: int, grant: Grant, before: StoredRecord | None, now: datetime
    ) -> StoredRecord:
        """The record of a key once a claim that proceeds is written; the store sets when it
        expires. (DEDUP-010 to DEDUP-012)"""
        fingerprint = self.fingerprint
        if before is not None and before.record.fingerprint:
            fingerprint = before.record.fingerprint  # a record adopts the first
        record = Record(
            state=RecordState.PROCESSING,
            fence=fence,
            attempts=grant.attempts,
            owner=self.owner,
            redrive_count=self.redrive_count,
            position=self.position,
            lease_until_ms=grant.lease_until_ms,
            fingerprint=fingerprint or None,
        )
        created = now if before is None else before.created_at
        expires = now if before is None else before.expires_at
        counts = grant.retry_count, grant.hold_count
        return StoredRecord(self.scope, key, record, created, now, expires, *counts)

    def duplicated(
        self, key: str, result: bytes, before: StoredRecord | None, now: datetime
    ) -> StoredRecord:
        """The record of a key where the other key of the claim is SUCCESS. (DEDUP-026)"""
        if before is None:
            blank = Record(RecordState.SUCCESS, 0, 0, "", 0, 0)
            before = StoredRecord(self.scope, key, blank, now, now, now)
        record = replace(
            before.record,
            state=RecordState.SUCCESS,
            result=result,
            owner="",
            lease_until_ms=0,
            fence=min(before.record.fence + 1, _LARGEST),
            fingerprint=before.record.fingerprint or self.fingerprint or None,
        )
        return replace(before, record=record, updated_at=now)


class NewKeys(NamedTuple):
    """Claims of keys that are new in all likelihood, as columns: what nearly every claim is, and so
    without an object for each. No key comes twice; the deliveries are the first of theirs."""

    scope: str
    keys: list[str]
    owners: list[str]
    fingerprints: list[str]
    leases_ms: list[int]


class Made(NamedTuple):
    """The answer: those that were new are claimed, with fence 1 and one attempt, and nothing is
    known of the others."""

    now_ms: int
    keys: set[str] | None
    """None where all of them were new."""


@lru_cache(maxsize=64)
def _admit_new(now_ms: int, lease_ms: int) -> Admission:
    """Of a key without a record, which is that of nearly all of a batch."""
    new = Delivery(0, 0)
    return admit(None, new, now_ms=now_ms, lease_ms=lease_ms, max_attempts=1, owner="")


def _both(one: Admission, other: Admission) -> Admission:
    """The verdict on two keys."""
    if _SEVERITY[other.verdict] < _SEVERITY[one.verdict]:
        return other
    if other.verdict is not one.verdict:
        return one
    if one.verdict is AdmissionVerdict.PROCEED:
        return replace(
            one,
            attempts=max(one.attempts, other.attempts),
            lease_until_ms=min(one.lease_until_ms, other.lease_until_ms),
            recovered=one.recovered or other.recovered,
        )
    if one.verdict is AdmissionVerdict.IN_PROGRESS:
        return replace(one, wait_ms=max(one.wait_ms, other.wait_ms))
    return one


def _open_fence(record: StoredRecord | None) -> int:
    """The fence of a record that a crash loop ends: one that has not ended."""
    if record is None or record.record.state is RecordState.DEAD:
        return 0
    return record.record.fence


@dataclass(slots=True)
class Completion:
    """Makes the records of a claim SUCCESS."""

    lease: Lease
    result: bytes = b""
    """Kept for duplicates, at most MAX_RESULT bytes."""
    lane: Lane | None = None
    head: bool = False
    """The key is the head of `lane`, which is left."""


class NewDone(NamedTuple):
    """Makes the records SUCCESS of claims of `NewKeys`, as columns."""

    scope: str
    keys: list[str]
    owners: list[str]
    results: list[bytes | None]


@dataclass(slots=True)
class Settlement:
    """Ends a delivery that did not succeed. The change of the record and what follows from it are
    one transaction; a store without follow-ups (Redis) refuses one that has any. (DEDUP-021)"""

    lease: Lease | None = None
    """The claim; None where there is none and no record is touched."""
    state: RecordState = RecordState.FAILED
    """FAILED or DEAD."""
    give_back: bool = False
    """Undoes the attempt: the handler never ran, or asked to be held. (DEDUP-023)"""
    redrive_count: int = 0
    retry_count: int = 0
    hold_count: int = 0
    """Those of the next delivery, as its headers say; their sum is the position that is kept."""
    kept_retry_count: int = 0
    kept_hold_count: int = 0
    """The counts that the record keeps where these are larger: of what is held in place."""
    retry: Retry | None = None
    """The delivery to come."""
    dead_letter: DeadLetter | None = None
    lane: Lane | None = None
    """Set on a route that parks. A retry with `park` joins its tail; any other one joins it too, or
    becomes its head; with `leave`, and with the dead letter of a claim that is held, the message
    leaves the lane. The lane's row is locked, and the decision made again under the lock."""
    leave: bool = False

    @property
    def position(self) -> int:
        return self.retry_count + self.hold_count

    @property
    def held(self) -> bool:
        return self.lease is not None and self.lease.held

    def names(self) -> tuple[str, str]:
        """Scope and key of the message; the key is empty where it has none."""
        for what in (self.lease, self.retry, self.dead_letter):
            if what is not None and what.scope:
                return what.scope, what.key
        return "", ""


class Settled(Enum):
    """The answer to a settlement."""

    WRITTEN = "WRITTEN"
    """All of it is durable."""
    FENCED = "FENCED"
    """The claim is no longer held, and nothing was written."""
    UNPARKED = "UNPARKED"
    """The lane to park in is free by now, or has this key as its head, and nothing was written:
    claim again."""


@dataclass(slots=True)
class Renewal:
    """Extends a lease, by so much from the store's present."""

    lease: Lease
    lease_ms: int


def check_result(completion: Completion) -> None:
    """Raises where a result is larger than a record keeps."""
    if len(completion.result) > MAX_RESULT:
        raise ValueError(
            f"the result of key {completion.lease.key!r} has {len(completion.result)} bytes, "
            f"and a record keeps at most {MAX_RESULT}"
        )
