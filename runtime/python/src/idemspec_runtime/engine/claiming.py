"""The first stage of the engine: batches of what waits are claimed, and what has not begun is given
back."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from ..breaker import BreakerState
from ..delivery import Status
from ..guard import Guard
from ..outages import Outages
from .monitor import AHEAD_SECONDS, Monitor
from .tasks import Line, State, Task, backoff

log = logging.getLogger("idemspec")

QUICK_SECONDS = 50e-6
"""What a handler takes at most for whoever claims a batch to run all of it, too."""
CARRIERS = 2
"""One works while the other waits for the store."""
STUCK_SECONDS = 0.05


class Claiming:
    def __init__(
        self, monitor: Monitor, guard: Guard, outages: Outages, dispatch: Callable[[], None]
    ) -> None:
        """`dispatch` has somebody run what is runnable, and is called under the lock."""
        self._monitor = monitor
        self._guard = guard
        self._outages = outages
        self._dispatch = dispatch

    def loop(self) -> None:
        while batch := self._take():
            self._claimed(self.claim(batch))

    def _take(self) -> list[Task]:
        """Waits for a batch; none says that the engine is stopped."""
        m = self._monitor
        with m.lock:
            while not m.stopped:
                if not m.alone:
                    suspects = self._suspected()
                    if suspects:
                        if m.flight == m.late:  # nothing else runs
                            return [self._take_alone(suspects[0])]
                    elif batch := self._fill():
                        return batch
                m.claimers.wait()
        return []

    def _suspected(self) -> list[Task]:
        """What has to be claimed alone. Until it has ended, nothing else is claimed. (DEDUP-024)"""
        m = self._monitor
        if not m.suspects:
            return []
        now = time.monotonic()
        m.suspects = deque(t for t in m.suspects if t.state is not State.GONE)
        return [t for t in m.suspects if t.line.route.breaker.admits(t.d.key, now, True)]

    def _take_alone(self, t: Task) -> Task:
        self._monitor.suspects.remove(t)
        t.alone = self._monitor.alone = True
        t.probe = t.line.route.breaker.starts(t.d.key)
        t.line.claiming += 1
        self._monitor.take_off(t, State.CLAIMING)
        return t

    def _fill(self) -> list[Task]:
        """What the routes have room for, each route in its turn first."""
        batch: list[Task] = []
        for line in self._monitor.in_turn():
            if line.route.breaker.state is not BreakerState.CLOSED:
                self._fill_probe(line, batch)
            elif self._by_workers(line):
                if line.waiting:
                    self._monitor.workers.notify()
            else:
                self._fill_line(line, batch)
        self._monitor.fetchers.notify()
        return batch

    def carry(self, line: Line) -> list[Task]:
        """What a worker claims, runs and settles by itself: it is handed from thread to thread, and
        from one processor's cache to the other's, only where handlers take long enough to make up
        for it. Two do so at a time, or more where these do not get further."""
        m = self._monitor
        batch: list[Task] = []
        if not line.waiting or m.alone or m.suspects or not _is_quick(line):
            return batch
        now = time.monotonic()
        if line.carriers >= CARRIERS and now - line.carried < STUCK_SECONDS:
            return batch
        self._fill_line(line, batch)
        if batch:
            line.carriers += 1
            line.carried = now
            m.fetchers.notify()
        return batch

    def ask(self, *, claimed: bool = False) -> None:
        """Has what waits be claimed, by a worker or by the thread for it; where workers have
        `claimed` what they may, by the latter alone."""
        m = self._monitor
        for line in m.lines.values():
            if not line.waiting or self.room(line) <= 0:
                continue
            if not self._by_workers(line):
                m.claimers.notify()
            elif not claimed:
                m.workers.notify()

    def _by_workers(self, line: Line) -> bool:
        """Whether workers claim what waits. They leave it to the thread for it while there is a
        suspect, for which that one alone looks."""
        m = self._monitor
        return bool(m.idle) and not m.suspects and _is_quick(line)

    def _fill_line(self, line: Line, batch: list[Task]) -> None:
        most = min(self.room(line), self._monitor.config.batch - len(batch))
        claiming, waiting, n = State.CLAIMING, line.waiting, 0
        while n < most and waiting:
            t = waiting.popleft()
            if t.state is not State.GONE:
                t.state = claiming
                t.part.flight += 1
                batch.append(t)
                n += 1
        self._monitor.flight += n
        line.claiming += n

    def _fill_probe(self, line: Line, batch: list[Task]) -> None:
        """One delivery of another key each time, once it is time. (RETRY-031)"""
        now, breaker = time.monotonic(), line.route.breaker
        waiting = [t for t in line.waiting if t.state is not State.GONE]
        only = len({t.d.key for t in waiting}) <= 1
        for t in waiting:
            if breaker.admits(t.d.key, now, only):
                line.waiting.remove(t)
                t.probe = breaker.starts(t.d.key)
                self._monitor.take_off(t, State.CLAIMING)
                line.claiming += 1
                batch.append(t)
                return

    def room(self, line: Line) -> int:
        """How many deliveries of a route may be claimed."""
        config = self._monitor.config
        workers = min(config.workers, line.route.workers or config.workers)
        if line.route.batch:
            ahead = 2 * workers * line.route.batch
        else:
            ahead = max(workers * int(AHEAD_SECONDS / max(line.seconds, 1e-6)), workers)
            ahead = min(ahead, 2 * config.batch)
        room = ahead - len(line.runnable) - line.claiming
        # Not one for each that has begun: a round trip is for many.
        return room if 2 * room >= ahead else 0

    def wake(self) -> None:
        with self._monitor.lock:
            self._monitor.claimers.notify()

    def claim(self, batch: list[Task]) -> list[Task]:
        """Claims a batch, however long the store takes to come back."""
        m, tries = self._monitor, 0
        while batch:
            try:
                self._guard.claim([t.d for t in batch])
            except Exception as error:
                self._outages.begins("claim", error)
                m.stopping.wait(backoff(tries))
                tries += 1
            else:
                self._outages.over("claim")
                break
            with m.lock:
                lost = {t for t in batch if t.part.revoked or m.stopped}
                for t in lost:
                    t.line.claiming -= 1
                    self._probe_lost(t)
                    m.abandon(t)
            batch = [t for t in batch if t not in lost]
        return batch

    def _claimed(self, batch: list[Task]) -> None:
        with self._monitor.lock:
            ready, back = self.part(batch)
            for t in ready:
                t.state = State.RUNNABLE
                t.line.runnable.append(t)
            self._dispatch()
        self.give_back(back)

    def part(self, batch: list[Task]) -> tuple[list[Task], list[Task]]:
        """Of what was claimed, what may run, and what is to be given back. The rest is settled. It
        is called under the lock."""
        is_ready = Status.READY
        ready: list[Task] = []
        back: list[Task] = []
        for t in batch:
            t.line.claiming -= 1
            if t.d.status is not is_ready:
                self._probe_lost(t)
                self._monitor.settle(t)
            elif t.part.revoked or not _may_run(t):
                back.append(t)
            else:
                ready.append(t)
        if self._monitor.settling:
            self._monitor.settlers.notify()
        return ready, back

    def _probe_lost(self, t: Task) -> None:
        if t.probe:
            t.probe = False
            t.line.route.breaker.probe_lost(time.monotonic())

    def give_back(self, back: list[Task]) -> None:
        """Returns claims that never began, and puts their tasks where they belong now. Not to be
        called under the lock."""
        if not back:
            return
        m = self._monitor
        suspects = {t for t in back if t.d.alone or t.alone}
        try:
            self._guard.give_back([t.d for t in back])
        except Exception as error:
            log.warning("claims not given back: their leases run out by themselves: %s", error)
        with m.lock:
            for t in reversed(back):  # to the front, so that they keep their order
                self._probe_lost(t)
                if t.part.revoked:
                    m.abandon(t)
                    continue
                m.land(t)
                if t in suspects:
                    t.state = State.WAITING
                    m.suspects.appendleft(t)
                    m.claimers.notify()
                else:
                    m.wait_first(t)


def _is_quick(line: Line) -> bool:
    route = line.route
    if line.seconds > QUICK_SECONDS or route.is_async or route.batch or route.workers:
        return False
    return route.breaker.state is BreakerState.CLOSED


def _may_run(t: Task) -> bool:
    if t.d.alone and not t.alone:
        return False
    return t.probe or t.line.route.breaker.state is BreakerState.CLOSED
