"""The claim of a batch of keys: one round trip for new ones, and two for any. (DEDUP-030)"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from idemspec import AdmissionVerdict, Record, RecordState

from ..records import Claim, Grant, Made, NewKeys, StoredRecord
from .config import PostgresConfig, epoch_ms, milliseconds
from .lanes import LaneId, lane_columns, lane_id
from .locked import Entries, Entry, Presence
from .work import Answer, Query, Step, Work, numbers, texts

MIN_LEASE_MS = 200
"""The least that a claim's pause between two statements is taken for."""


def idle_ms(leases_ms: Iterable[int]) -> int:
    """How long the transaction of a batch may be idle: half of the shortest lease."""
    return max(min(leases_ms), MIN_LEASE_MS) // 2


def in_progress(claim: Claim, wait_ms: int) -> Grant:
    verdict = AdmissionVerdict.IN_PROGRESS
    return Grant(verdict, claim.retry_count, claim.hold_count, wait_ms=max(wait_ms, 0))


def claim_work(config: PostgresConfig, claims: list[Claim]) -> Work[list[Grant]]:
    """One transaction of claims. One statement makes the records that are not there and locks those
    that are; the rest is decided here, by `Claim.admit`, and written with the commit."""
    batch = _Batch(config, claims)
    answers = yield Step(batch.ask())
    batch.read(answers)
    grants = batch.decide()
    yield Step(batch.entries.writes(), last=True)
    return grants


def claim_new_work(config: PostgresConfig, new: NewKeys) -> Work[Made]:
    """One round trip: COMMIT goes with the statement, since what is not made is not decided on."""
    n = len(new.keys)
    zeros = numbers([0] * n)
    columns = texts([new.scope] * n), texts(new.keys), texts(new.owners), texts(new.fingerprints)
    args = (*columns, zeros, zeros, zeros, numbers(new.leases_ms), config.retention_ms)
    (answer,) = yield Step([Query("claim", args)], last=True)
    first, *rows = answer.rows
    now_ms = epoch_ms(first[0])
    if first[3] == n:
        return Made(now_ms, None)
    return Made(now_ms, {row[2] for row in rows if row[3] is None})


