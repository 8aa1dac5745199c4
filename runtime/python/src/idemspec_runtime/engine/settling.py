"""The last stage of the engine: what follows from deliveries is made durable, and what is held in
place waits for its time."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from idemspec import Outcome, decide

from ..delivery import Status
from ..guard import Guard
from ..outages import Outages
from .monitor import Monitor, brings_due
from .tasks import Part, State, Task, backoff

log = logging.getLogger("idemspec")


class Settling:
    def __init__(self, monitor: Monitor, guard: Guard, outages: Outages) -> None:
        self._monitor = monitor
        self._guard = guard
        self._outages = outages

    def loop(self) -> None:
        while batch := self._take():
            self._settle(batch)

    def settle(self, batch: list[Task]) -> None:
        """The same for what a worker has carried."""
        if batch:
            with self._monitor.lock:
                self._prepare(batch)
            self._settle(batch)

    def _take(self) -> list[Task]:
        m = self._monitor
        with m.lock:
            while not m.settling:
                if m.stopped:
                    return []
                m.settlers.wait()
            settling = m.settling
            batch = [settling.popleft() for _ in range(min(len(settling), m.config.batch))]
            self._prepare(batch)
            return batch

    def _prepare(self, batch: list[Task]) -> None:
        for t in batch:
            # What may have been written as held stays held: nothing else follows from it.
            if t.tries == 0 and t.line.route.blocks:
                t.d.hold_in_place = t.d.status is Status.ENDED and self._may_hold(t)

    def _settle(self, batch: list[Task]) -> None:
        try:
            failures = self._guard.settle([t.d for t in batch])
        except Exception as error:
            failures = [error]
        self._settled(batch, failures)

    def _settled(self, batch: list[Task], failures: list[Exception]) -> None:
        if failures:
            self._outages.begins("settle", failures[0])
        else:
            self._outages.over("settle")
        m, due = self._monitor, False
        with m.lock:
            for t in batch:
                d = t.d
                if d.settled and d.in_place:
                    self._hold(t)
                elif d.settled:
                    due = due or brings_due(t)
                    m.finish(t)
                elif d.status is Status.OPENED:  # the lane that it was to wait in is free by now
                    if t.part.revoked:
                        m.abandon(t)
                    else:
                        m.land(t)
                        m.wait_first(t)
                else:
                    self._later(t)
            m.claimers.notify()
        if due:
            m.rows_due()

    def _later(self, t: Task) -> None:
        """Tries again what is not durable, for as long as it takes: it is never acknowledged
        before. (CONS-003)"""
        m, wait = self._monitor, backoff(t.tries)
        t.tries += 1
        if not t.late:
            t.late = True
            m.late += 1

        def again() -> None:
            with m.lock:
                m.settling.append(t)
                m.settlers.notify()

        m.timers.after(wait, again)

    # Messages that are held in place

    def _may_hold(self, t: Task) -> bool:
        """Whether a message of a BLOCK route may stay in its place: it may not hold its key for too
        long, nor fill its partition's window, where it can wait in the store. (CONS-012)"""
        d = t.d
        if t.to_store:
            return False
        if d.lane is None:
            return True
        if self._monitor.crowded(t.part):
            return False
        outcome, _, after = d.result
        waits = outcome in (Outcome.IN_PROGRESS, Outcome.FENCED)
        decision = decide(
            outcome,
            d.key,
            d.retry_count,
            d.hold_count,
            d.policy,
            retry_after_ms=0 if waits else after,
            wait_ms=after if waits else -1,
        )
        now = time.monotonic()
        again = now + (decision.delay_ms or 0) / 1000
        return again - (t.since or now) <= t.line.route.hold

    def _hold(self, t: Task) -> None:
        """Keeps a message in its place until it is tried again."""
        m, d = self._monitor, t.d
        if t.part.revoked:
            m.abandon(t)
            return
        m.land(t)
        wait = (d.decision.delay_ms or 0) / 1000
        t.since = t.since or time.monotonic()
        t.state, t.tries = State.HELD, 0
        t.part.held += 1
        if d.decision.retry_count is not None and d.decision.hold_count is not None:
            d.retry_count, d.hold_count = d.decision.retry_count, d.decision.hold_count
        d.again()

        def again() -> None:
            with m.lock:
                if t.state is State.HELD:
                    t.part.held -= 1
                    m.wait(t)  # at the end, so that each probe is of another message
                    m.claimers.notify()

        m.timers.after(wait, again)

    def relieve(self, parts: Iterable[Part]) -> None:
        """Sends to the store what is held in place and keeps a window from moving. (CONS-012)"""
        m = self._monitor
        for part in parts:
            if not part.held or not m.crowded(part):
                continue
            oldest = part.watermark.oldest()
            for t in part.tasks():
                stuck = m.full(part) or t is oldest
                if stuck and t.state is State.HELD and t.d.lane is not None:
                    t.to_store = True
                    part.held -= 1
                    m.wait_first(t)
