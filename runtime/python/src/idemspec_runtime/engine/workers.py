"""The threads that run handlers. Each takes a chunk of what is runnable, so that handlers which
take microseconds cost no lock each; an idle one takes from one that is slow what has not begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from idemspec import Outcome

from .. import batches
from ..delivery import Mode, Status
from ..failures import Result
from ..guard import Guard
from .beats import Beats, Slot
from .claiming import Claiming
from .judging import Judging
from .monitor import Monitor
from .settling import Settling
from .tasks import Chunk, Line, State, Task, drained

CHUNK_SECONDS = 0.002
"""How long what a worker takes at a time should take."""
SLOW_SECONDS = 0.005
"""After how long others take from it."""


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
                for line in m.in_turn():
                    route = line.route
                    if route.is_async or not line.runnable:
                        continue
                    if route.workers and line.running >= route.workers:
                        continue
                    self._fill(line, chunk)
                    return partial(self._run, line, chunk, slot)
                if tasks := self._relieve():
                    return partial(self._judging.ran, tasks[0].line, tasks, None)
                if self._steal():
                    continue
                for line in m.in_turn():
                    if batch := self._claiming.carry(line):
                        self._notify()
                        return partial(self._carry, line, batch, chunk, slot)
                self._wait()
        return None

    def _run(self, line: Line, chunk: Chunk, slot: Slot) -> None:
        if line.route.batch:
            tasks = drained(chunk)
            self._run_batch(line, tasks, slot)
        else:
            tasks = self._run_chunk(line, chunk, slot)
        self._judging.ran(line, tasks, time.monotonic() - chunk.began)

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
        self._settling.settle(settling)

    def _notify(self) -> None:
        """Another one goes on with the rest, or looks whether this one is slow."""
        if not self._looking or any(line.runnable for line in self._lines):
            self._monitor.workers.notify()

    def _fill(self, line: Line, chunk: Chunk) -> None:
        m = self._monitor
        n = line.route.batch or max(int(CHUNK_SECONDS / max(line.seconds, 1e-6)), 1)
        running, runnable = State.RUNNING, line.runnable
        for _ in range(min(n, len(runnable), max(m.config.batch, line.route.batch))):
            t = runnable.popleft()
            t.state = running
            chunk.append(t)
        chunk.began = time.monotonic()
        line.running += 1
        self._notify()
        self._claiming.more(line)

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

    def _steal(self) -> bool:
        """Takes what has not begun from one that is slow."""
        for chunk in self._slow():
            try:
                t = chunk.pop()
            except IndexError:
                continue
            t.state = State.RUNNABLE
            t.line.runnable.append(t)
            return True
        return False

    def _run_chunk(self, line: Line, chunk: Chunk, slot: Slot) -> list[Task]:
        """Returns what was not taken by others."""
        guard, route, ran = self._guard, line.route, chunk.ran
        handler, decode, tx = route.handler, route.decode, route.rules.mode is Mode.TX
        try:
            while chunk:
                try:
                    t = chunk.popleft()
                except IndexError:  # another one took it
                    break
                d = t.d
                try:
                    if tx:
                        guard.run_tx(d, handler, decode)
                    else:
                        guard.run(d, handler, decode, slot.begin(d))
                except BaseException as error:  # of this package, or SystemExit of the handler
                    d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
                ran.append(t)
        finally:
            slot.end()
        return drained(chunk.ran)

    def _run_batch(self, line: Line, tasks: list[Task], slot: Slot) -> None:
        route, ds = line.route, [t.d for t in tasks]
        try:
            if route.rules.mode is Mode.TX:
                batches.run_tx_batch(self._guard.handling, ds, route.handler, route.decode)
                return
            slot.begin(*ds)
            batches.run_batch(self._guard.handling, ds, route.handler, route.decode)
        except BaseException as error:
            for d in ds:
                if d.status is Status.READY:
                    d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
        finally:
            slot.end()