class _Batch:
    def __init__(self, config: PostgresConfig, claims: list[Claim]) -> None:
        self.config = config
        self.claims = claims
        self.entries = Entries()
        self.pairs: list[tuple[Entry, Entry | None]] = []
        self.lanes: list[LaneId] = []
        self.heads: dict[LaneId, str] = {}
        self.now: datetime
        self.now_ms = 0
        for i, claim in enumerate(claims):
            current = self.entries.add(claim.scope, claim.key, i)
            other = self.entries.add(claim.scope, claim.previous, i) if claim.dual else None
            self.pairs.append((current, other))
            if claim.lane is not None:
                self.lanes.append(lane_id(claim.scope, claim.lane))

    def ask(self) -> list[Query]:
        entries = list(self.entries.by_id.values())
        asked = [self.claims[entry.claim] for entry in entries]
        queries = [
            Query(
                "claim",
                (
                    texts(entry.scope for entry in entries),
                    texts(entry.key for entry in entries),
                    texts(claim.owner for claim in asked),
                    texts(claim.fingerprint for claim in asked),
                    numbers(claim.redrive_count for claim in asked),
                    numbers(claim.retry_count for claim in asked),
                    numbers(claim.hold_count for claim in asked),
                    numbers(claim.lease_ms for claim in asked),
                    self.config.retention_ms,
                ),
            )
        ]
        if self.lanes:
            queries.append(Query("lane_heads", lane_columns(self.lanes)))
        return queries

    def read(self, answers: list[Answer]) -> None:
        """The first row has the time, and how many records were made: where those are all, it is
        alone. Of the others those that were made have no fence."""
        first, *rows = answers[0].rows
        self.now, made = first[0], first[3]
        self.now_ms = epoch_ms(self.now)
        if made == len(self.entries.by_id):
            for entry in self.entries.by_id.values():
                entry.there = Presence.FRESH
        for row in rows:
            if row[3] is None:
                self.entries.by_id[row[1], row[2]].there = Presence.FRESH
        self.entries.found(row for row in rows if row[3] is not None)
        if self.lanes:
            self.heads = {self.lanes[n - 1]: head for n, head in answers[1].rows}

    def decide(self) -> list[Grant]:
        """Claim by claim, each on what those before have left."""
        return [
            self._decide(claim, *pair) for claim, pair in zip(self.claims, self.pairs, strict=True)
        ]

    def _decide(self, claim: Claim, current: Entry, other: Entry | None) -> Grant:
        if other is None and claim.lane is None and current.is_new:
            grant = claim.admit(None, None, self.now_ms)
            if grant.lease is not None:
                self._claimed(claim, grant, current, grant.lease.fence)
            return grant
        for entry in (current, other):
            # Claimed by another of this batch, whatever its owner says. (DEDUP-025)
            if entry is not None and entry.claimed:
                return in_progress(claim, self._lease_until(entry) - self.now_ms)
        grant = claim.admit(self._known(claim, current), self._known(claim, other), self.now_ms)
        proceeds = grant.verdict is AdmissionVerdict.PROCEED
        if claim.lane is not None and not grant.too_old:
            head = self.heads.get(lane_id(claim.scope, claim.lane))
            if head is not None:
                grant.head = head == claim.key
                if not grant.head and proceeds and not _again(grant, current):
                    return Grant(None, grant.retry_count, grant.hold_count, parked=True)
        if proceeds and grant.lease is not None:
            self._claimed(claim, grant, current, grant.lease.fence)
            if other is not None:
                self._claimed(claim, grant, other, grant.lease.previous_fence)
        elif grant.verdict is AdmissionVerdict.DUPLICATE and other is not None:
            self._duplicated(claim, grant, current)
            self._duplicated(claim, grant, other)
        return grant

    def _lease_until(self, entry: Entry) -> int:
        if entry.value is not None:
            return entry.value.record.lease_until_ms
        return self.now_ms + self.claims[entry.claim].lease_ms

    def _known(self, claim: Claim, entry: Entry | None) -> StoredRecord | None:
        """The record that a claim is decided on. One that another transaction has locked, or has
        made since the statement began, is taken for another's live claim."""
        if entry is None or entry.value is not None:
            return None if entry is None else entry.value
        if entry.there is Presence.FRESH:
            return None
        record = Record(
            state=RecordState.PROCESSING,
            fence=1,
            attempts=0,
            owner="" if claim.owner else "?",  # no token is that of another claim
            redrive_count=claim.redrive_count,
            position=claim.position,
            lease_until_ms=self.now_ms + milliseconds(self.config.wait),
        )
        return StoredRecord(claim.scope, entry.key, record, self.now, self.now, self.now)

    def _claimed(self, claim: Claim, grant: Grant, entry: Entry, fence: int) -> None:
        entry.claimed = True
        if entry.value is None and self._as_made(claim, grant, entry, fence):
            return
        before = self._known(claim, entry)
        value = claim.claimed(entry.key, fence, grant, before, self.now)
        entry.value = value
        entry.change(self.config.expiry(self.now))

    def _as_made(self, claim: Claim, grant: Grant, entry: Entry, fence: int) -> bool:
        """Whether the record is what the statement has made of it already."""
        made = self.claims[entry.claim]
        if made is claim:
            counts = claim.retry_count, claim.hold_count
            until = self.now_ms + claim.lease_ms
            return (fence, grant.attempts, grant.lease_until_ms) == (1, 1, until) and counts == (
                grant.retry_count,
                grant.hold_count,
            )
        return (
            fence == 1
            and grant.attempts == 1
            and made.owner == claim.owner
            and made.fingerprint == claim.fingerprint
            and grant.lease_until_ms == self.now_ms + made.lease_ms
            and (claim.redrive_count, grant.retry_count, grant.hold_count)
            == (made.redrive_count, made.retry_count, made.hold_count)
        )

    def _duplicated(self, claim: Claim, grant: Grant, entry: Entry) -> None:
        """Makes the other key of a claim SUCCESS too. One that another transaction has is left to
        the next duplicate."""
        if entry.there is Presence.NOWHERE:
            return
        if entry.value is not None and entry.value.record.state is RecordState.SUCCESS:
            return
        entry.value = claim.duplicated(entry.key, grant.result, entry.value, self.now)
        entry.change(self.config.expiry(self.now))
        entry.result = True


def _again(grant: Grant, entry: Entry) -> bool:
    """Whether a claim's own reply was lost: it runs already."""
    if entry.there is not Presence.FOUND or grant.lease is None or entry.value is None:
        return False
    return grant.lease.fence == entry.value.record.fence
