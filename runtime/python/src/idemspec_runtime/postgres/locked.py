"""Records in a transaction, under lock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any

from idemspec import Record, RecordState

from ..records import Lease, StoredRecord
from .config import epoch_ms, from_epoch_ms
from .work import Answer, Query, blobs, clamp, numbers, texts, times

_STATES = {state: number for number, state in enumerate(RecordState, 1)}
_STATE_OF = {number: state for state, number in _STATES.items()}


class Presence(Enum):
    """Where a record is."""

    NOWHERE = 0
    """Not in the answer."""
    FOUND = 1
    """It was there, and is locked."""
    FRESH = 2
    """The statement made it."""


@dataclass(slots=True)
class Entry:
    """A record in a transaction."""

    scope: str
    key: str
    claim: int
    """The first claim that asked for it."""
    there: Presence = Presence.NOWHERE
    value: StoredRecord | None = None
    """What the database holds, or what was decided; None of one that was made for a claim."""
    claimed: bool = False
    """By a claim of this batch."""
    dirty: bool = False
    """`value` is not what the database has."""
    result: bool = False
    """The result is to be written."""

    @property
    def is_new(self) -> bool:
        """The statement made it, and no claim of this batch has it."""
        return self.there is Presence.FRESH and not self.claimed and self.value is None

    def record(self) -> Record:
        assert self.value is not None, "only of one that was found"
        return self.value.record

    def change(self, expires_at: datetime | None = None, **fields: Any) -> None:
        """Changes the record, which expires no earlier than it did."""
        value = self.value
        assert value is not None, "only of one that was found"
        counts = {
            name: fields.pop(name) for name in ("retry_count", "hold_count") if name in fields
        }
        expires = value.expires_at if expires_at is None else max(value.expires_at, expires_at)
        self.value = replace(
            value, record=replace(value.record, **fields), expires_at=expires, **counts
        )
        self.dirty = True


class Entries:
    """The records of a transaction, each once, in the order of their first mention."""

    def __init__(self) -> None:
        self.by_id: dict[tuple[str, str], Entry] = {}

    def add(self, scope: str, key: str, claim: int = 0) -> Entry:
        entry = self.by_id.get((scope, key))
        if entry is None:
            entry = self.by_id[scope, key] = Entry(scope, key, claim)
        return entry

    def found(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Takes rows that were there: a first column, and those of a record."""
        for row in rows:
            entry = self.by_id[row[1], row[2]]
            entry.there, entry.value = Presence.FOUND, record_of(row)

    def writes(self) -> list[Query]:
        """What was decided: the records that changed, and the end of those made for nothing."""
        queries = []
        dirty = [(entry, entry.value) for entry in self.by_id.values() if entry.dirty]
        if dirty:
            queries.append(_write([(entry, value) for entry, value in dirty if value is not None]))
        unused = [(entry.scope, entry.key) for entry in self.by_id.values() if entry.is_new]
        if unused:
            scopes, keys = zip(*unused, strict=True)
            queries.append(Query("record_undo", (texts(scopes), texts(keys))))
        return queries


def record_of(row: tuple[Any, ...]) -> StoredRecord:
    """The record of a row, whose first column is none of it."""
    (_, scope, key, fence, state, attempts, owner, redrives, position, lease, fingerprint) = row[
        :11
    ]
    record = Record(
        state=_STATE_OF[state],
        fence=fence,
        attempts=attempts,
        owner=owner,
        redrive_count=redrives,
        position=position,
        lease_until_ms=0 if lease is None else epoch_ms(lease),
        result=b"" if row[11] is None else bytes(row[11]),
        fingerprint=fingerprint or None,
    )
    retries, holds, created, updated, expires = row[12:17]
    return StoredRecord(scope, key, record, created, updated, expires, retries, holds)


def _write(entries: list[tuple[Entry, StoredRecord]]) -> Query:
    values = [value for _, value in entries]
    records = [value.record for value in values]
    leases = (from_epoch_ms(r.lease_until_ms) if r.lease_until_ms else None for r in records)
    return Query(
        "record_write",
        (
            texts(value.scope for value in values),
            texts(value.key for value in values),
            numbers(_STATES[r.state] for r in records),
            numbers(r.fence for r in records),
            numbers(clamp(r.attempts) for r in records),
            texts(r.owner for r in records),
            numbers(clamp(r.redrive_count) for r in records),
            numbers(r.position for r in records),
            numbers(value.retry_count for value in values),
            numbers(value.hold_count for value in values),
            times(leases),
            texts(r.fingerprint or "" for r in records),
            blobs(value.record.result if entry.result else None for entry, value in entries),
            times(value.expires_at for value in values),
        ),
    )


class Held(Entries):
    """The records of leases, under lock."""

    def __init__(self, leases: Iterable[Lease | None]) -> None:
        super().__init__()
        self.now: datetime | None = None
        for lease in leases:
            if lease is not None and lease.fence:
                self.add(lease.scope, lease.key)
            if lease is not None and lease.previous_fence:
                self.add(lease.scope, lease.previous)

    def lock(self) -> list[Query]:
        if not self.by_id:
            return []
        scopes, keys = zip(*self.by_id, strict=True)
        return [Query("record_lock", (texts(scopes), texts(keys)))]

    def locked(self, answer: Answer) -> None:
        self.found(answer.rows)
        if answer.rows:
            self.now = answer.rows[0][0]

    def match(self, lease: Lease | None) -> list[Entry] | None:
        """The records of a lease, or None where not all of them may be written. (DEDUP-020)"""
        if lease is None or not lease.held:
            return None
        matched = []
        for key, fence in ((lease.key, lease.fence), (lease.previous, lease.previous_fence)):
            if fence:
                entry = self.by_id[lease.scope, key]
                if not self._matches(entry, fence, lease.owner):
                    return None
                matched.append(entry)
        return matched

    def _matches(self, entry: Entry, fence: int, owner: str) -> bool:
        """Whether a claim is held, or, without an owner, that nobody holds the key."""
        if entry.there is not Presence.FOUND or entry.record().fence != fence:
            return False
        record = entry.record()
        if owner:
            return record.state is RecordState.PROCESSING and record.owner == owner
        expired = self.now is not None and record.lease_until_ms <= epoch_ms(self.now)
        return record.state is RecordState.FAILED or (
            record.state is RecordState.PROCESSING and expired
        )
