"""Takes deliveries from the partitions through their stages. It is a monitor: one lock, held for
short and over whole batches, and threads of three kinds that take batches from it.

    admit -> waiting -> claim -> runnable -> run -> settling -> settle -> finish
               ^                                                  |
               +------------- hold (BLOCK), until a timer --------+

Batches gather by themselves: what comes while one call to the store is on its way goes with the
next.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from ..delivery import Status
from ..guard import Guard
from ..outages import Outages
from ..routes import Route
from .beats import Beats, interrupt
from .claiming import Claiming
from .eventloop import EventLoop
from .judging import Judging
from .monitor import EngineConfig, Monitor
from .settling import Settling
from .tasks import Part, State, Task
from .workers import Workers

log = logging.getLogger("idemspec")


class Engine:
    def __init__(
        self, guard: Guard, routes: list[Route], config: EngineConfig, failed: Callable[[], None]
    ) -> None:
        """`failed` is told that a thread has ended by an error, which is `error` then."""
        self.guard = guard
        self._failed = failed
        self.outages = Outages()
        self.error: BaseException | None = None
        """What has ended one of the threads."""
        self._monitor = m = Monitor(routes, config)
        self.lines = m.lines
        self._beats = Beats(guard)
        self._claiming = Claiming(m, guard, self.outages, self._dispatch)
        self._settling = Settling(m, guard, self.outages)
        judging = Judging(m, guard, self._claiming)
        self._workers = Workers(m, guard, self._beats, self._claiming, judging, self._settling)
        self._loop: EventLoop | None = None
        if any(route.is_async for route in routes):
            self._loop = EventLoop(m, guard, self._beats, self._claiming, judging)
        self._routes = routes
        self._threads: list[threading.Thread] = []

    # From start to stop

    def start(self, rows_due: Callable[[], None]) -> None:
        """`rows_due` tells the scheduler that rows are due sooner than it knows."""
        self._monitor.rows_due = rows_due
        self._monitor.timers.start(self.watched)
        self._beats.start(self.watched)
        if self._loop is not None:
            self._spawn(self._loop.run, "idem-asyncio")
            self._loop.open()
        self._spawn(self._claiming.loop, "idem-claim")
        self._spawn(self._settling.loop, "idem-settle")
        if any(route.moves for route in self._routes):
            self._spawn(self._wake_loop, "idem-wake")
        if any(not route.is_async for route in self._routes):
            for n in range(self._monitor.config.workers):
                self._spawn(self._workers.loop, f"idem-worker-{n}")

    def _spawn(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=self.watched(target), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def watched(self, target: Callable[[], None]) -> Callable[[], None]:
        """What a thread does, whose end by an error is no business of its own: without it messages
        would wait for ever."""

        def run() -> None:
            try:
                target()
            except BaseException as error:
                log.critical(
                    "thread %s has ended, and the consumer with it; what is not durable is not "
                    "acknowledged: %r",
                    threading.current_thread().name,
                    error,
                )
                with self._monitor.lock:
                    self.error = self.error or error
                    self._monitor.landed.notify_all()
                self._failed()

        return run

    def stop(self, seconds: float) -> bool:
        """Ends the threads; False where handlers go on for longer than that."""
        self._monitor.stop()
        self._beats.stop()
        self._monitor.timers.stop()
        if self._loop is not None:
            self._loop.stop()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        ended = not any(thread.is_alive() for thread in self._threads)
        if self._loop is not None and ended:
            self._loop.close()
        return ended

    def _wake_loop(self) -> None:
        """Makes due now what waits for a state that has moved, beside all else: that it is late or
        lost costs time alone. (STATE-012)"""
        while (biz_key := self._monitor.moved.get()) is not None:
            try:
                self.guard.store.wake(self.guard.scope, biz_key)
            except Exception as error:
                log.info("held messages of %s fall due by themselves: %s", biz_key, error)
            else:
                self._monitor.rows_due()

    def _dispatch(self) -> None:
        """Has somebody run what is runnable."""
        for line in self.lines.values():
            if not line.runnable:
                continue
            if not line.route.is_async:
                self._monitor.workers.notify()
            elif self._loop is not None:
                self._loop.dispatch(line)

    # Admission

    def hungry(self, seconds: float) -> bool:
        """Waits until there is something to fetch for: where enough is waiting to keep everybody at
        work until more is fetched, what lies ready for longer only costs memory, and the
        collector's time. False where that takes longer."""
        m = self._monitor
        with m.lock:
            return m.fetchers.wait_for(lambda: not m.ample(), seconds)

    def admit(self, tasks: list[Task]) -> None:
        """Takes what was fetched, in the order of each partition."""
        m = self._monitor
        opened = Status.OPENED
        with m.lock:
            for t in tasks:
                part = t.part
                if part.revoked or not part.watermark.add(t):
                    continue
                part.size += t.size
                if t.d.status is not opened:
                    m.take_off(t, State.SETTLING)
                    m.settling.append(t)
                elif m.enter(t):
                    t.line.waiting.append(t)
            self._settling.relieve({t.part for t in tasks})
            self._claiming.ask()
            if m.settling:
                m.settlers.notify()

    def full(self, part: Part) -> bool:
        """Whether the window of a partition has no room. (CONS-004)"""
        with self._monitor.lock:
            return self._monitor.full(part)

    # Partitions

    def add(self, part: Part) -> None:
        with self._monitor.lock:
            self._monitor.parts.add(part)

    def revoke(self, parts: Iterable[Part]) -> None:
        """Ends partitions: nothing of them begins any more, what waits is forgotten, and what is
        claimed and has not begun is given back."""
        m, parts = self._monitor, set(parts)
        back: list[Task] = []
        with m.lock:
            for part in parts:
                part.revoked = True
            for line in self.lines.values():
                back += m.recall(line, lambda t: t.part in parts)
            for part in parts:
                for t in part.tasks():
                    if t.state in (State.WAITING, State.HELD):
                        m.drop(t)
        self._claiming.give_back(back)

    def idle(self, parts: Iterable[Part], seconds: float) -> bool:
        """Waits until nothing of the partitions is in flight; False where that takes longer, or
        will never be."""
        parts, m = list(parts), self._monitor

        def landed() -> bool:
            return self.error is not None or not any(part.flight for part in parts)

        with m.lock:
            return m.landed.wait_for(landed, seconds) and self.error is None

    def cancel(self, parts: Iterable[Part]) -> None:
        """Tells the handlers of partitions to stop."""
        with self._monitor.lock:
            for part in parts:
                part.cancelled = True
                for t in part.tasks():
                    interrupt(t.d)
                    # What of another partition runs in the same batch is not to be cancelled.
                    if t.future is not None and all(b.part.cancelled for b in t.beside):
                        t.future.cancel()

    def end(self, parts: Iterable[Part]) -> None:
        """What is settled later moves nothing."""
        with self._monitor.lock:
            for part in parts:
                part.watermark.close()
                self._monitor.parts.discard(part)

    def offsets(self, parts: Iterable[Part]) -> list[tuple[Part, int]]:
        """What may be committed and was not."""
        with self._monitor.lock:
            return [
                (part, part.watermark.offset)
                for part in parts
                if part.watermark.offset is not None and part.watermark.offset > part.committed
            ]

    @property
    def flight(self) -> int:
        """How many deliveries are on their way."""
        return self._monitor.flight

    def progress(self, part: Part) -> tuple[int | None, int]:
        """The offset that may be committed, and the broker's time of the message that holds it."""
        with self._monitor.lock:
            oldest = part.watermark.oldest()
            return part.watermark.offset, 0 if oldest is None else oldest.d.fetched.time_ms
