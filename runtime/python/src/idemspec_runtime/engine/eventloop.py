"""The thread of asyncio that runs handlers which are coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from idemspec import Outcome

from .. import batches, coroutines
from ..delivery import Delivery, Mode, Status
from ..failures import Result
from ..guard import Guard
from ..postgres.asynchronous import AsyncPostgresStore
from ..routes import Route
from .beats import Beats, interrupt
from .claiming import Claiming
from .judging import Judging
from .monitor import Monitor
from .tasks import Line, State, Task


class EventLoop:
    def __init__(
        self, monitor: Monitor, guard: Guard, beats: Beats, claiming: Claiming, judging: Judging
    ) -> None:
        self._monitor = monitor
        self._guard = guard
        self._beats = beats
        self._claiming = claiming
        self._judging = judging
        self._loop = asyncio.new_event_loop()
        self._store: AsyncPostgresStore | None = None

    def run(self) -> None:
        self._loop.run_forever()

    def open(self) -> None:
        """Once it runs."""
        routes = (line.route for line in self._monitor.lines.values())
        if any(route.is_async and route.rules.mode is Mode.TX for route in routes):

            async def opened() -> AsyncPostgresStore:
                return await self._guard.store.asynchronous()

            self._store = asyncio.run_coroutine_threadsafe(opened(), self._loop).result()

    def stop(self) -> None:
        if self._store is not None:
            asyncio.run_coroutine_threadsafe(self._store.close(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Once it has ended."""
        self._loop.close()

    def dispatch(self, line: Line) -> None:
        """Begins what is runnable. It is called under the lock."""
        route, runnable = line.route, line.runnable
        most = route.workers or self._monitor.config.workers
        while runnable and line.running < most:
            n = min(route.batch or 1, len(runnable))
            tasks = tuple(runnable.popleft() for _ in range(n))
            line.running += 1
            for t in tasks:
                t.state, t.began, t.beside = State.RUNNING, False, tasks
            future = asyncio.run_coroutine_threadsafe(self._run(line, tasks), self._loop)
            for t in tasks:
                t.future = future
            future.add_done_callback(partial(self._cancelled, line, tasks))

    def _cancelled(self, line: Line, tasks: tuple[Task, ...], future: Future[None]) -> None:
        if future.cancelled() and not tasks[0].began:
            # Not at once: whoever cancels it holds the lock.
            self._monitor.timers.after(0, partial(self._never_began, line, tasks))

    def _never_began(self, line: Line, tasks: tuple[Task, ...]) -> None:
        if not tasks[0].began:
            tasks[0].began = True
            self._ran(line, tasks, 0.0)

    def _ran(self, line: Line, tasks: tuple[Task, ...], seconds: float) -> None:
        with self._monitor.lock:
            for t in tasks:
                t.future, t.beside = None, ()
        self._judging.ran(line, list(tasks), seconds)
        with self._monitor.lock:
            self.dispatch(line)
            self._claiming.ask()

    async def _run(self, line: Line, tasks: tuple[Task, ...]) -> None:
        tasks[0].began = True
        route, start = line.route, time.monotonic()
        ds = [t.d for t in tasks]
        slot = self._beats.slot()
        try:
            if route.rules.mode is Mode.IDEMPOTENT:
                slot.on_lost = _stop_of(route)
                slot.begin(start, *ds)
            await self._handle(route, ds)
        except BaseException as error:  # of this package, or a cancellation that came too late
            for d in ds:
                if d.status is not Status.ENDED or not route.batch:
                    d.end(Result(Outcome.IN_PROGRESS, f"NOT_STARTED: {error!r}"), error)
        finally:
            self._beats.free(slot)
            self._ran(line, tasks, time.monotonic() - start)

    async def _handle(self, route: Route, ds: list[Delivery]) -> None:
        guard, handler, decode = self._guard, route.handler, route.decode
        if route.rules.mode is Mode.IDEMPOTENT:
            if route.batch:
                await batches.run_batch_async(guard.handling, ds, handler, decode)
            else:
                await coroutines.run(guard.handling, ds[0], handler, decode)
            return
        store = self._store
        assert store is not None, "there is an async route in mode tx"
        if route.batch:
            await batches.run_tx_batch_async(guard.handling, store, ds, handler, decode)
        else:
            await coroutines.run_tx(guard.handling, store, ds[0], handler, decode)


def _stop_of(route: Route) -> Callable[[Delivery], None]:
    """What stops a coroutine whose lease is lost; one of a batch is told, and the others go on."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def cancel(_: Delivery) -> None:
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)

    return interrupt if route.batch else cancel
