"""The end of deliveries that did not succeed: the change of the record and what follows from it
are one transaction, of two round trips. (DEDUP-021)"""

from __future__ import annotations

from datetime import timedelta

from ..records import Settled, Settlement
from ..rows import Retry
from .config import PostgresConfig
from .lanes import LaneId, LockedLane, LockedLanes, lane_id, lane_release
from .locked import Held
from .tables import DeadRows, RetryRows
from .work import Step, Work


def settle_work(config: PostgresConfig, settlements: list[Settlement]) -> Work[list[Settled]]:
    """One transaction. It ends early where a lane comes again that was left: the answer is as long
    as what was settled, and the next transaction sees who heads the lane by then."""
    batch = _Batch(config, settlements)
    records, lanes = batch.held.lock(), batch.lanes.lock()
    rows = batch.retries.lock(batch.heading)
    answers = yield Step(records + lanes + rows)
    if records:
        batch.held.locked(answers[0])
    if lanes:
        batch.lanes.locked(answers[len(records) : len(records) + len(lanes)])
    if rows:
        batch.retries.locked(answers[-1])
    settled = batch.settle()
    writes = batch.held.writes() + batch.lanes.writes()
    writes += batch.retries.writes() + batch.dead.writes()
    yield Step(writes + [lane_release(*left) for left in batch.left], last=True)
    return settled


class _Batch:
    def __init__(self, config: PostgresConfig, settlements: list[Settlement]) -> None:
        self.config = config
        self.settlements = settlements
        self.held = Held(s.lease for s in settlements)
        self.lanes = LockedLanes()
        self.retries = RetryRows()
        self.dead = DeadRows()
        self.heading: list[Retry] = []
        """Those that may make a lane."""
        self.left: list[tuple[LaneId, str]] = []
        for s in settlements:
            if s.lane is None:
                continue
            scope, key = s.names()
            at = self.lanes.add(lane_id(scope, s.lane))
            if s.retry is not None and not s.retry.park and not s.leave and key:
                self.heading.append(s.retry)
                at.maker = at.maker or key

    def settle(self) -> list[Settled]:
        settled: list[Settled] = []
        for s in self.settlements:
            scope, key = s.names()
            lane = None if s.lane is None else lane_id(scope, s.lane)
            at = None if lane is None else self.lanes.by_id[lane]
            if at is not None and at.left:
                break
            settled.append(self._settle(s, key, at))
            if lane is None or at is None or settled[-1] is not Settled.WRITTEN:
                continue
            ends = s.leave or (s.dead_letter is not None and s.held)
            if ends and key and at.head == key:
                at.left = True
                self.left.append((lane, key))
        return settled

    def _settle(self, s: Settlement, key: str, at: LockedLane | None) -> Settled:
        matched = self.held.match(s.lease) if s.held else []
        if matched is None:
            return Settled.FENCED
        if s.retry is not None and s.retry.park and (at is None or at.head in ("", key)):
            return Settled.UNPARKED
        for entry in matched:
            assert self.held.now is not None, "a record was read"
            due = timedelta(milliseconds=s.retry.due_ms if s.retry is not None else 0)
            attempts = entry.record().attempts
            entry.change(
                self.config.expiry(self.held.now + due),  # (DEDUP-029)
                state=s.state,
                lease_until_ms=0,
                attempts=max(attempts - 1, 0) if s.give_back else attempts,
                redrive_count=s.redrive_count,
                position=s.position,
                retry_count=max(s.retry_count, s.kept_retry_count),
                hold_count=max(s.hold_count, s.kept_hold_count),
            )
        if s.retry is not None:
            ordered = at is not None and key != "" and not s.leave
            parked = ordered and at is not None and at.head not in ("", key)
            added = self.retries.add(s.retry, s.lane, parked)
            if added and ordered and at is not None and not at.head:
                at.head = key
        if s.dead_letter is not None:
            self.dead.add(s.dead_letter)
        return Settled.WRITTEN
