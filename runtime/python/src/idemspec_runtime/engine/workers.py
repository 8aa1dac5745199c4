"""The threads that run handlers. Each takes a chunk of what is runnable, so that handlers which
take microseconds cost no lock each; an idle one takes from one that is slow what has not begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from idemspec import Outcome

from .. import batches
from ..delivery import OK, Mode, Status
from ..failures import Result
from ..guard import Guard
from .beats import Beats, Slot
from .claiming import Claiming
from .judging import Judging
from .monitor import Monitor
from .settling import Settling
from .tasks import Chunk, Line, State, Task, drained

CHUNK_SECONDS = 0.01
"""How long what a worker takes at a time should take, where there is enough for the others."""
SLOW_SECONDS = 0.005
"""After how long others take from it."""
FAILURES = 10
"""After how many of them it is seen first whether the route is to rest."""
LONG_SECONDS = 0.05
"""After how long what was run is handed on, whatever is left of the chunk."""


class Workers:
    def __init__(
        self,
        monitor: Monitor,
        guard: Guard,
        beats: Beats,
        claiming: Claiming,
        judging: Judging,
        settling: Settling,
    ) -> None:
        self._settling = settling
        self._monitor = monitor
        self._guard = guard
        self._beats = beats
        self._claiming = claiming
        self._judging = judging
        self._lines = [line for line in monitor.lines.values() if not line.route.is_async]
        self._looking = False
        """An idle worker looks, for all of them."""

    def loop(self) -> None:
        chunk = Chunk()
        with self._monitor.lock:
            self._monitor.chunks.append(chunk)
        slot = self._beats.slot()
        while work := self._take(chunk, slot):
            work()

    def _take(self, chunk: Chunk, slot: Slot) -> Callable[[], None] | None:
        """Waits for something to do; None says that the engine is stopped."""
        m = self._monitor
        with m.lock:
            while not m.stopped:
                work = self._find(chunk, slot)
                # Whoever had asked this one to claim may ask another one, now that it is busy.
                self._claiming.ask(claimed=work is None)
                if work is not None:
                    return work
                self._wait()
        return None

    def _find(self, chunk: Chunk, slot: Slot) -> Callable[[], None] | None:
        m = self._monitor
        for line in m.in_turn():
            if line.runnable and not line.route.is_async and not _full(line):
                self._fill(line, chunk)
                return partial(self._run, line, chunk, slot)
        if tasks := self._relieve():
            return partial(self._judging.ran, tasks[0].line, tasks, None)
        while t := self._steal():
            if not _full(t.line):
                self._fill(t.line, chunk)
                return partial(self._run, t.line, chunk, slot)
        for line in m.in_turn():
            if batch := self._claiming.carry(line):
                self._notify()
                return partial(self._carry, line, batch, chunk, slot)
        return None

    def _run(self, line: Line, chunk: Chunk, slot: Slot) -> None:
        if line.route.batch:
            tasks = drained(chunk)
            self._run_batch(line, tasks, slot)
        else:
            tasks = self._run_chunk(line, chunk, slot)
        self._judging.ran(line, tasks, time.monotonic() - chunk.began)
        self._put_back(chunk)

    def _put_back(self, chunk: Chunk) -> None:
        """What was not begun, for all the failures or the time before it."""
        if chunk:
            with self._monitor.lock:
                for t in reversed(drained(chunk)):
                    t.state = State.RUNNABLE
                    t.line.runnable.appendleft(t)

    def _carry(self, line: Line, batch: list[Task], chunk: Chunk, slot: Slot) -> None:
        """From the claim to the end."""
        m, running = self._monitor, State.RUNNING
        batch = self._claiming.claim(batch)
        with m.lock:
            ready, back = self._claiming.part(batch)
            for t in ready:
                t.state = running
            chunk.extend(ready)
            chunk.began = line.carried = time.monotonic()
            line.running += 1
        self._claiming.give_back(back)
        tasks = self._run_chunk(line, chunk, slot)
        settling: list[Task] = []
        self._judging.ran(line, tasks, time.monotonic() - chunk.began, settling)
        with m.lock:
            line.carriers -= 1
            line.carried = time.monotonic()
        self._put_back(chunk)
        self._settling.settle(settling)

    def _notify(self) -> None:
        """Another one goes on with the rest, or looks whether this one is slow."""
        if not self._looking or any(line.runnable for line in self._lines):
            self._monitor.workers.notify()

    def _fill(self, line: Line, chunk: Chunk) -> None:
        m = self._monitor
        running, runnable = State.RUNNING, line.runnable
        n = line.route.batch
        if not n:
            share = len(runnable) // m.config.workers
            n = max(min(int(CHUNK_SECONDS / max(line.seconds, 1e-6)), share), 1)
        for _ in range(min(n, len(runnable))):
            t = runnable.popleft()
            t.state = running
            chunk.append(t)
        chunk.began = time.monotonic()
        line.running += 1
        self._notify()

    def _wait(self) -> None:
        """Waits until there is more. Where others have what has not begun, one of those that wait
        looks now and then."""
        m = self._monitor
        m.idle += 1
        busy = any(chunk or chunk.ran for chunk in m.chunks) or any(
            line.carriers for line in self._lines
        )
        if self._looking or not busy:
            m.workers.wait()
        else:
            self._looking = True
            m.workers.wait(SLOW_SECONDS)
            self._looking = False
        m.idle -= 1

    def _relieve(self) -> list[Task]:
        """Takes what it has run from one that is slow."""
        for chunk in self._slow():
            if tasks := drained(chunk.ran):
                return tasks
        return []

    def _slow(self) -> list[Chunk]:
        before = time.monotonic() - SLOW_SECONDS
        return [chunk for chunk in self._monitor.chunks if chunk.began < before]

    def _steal(self) -> Task | None:
        """Makes runnable again what one that is slow has not begun."""
        for chunk in self._slow():
            try:
                t = chunk.pop()
            except IndexError:
                continue
            t.state = State.RUNNABLE
            t.line.runnable.append(t)
            return t
        return None

    def _run_chunk(self, line: Line, chunk: Chunk, slot: Slot) -> list[Task]:
        """Returns what was run and not handed on by others."""
        guard, route, ran, failed = self._guard, line.route, chunk.ran, 0
        handler, decode, tx = route.handler, route.decode, route.rules.mode is Mode.TX
        until = chunk.began + LONG_SECONDS
        try:
            while chunk and failed < FAILURES and (now := time.monotonic()) < until:
                try:
                    t = chunk.popleft()
                except IndexError:  # another one took it
                    break
                d = t.d
                try:
                    if tx:
                        guard.run_tx(d, handler, decode)
                    else:
                        slot.begin(now, d)
                        guard.run(d, handler, decode, now)
                except BaseException as error:  # of this package, or SystemExit of the handler
                    d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
                ran.append(t)
                if d.result is not OK:
                    failed += 1
        finally:
            slot.end()
        return drained(chunk.ran)

    def _run_batch(self, line: Line, tasks: list[Task], slot: Slot) -> None:
        route, ds = line.route, [t.d for t in tasks]
        try:
            if route.rules.mode is Mode.TX:
                batches.run_tx_batch(self._guard.handling, ds, route.handler, route.decode)
                return
            slot.begin(time.monotonic(), *ds)
            batches.run_batch(self._guard.handling, ds, route.handler, route.decode)
        except BaseException as error:
            for d in ds:
                if d.status is Status.READY:
                    d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
        finally:
            slot.end()


def _full(line: Line) -> bool:
    """Whether as many handlers run as may."""
    return bool(line.route.workers) and line.running >= line.route.workers
