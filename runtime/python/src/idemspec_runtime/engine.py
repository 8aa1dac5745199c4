"""Takes deliveries from the partitions through their stages. It is a monitor: one lock, held for
short and over whole batches, and threads of three kinds that take batches from it.

    admit -> waiting -> claim -> runnable -> run -> settling -> settle -> finish
               ^                                                  |
               +------------- hold (BLOCK), until a timer --------+

Batches gather by themselves: what comes while one call to the store is on its way goes with the
next.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from queue import SimpleQueue

from idemspec import Outcome, decide

from . import batches, coroutines, observe
from .beats import Beats, Slot, interrupt
from .breaker import BreakerState, Verdict
from .delivery import Delivery, Mode, Order, Status
from .failures import Result
from .guard import Guard
from .outages import Outages
from .postgres.asynchronous import AsyncPostgresStore
from .routes import Route
from .timers import Timers
from .watermark import Mark, Watermark

log = logging.getLogger("idemspec")

AHEAD_SECONDS = 0.1
"""For how long work is claimed ahead: no longer, since leases run while claims wait for a
worker."""
CHUNK_SECONDS = 0.0005
"""How long what a worker takes at a time should take."""
MAX_CHUNK = 64


@dataclass(eq=False)
class Part:
    """One partition in one generation. All of it is under the engine's lock."""

    topic: str
    partition: int
    origin: str
    watermark: Watermark = field(default_factory=Watermark)
    tasks: dict[Mark, Task] = field(default_factory=dict)
    size: int = 0
    flight: int = 0
    held: int = 0
    revoked: bool = False
    """Nothing of it begins any more."""
    cancelled: bool = False
    """And its handlers were told to stop."""
    paused: bool = False
    committed: int = -1
    lag: tuple[int, float] | None = None
    """As it was last measured, and when."""

    def labels(self, scope: str) -> dict[str, str]:
        return {"group": scope, "topic": self.topic, "partition": str(self.partition)}


class State(Enum):
    WAITING = 1
    CLAIMING = 2
    RUNNABLE = 3
    RUNNING = 4
    SETTLING = 5
    HELD = 6
    """In its place, until its time comes."""
    GONE = 7


_IN_FLIGHT = (State.CLAIMING, State.RUNNABLE, State.RUNNING, State.SETTLING)
LaneKey = tuple[str, str, bool]


@dataclass(eq=False, slots=True)
class Task:
    """A delivery in the engine."""

    d: Delivery
    part: Part
    route: Route
    size: int
    mark: Mark | None = None
    lane: LaneKey | None = None
    state: State = State.WAITING
    tries: int = 0
    since: float = 0.0
    """When it was first held in place."""
    probe: bool = False
    alone: bool = False
    late: bool = False
    """It could not be settled, and is tried again."""
    to_store: bool = False
    """It was held in place for long enough: it waits in the store."""
    future: Future[None] | None = None
    """Of a coroutine."""
    began: bool = False
    """The coroutine did: one that is cancelled before that says nothing by itself."""
    beside: list[Task] = field(default_factory=list)
    """The tasks of its coroutine, itself included."""


@dataclass(frozen=True)
class EngineConfig:
    workers: int
    window: int
    window_bytes: int
    batch: int


class Engine:
    def __init__(self, guard: Guard, routes: list[Route], config: EngineConfig) -> None:
        self.guard = guard
        self.routes = routes
        self.config = config
        self.outages = Outages()
        self.rows_due: Callable[[], None] = lambda: None
        """Tells the scheduler that rows are due sooner than it knows."""
        self.lock = threading.Lock()
        self._claimers = threading.Condition(self.lock)
        self._workers = threading.Condition(self.lock)
        self._settlers = threading.Condition(self.lock)
        self._landed = threading.Condition(self.lock)
        self._fetchers = threading.Condition(self.lock)
        self._settling: deque[Task] = deque()
        self._lanes: dict[LaneKey, Task | deque[Task]] = {}
        """One alone, which nearly all are, or several in their order."""
        self._suspects: deque[Task] = deque()
        self._alone = False
        self._flight = 0
        self._late = 0
        self._next = 0
        self._chunks: list[deque[Task]] = []
        self._parts: set[Part] = set()
        self._moved: SimpleQueue[str | None] = SimpleQueue()
        """Biz keys whose row has moved; None at the end."""
        self._stopped = False
        self._stopping = threading.Event()
        self._timers = Timers()
        self._beats = Beats(guard)
        self._threads: list[threading.Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._async_store: AsyncPostgresStore | None = None

    # From start to stop

    def start(self) -> None:
        self._timers.start()
        self._beats.start()
        if any(route.is_async for route in self.routes):
            self._start_loop()
        self._spawn(self._claim_loop, "idem-claim")
        self._spawn(self._settle_loop, "idem-settle")
        if any(route.moves for route in self.routes):
            self._spawn(self._wake_loop, "idem-wake")
        if any(not route.is_async for route in self.routes):
            for n in range(self.config.workers):
                self._spawn(self._run_loop, f"idem-worker-{n}")

    def _spawn(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _start_loop(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._spawn(self._loop.run_forever, "idem-asyncio")
        if any(r.is_async and r.rules.mode is Mode.TX for r in self.routes):

            async def opened() -> AsyncPostgresStore:
                return await self.guard.store.asynchronous()

            self._async_store = asyncio.run_coroutine_threadsafe(opened(), self._loop).result()

    def stop(self, seconds: float) -> bool:
        """Ends the threads; False where handlers go on for longer than that."""
        with self.lock:
            self._stopped = True
            self._stopping.set()
            for condition in (self._claimers, self._workers, self._settlers):
                condition.notify_all()
        self._moved.put(None)
        self._beats.stop()
        self._timers.stop()
        if self._loop is not None:
            if self._async_store is not None:
                closing = asyncio.run_coroutine_threadsafe(self._async_store.close(), self._loop)
                closing.result(timeout=5)
            self._loop.call_soon_threadsafe(self._loop.stop)
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        ended = not any(thread.is_alive() for thread in self._threads)
        if self._loop is not None and ended:
            self._loop.close()
        return ended

    # Partitions

    def add(self, part: Part) -> None:
        with self.lock:
            self._parts.add(part)

    def revoke(self, parts: Iterable[Part]) -> None:
        """Ends partitions: nothing of them begins any more, what waits is forgotten, and what is
        claimed and has not begun is given back."""
        parts = set(parts)
        back: list[Task] = []
        with self.lock:
            for part in parts:
                part.revoked = True
            for route in self.routes:
                back += self._recall(route, lambda t: t.part in parts)
            for part in parts:
                for t in list(part.tasks.values()):
                    if t.state in (State.WAITING, State.HELD):
                        self._drop(t)
        self._give_back(back)

    def idle(self, parts: Iterable[Part], seconds: float) -> bool:
        """Waits until nothing of the partitions is in flight; False where that takes longer."""
        parts = list(parts)
        with self.lock:
            return self._landed.wait_for(lambda: not any(p.flight for p in parts), seconds)

    def cancel(self, parts: Iterable[Part]) -> None:
        """Tells the handlers of partitions to stop."""
        with self.lock:
            for part in parts:
                part.cancelled = True
                for t in part.tasks.values():
                    interrupt(t.d)
                    # What of another partition runs in the same batch is not to be cancelled.
                    if t.future is not None and all(b.part.cancelled for b in t.beside):
                        t.future.cancel()

    def end(self, parts: Iterable[Part]) -> None:
        """What is settled later moves nothing."""
        with self.lock:
            for part in parts:
                part.watermark.close()
                self._parts.discard(part)

    def offsets(self, parts: Iterable[Part]) -> list[tuple[Part, int]]:
        """What may be committed and was not."""
        with self.lock:
            return [
                (part, part.watermark.offset)
                for part in parts
                if part.watermark.offset is not None and part.watermark.offset > part.committed
            ]

    @property
    def flight(self) -> int:
        """How many deliveries are on their way."""
        return self._flight

    def progress(self, part: Part) -> tuple[int | None, int]:
        """The offset that may be committed, and the broker's time of the message that holds it."""
        with self.lock:
            oldest = part.watermark.oldest()
            task = None if oldest is None else part.tasks.get(oldest)
            return part.watermark.offset, 0 if task is None else task.d.fetched.time_ms

    def full(self, part: Part) -> bool:
        """Whether the window of a partition has no room. (CONS-004)"""
        with self.lock:
            return self._full(part)

    def _full(self, part: Part) -> bool:
        share = self.config.window_bytes // max(len(self._parts), 1)
        return len(part.watermark) >= self.config.window or part.size >= share

    def hungry(self, seconds: float) -> bool:
        """Waits until there is something to fetch for: where enough is waiting to keep everybody at
        work until more is fetched, what lies ready for longer only costs memory, and the
        collector's time. False where that takes longer."""
        with self.lock:
            return self._fetchers.wait_for(lambda: not self._ample(), seconds)

    def _ample(self) -> bool:
        """It is so with handlers that take next to no time, and so nothing waits for the messages
        of another route."""
        n, work = 0, 0.0
        for route in self.routes:
            if route.batch or route.breaker.state is not BreakerState.CLOSED:
                continue
            n += len(route.waiting)
            work += len(route.waiting) * route.seconds
        return n >= 2 * self.config.batch and work / self.config.workers < AHEAD_SECONDS

    # Admission

    def admit(self, tasks: list[Task]) -> None:
        """Takes what was fetched, in the order of each partition."""
        with self.lock:
            for t in tasks:
                if t.part.revoked:
                    continue
                t.mark = t.part.watermark.add(t.d.fetched.offset)
                if t.mark is None:
                    continue
                t.part.tasks[t.mark] = t
                t.part.size += t.size
                if t.d.status is not Status.OPENED:
                    self._take_off(t, State.SETTLING)
                    self._settling.append(t)
                    continue
                t.lane = _lane_of(t)
                if t.lane is None or self._enter(t, t.lane):
                    self._wait(t)
            self._relieve({t.part for t in tasks})
            self._claimers.notify()
            if self._settling:
                self._settlers.notify()

    def _enter(self, t: Task, lane: LaneKey) -> bool:
        """Puts a task at the end of its lane, and says whether it is the head."""
        others = self._lanes.setdefault(lane, t)
        if others is t:
            return True
        if isinstance(others, Task):
            self._lanes[lane] = deque([others, t])
        else:
            others.append(t)
        return False

    def _leave(self, t: Task) -> None:
        """Takes a task out of its lane, whose next one may begin."""
        if t.lane is None:
            return
        key, t.lane = t.lane, None
        lane = self._lanes[key]
        if lane is t:
            del self._lanes[key]
            return
        assert isinstance(lane, deque), "there are others"
        was_head = lane[0] is t
        if was_head:
            lane.popleft()
        else:
            lane.remove(t)
        if not lane:
            del self._lanes[key]
        elif was_head:
            self._wait(lane[0])
            self._claimers.notify()

    def _wait(self, t: Task) -> None:
        t.state = State.WAITING
        t.route.waiting.append(t)

    def _wait_first(self, t: Task) -> None:
        t.state = State.WAITING
        t.route.waiting.appendleft(t)
        self._claimers.notify()

    def _take_off(self, t: Task, state: State) -> None:
        t.state = state
        t.part.flight += 1
        self._flight += 1

    def _land(self, t: Task) -> None:
        t.part.flight -= 1
        self._flight -= 1
        if t.late:
            t.late = False
            self._late -= 1
        if t.alone:
            t.alone = self._alone = False
            self._claimers.notify()
        if self._suspects:
            self._claimers.notify()
        if not t.part.flight:
            self._landed.notify_all()

    def _drop(self, t: Task) -> None:
        """Forgets a task that is not in flight: its partition is lost."""
        t.state = State.GONE
        self._remove(t)

    def _remove(self, t: Task) -> None:
        assert t.mark is not None, "it was admitted"
        t.part.tasks.pop(t.mark, None)
        t.part.size -= t.size
        self._leave(t)

    def _finish(self, t: Task) -> None:
        """The end of a task in flight whose delivery is settled."""
        assert t.mark is not None, "it was admitted"
        d = t.d
        if d.message is not None and d.message.moved and d.result.outcome is Outcome.OK:
            self._moved.put(d.biz_key)
        self._land(t)
        t.part.watermark.done(t.mark)
        t.state = State.GONE
        self._remove(t)

    def _abandon(self, t: Task) -> None:
        """The end of a task in flight whose delivery is not settled: its partition is lost."""
        self._land(t)
        self._drop(t)

    # Claims

    def _claim_loop(self) -> None:
        while batch := self._take_waiting():
            self._claimed(self._claim_all(batch))

    def _take_waiting(self) -> list[Task]:
        """Waits for a batch; none says that the engine is stopped."""
        with self.lock:
            while not self._stopped:
                if not self._alone:
                    suspects = self._suspected()
                    if suspects:
                        if self._flight == self._late:  # nothing else runs
                            return [self._take_alone(suspects[0])]
                    elif batch := self._fill():
                        return batch
                self._claimers.wait()
        return []

    def _suspected(self) -> list[Task]:
        """What has to be claimed alone. Until it has ended, nothing else is claimed. (DEDUP-024)"""
        if not self._suspects:
            return []
        now = time.monotonic()
        self._suspects = deque(t for t in self._suspects if t.state is not State.GONE)
        return [t for t in self._suspects if t.route.breaker.admits(t.d.key, now, True)]

    def _take_alone(self, t: Task) -> Task:
        self._suspects.remove(t)
        t.alone = self._alone = True
        t.probe = t.route.breaker.starts(t.d.key)
        t.route.claiming += 1
        self._take_off(t, State.CLAIMING)
        return t

    def _fill(self) -> list[Task]:
        """What the routes have room for, each route in its turn first."""
        batch: list[Task] = []
        self._next += 1
        for i in range(len(self.routes)):
            route = self.routes[(self._next + i) % len(self.routes)]
            if route.breaker.state is not BreakerState.CLOSED:
                self._fill_probe(route, batch)
                continue
            room = self._room(route)
            while room > 0 and route.waiting and len(batch) < self.config.batch:
                t = route.waiting.popleft()
                if t.state is State.GONE:
                    continue
                self._take_off(t, State.CLAIMING)
                route.claiming += 1
                batch.append(t)
                room -= 1
        self._fetchers.notify()
        return batch

    def _fill_probe(self, route: Route, batch: list[Task]) -> None:
        """One delivery of another key each time, once it is time. (RETRY-031)"""
        now = time.monotonic()
        waiting = [t for t in route.waiting if t.state is not State.GONE]
        only = len({t.d.key for t in waiting}) <= 1
        for t in waiting:
            if route.breaker.admits(t.d.key, now, only):
                route.waiting.remove(t)
                t.probe = route.breaker.starts(t.d.key)
                self._take_off(t, State.CLAIMING)
                route.claiming += 1
                batch.append(t)
                return

    def _room(self, route: Route) -> int:
        """How many deliveries of a route may be claimed."""
        workers = min(self.config.workers, route.workers or self.config.workers)
        if route.batch:
            ahead = 2 * workers * route.batch
        else:
            ahead = max(workers * int(AHEAD_SECONDS / max(route.seconds, 1e-6)), workers)
            ahead = min(ahead, 2 * self.config.batch)
        room = ahead - len(route.runnable) - route.claiming
        # Not one for each that has begun: a round trip is for many.
        return room if 2 * room >= ahead else 0

    def _claim_all(self, batch: list[Task]) -> list[Task]:
        """Claims a batch, however long the store takes to come back."""
        tries = 0
        while batch:
            try:
                self.guard.claim([t.d for t in batch])
            except Exception as error:
                self.outages.begins("claim", error)
                self._stopping.wait(backoff(tries))
                tries += 1
            else:
                self.outages.over("claim")
                break
            with self.lock:
                lost = [t for t in batch if t.part.revoked or self._stopped]
                for t in lost:
                    t.route.claiming -= 1
                    self._probe_lost(t)
                    self._abandon(t)
            batch = [t for t in batch if t not in lost]
        return batch

    def _claimed(self, batch: list[Task]) -> None:
        back: list[Task] = []
        with self.lock:
            for t in batch:
                t.route.claiming -= 1
                if t.d.status is not Status.READY:
                    self._probe_lost(t)
                    t.state = State.SETTLING
                    self._settling.append(t)
                elif t.part.revoked or not self._may_run(t):
                    back.append(t)
                else:
                    t.state = State.RUNNABLE
                    t.route.runnable.append(t)
            self._dispatch()
            if self._settling:
                self._settlers.notify()
        self._give_back(back)

    def _may_run(self, t: Task) -> bool:
        if t.d.alone and not t.alone:
            return False
        return t.probe or t.route.breaker.state is BreakerState.CLOSED

    def _probe_lost(self, t: Task) -> None:
        if t.probe:
            t.probe = False
            t.route.breaker.probe_lost(time.monotonic())

    def _recall(self, route: Route, wanted: Callable[[Task], bool]) -> list[Task]:
        """Takes back what is claimed and has not begun, in the workers' chunks too."""
        for chunk in self._chunks:
            while chunk:
                try:
                    t = chunk.pop()
                except IndexError:
                    break
                t.state = State.RUNNABLE
                t.route.runnable.appendleft(t)
        back = [t for t in route.runnable if wanted(t)]
        if back:
            route.runnable = deque(t for t in route.runnable if not wanted(t))
            for t in back:
                t.state = State.CLAIMING
        self._workers.notify()
        return back

    def _give_back(self, back: list[Task]) -> None:
        """Returns claims that never began, and puts their tasks where they belong now."""
        if not back:
            return
        suspects = {t for t in back if t.d.alone or t.alone}
        try:
            self.guard.give_back([t.d for t in back])
        except Exception as error:
            log.warning("claims not given back: their leases run out by themselves: %s", error)
        with self.lock:
            for t in reversed(back):  # to the front, so that they keep their order
                self._probe_lost(t)
                if t.part.revoked:
                    self._abandon(t)
                    continue
                self._land(t)
                if t in suspects:
                    t.state = State.WAITING
                    self._suspects.appendleft(t)
                    self._claimers.notify()
                else:
                    self._wait_first(t)

    # Handlers

    def _dispatch(self) -> None:
        """Has somebody run what is runnable."""
        for route in self.routes:
            if not route.runnable:
                continue
            if not route.is_async:
                self._workers.notify()
                continue
            most = route.workers or self.config.workers
            while route.runnable and route.running < most:
                n = min(route.batch or 1, len(route.runnable))
                tasks = [route.runnable.popleft() for _ in range(n)]
                route.running += 1
                assert self._loop is not None, "there is an async route"
                running = self._run_async(route, tasks)
                for t in tasks:
                    t.state, t.began, t.beside = State.RUNNING, False, tasks
                future = asyncio.run_coroutine_threadsafe(running, self._loop)
                for t in tasks:
                    t.future = future
                future.add_done_callback(partial(self._cancelled, tasks))

    def _cancelled(self, tasks: list[Task], future: Future[None]) -> None:
        if future.cancelled() and not tasks[0].began:
            # Not at once: whoever cancels it holds the lock.
            self._timers.after(0, partial(self._never_began, tasks))

    def _never_began(self, tasks: list[Task]) -> None:
        if not tasks[0].began:
            tasks[0].began = True
            self._ran(tasks[0].route, tasks, 0.0)

    async def _run_async(self, route: Route, tasks: list[Task]) -> None:
        tasks[0].began = True
        start = time.monotonic()
        ds = [t.d for t in tasks]
        slot = self._beats.slot()
        try:
            if route.rules.mode is Mode.IDEMPOTENT:
                slot.on_lost = _stop_of(route)
                slot.begin(*ds)
            await self._run_coroutine(route, ds)
        except BaseException as error:  # of this package, or a cancellation that came too late
            for d in ds:
                if d.status is not Status.ENDED or not route.batch:
                    d.end(Result(Outcome.IN_PROGRESS, f"NOT_STARTED: {error!r}"), error)
        finally:
            self._beats.free(slot)
            self._ran(route, tasks, time.monotonic() - start)

    async def _run_coroutine(self, route: Route, ds: list[Delivery]) -> None:
        guard, handler, decode = self.guard, route.handler, route.decode
        if route.rules.mode is Mode.IDEMPOTENT:
            if route.batch:
                await batches.run_batch_async(guard, ds, handler, decode)
            else:
                await coroutines.run(guard, ds[0], handler, decode)
            return
        store = self._async_store
        assert store is not None, "there is an async route in mode tx"
        if route.batch:
            await batches.run_tx_batch_async(guard, store, ds, handler, decode)
        else:
            await coroutines.run_tx(guard, store, ds[0], handler, decode)

    def _run_loop(self) -> None:
        chunk: deque[Task] = deque()
        with self.lock:
            self._chunks.append(chunk)
        slot = self._beats.slot()
        while route := self._take_chunk(chunk):
            start = time.monotonic()
            if route.batch:
                tasks = list(chunk)
                chunk.clear()
                self._run_batch(route, tasks, slot)
            else:
                tasks = []
                while chunk:
                    try:
                        t = chunk.popleft()
                    except IndexError:  # an idle worker took it
                        break
                    tasks.append(t)
                    self._run_one(route, t.d, slot)
            self._ran(route, tasks, time.monotonic() - start)

    def _take_chunk(self, chunk: deque[Task]) -> Route | None:
        """Waits for work; None says that the engine is stopped."""
        with self.lock:
            while not self._stopped:
                for i in range(len(self.routes)):
                    route = self.routes[(self._next + i) % len(self.routes)]
                    if route.is_async or not route.runnable:
                        continue
                    if route.workers and route.running >= route.workers:
                        continue
                    self._fill_chunk(route, chunk)
                    return route
                if self._steal():
                    continue
                behind = any(self._chunks)
                self._workers.wait(0.005 if behind else None)
        return None

    def _fill_chunk(self, route: Route, chunk: deque[Task]) -> None:
        n = route.batch or min(max(int(CHUNK_SECONDS / max(route.seconds, 1e-6)), 1), MAX_CHUNK)
        for _ in range(min(n, len(route.runnable))):
            t = route.runnable.popleft()
            t.state = State.RUNNING
            chunk.append(t)
        route.running += 1
        if any(r.runnable and not r.is_async for r in self.routes):
            self._workers.notify()
        self._claim_more(route)

    def _claim_more(self, route: Route) -> None:
        """Wakes who claims, where there is room."""
        if route.waiting and self._room(route) > 0:
            self._claimers.notify()

    def _steal(self) -> bool:
        """Takes from the others what has not begun: one of them is slow."""
        for chunk in self._chunks:
            try:
                t = chunk.pop()
            except IndexError:
                continue
            t.state = State.RUNNABLE
            t.route.runnable.append(t)
            return True
        return False

    def _run_one(self, route: Route, d: Delivery, slot: Slot) -> None:
        try:
            if route.rules.mode is Mode.TX:
                self.guard.run_tx(d, route.handler, route.decode)
                return
            slot.begin(d)
            self.guard.run(d, route.handler, route.decode)
        except BaseException as error:  # of this package, or SystemExit of the handler
            d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
        finally:
            slot.end()

    def _run_batch(self, route: Route, tasks: list[Task], slot: Slot) -> None:
        ds = [t.d for t in tasks]
        try:
            if route.rules.mode is Mode.TX:
                batches.run_tx_batch(self.guard, ds, route.handler, route.decode)
                return
            slot.begin(*ds)
            batches.run_batch(self.guard, ds, route.handler, route.decode)
        except BaseException as error:
            for d in ds:
                if d.status is Status.READY:
                    d.end(Result(Outcome.RETRYABLE, f"PANIC: {error!r}"), error)
        finally:
            slot.end()

    def _ran(self, route: Route, tasks: list[Task], seconds: float) -> None:
        """Hands on what a chunk came to."""
        back: list[Task] = []
        due = False
        with self.lock:
            route.running -= 1
            if tasks:
                route.seconds += (seconds / len(tasks) - route.seconds) / 4
            quiet = route.breaker.quiet
            for t in tasks:
                if route.is_async:
                    t.future, t.beside = None, []
                if not quiet or t.d.result.outcome is not Outcome.OK or t.part.cancelled:
                    quiet = False
                    back += self._judge(t)
                if t.d.completed and self.guard.settled_by_handler(t.d):
                    due = due or _brings_due(t.d)
                    self._finish(t)
                    continue
                t.state = State.SETTLING
                self._settling.append(t)
            if self._settling:
                self._settlers.notify()
            if route.is_async:
                self._dispatch()
                self._claim_more(route)
        self._give_back(back)
        if due:
            self.rows_due()

    def _judge(self, t: Task) -> list[Task]:
        """Sees what a delivery says of its route, and makes a DEFER of a failure that says nothing
        of the message itself: the route rests, or the handler was told to stop. Returns what is to
        be given back, where the route rests from now on."""
        breaker, d, now = t.route.breaker, t.d, time.monotonic()
        if d.status is not Status.ENDED:  # the handler was never asked
            d.end(Result(Outcome.IN_PROGRESS, "NOT_STARTED: the consumer ends"), d.error)
        verdict = _verdict(d)
        stopped = (
            verdict is Verdict.BROKE
            and t.part.cancelled
            and isinstance(d.error, asyncio.CancelledError)
        )
        if stopped:
            verdict = Verdict.NEITHER
        was, probe, t.probe = breaker.state, t.probe, False
        if breaker.ends(d.key, verdict, probe, now):
            wait = max(int((breaker.until - now) * 1000), 0)
            d.end(Result(Outcome.IN_PROGRESS, d.result.reason, wait), d.error)
        elif stopped:
            d.end(Result(Outcome.IN_PROGRESS), d.error)
        if probe or was is not breaker.state:
            return self._breaker_moved(t.route, was, d)
        return []

    def _breaker_moved(self, route: Route, was: BreakerState, d: Delivery) -> list[Task]:
        state = route.breaker.state
        labels = {"group": self.guard.scope, "event_type": route.event_type}
        if state is BreakerState.CLOSED:
            if was is not state:
                log.warning("route %s works again", route.event_type)
                self.guard.measure(observe.BREAKER_OPEN, 0, **labels)
            self._claimers.notify()
            return []
        self._timers.after(max(route.breaker.until - time.monotonic(), 0), self._wake_claimers)
        if was is BreakerState.CLOSED:
            log.warning("route %s rests: its handler fails: %s", route.event_type, d.error)
            self.guard.measure(observe.BREAKER_OPEN, 1, **labels)
            return self._recall(route, lambda t: not t.probe and t.route is route)
        return []

    def _wake_claimers(self) -> None:
        with self.lock:
            self._claimers.notify()

    # Settlement

    def _settle_loop(self) -> None:
        while batch := self._take_settling():
            try:
                failures = self.guard.settle([t.d for t in batch])
            except Exception as error:
                failures = [error]
            self._settled(batch, failures)

    def _take_settling(self) -> list[Task]:
        with self.lock:
            while not self._settling:
                if self._stopped:
                    return []
                self._settlers.wait()
            batch: list[Task] = []
            while self._settling and len(batch) < self.config.batch:
                t = self._settling.popleft()
                # What may have been written as held stays held: nothing else follows from it.
                if t.route.blocks and t.tries == 0:
                    t.d.hold_in_place = t.d.status is Status.ENDED and self._may_hold(t)
                batch.append(t)
            return batch

    def _settled(self, batch: list[Task], failures: list[Exception]) -> None:
        if failures:
            self.outages.begins("settle", failures[0])
        else:
            self.outages.over("settle")
        due = False
        with self.lock:
            for t in batch:
                d = t.d
                if d.settled and d.in_place:
                    self._hold(t)
                elif d.settled:
                    due = due or _brings_due(d)
                    self._finish(t)
                elif d.status is Status.OPENED:  # the lane that it was to wait in is free by now
                    if t.part.revoked:
                        self._abandon(t)
                    else:
                        self._land(t)
                        self._wait_first(t)
                else:
                    self._settle_later(t)
            self._claimers.notify()
        if due:
            self.rows_due()

    def _settle_later(self, t: Task) -> None:
        """Tries again what is not durable, for as long as it takes: it is never acknowledged
        before. (CONS-003)"""
        wait = backoff(t.tries)
        t.tries += 1
        if not t.late:
            t.late = True
            self._late += 1

        def again() -> None:
            with self.lock:
                self._settling.append(t)
                self._settlers.notify()

        self._timers.after(wait, again)

    def _wake_loop(self) -> None:
        """Makes due now what waits for a state that has moved, beside all else: that it is late or
        lost costs time alone. (STATE-012)"""
        while (biz_key := self._moved.get()) is not None:
            try:
                self.guard.store.wake(self.guard.scope, biz_key)
            except Exception as error:
                log.info("held messages of %s fall due by themselves: %s", biz_key, error)
            else:
                self.rows_due()

    # Messages that are held in place

    def _may_hold(self, t: Task) -> bool:
        """Whether a message of a BLOCK route may stay in its place: it may not hold its key for too
        long, nor fill its partition's window, where it can wait in the store. (CONS-012)"""
        d = t.d
        if t.to_store:
            return False
        if d.lane is None:
            return True
        if self._crowded(t.part):
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
        return again - (t.since or now) <= t.route.hold

    def _crowded(self, part: Part) -> bool:
        """What only waits should do so elsewhere."""
        return 2 * len(part.watermark) >= self.config.window

    def _hold(self, t: Task) -> None:
        """Keeps a message in its place until it is tried again."""
        d = t.d
        if t.part.revoked:
            self._abandon(t)
            return
        self._land(t)
        wait = (d.decision.delay_ms or 0) / 1000
        t.since = t.since or time.monotonic()
        t.state, t.tries = State.HELD, 0
        t.part.held += 1
        if d.decision.retry_count is not None and d.decision.hold_count is not None:
            d.retry_count, d.hold_count = d.decision.retry_count, d.decision.hold_count
        d.again()

        def again() -> None:
            with self.lock:
                if t.state is State.HELD:
                    t.part.held -= 1
                    self._wait(t)  # at the end, so that each probe is of another message
                    self._claimers.notify()

        self._timers.after(wait, again)

    def _relieve(self, parts: set[Part]) -> None:
        """Sends to the store what is held in place and keeps a window from moving. (CONS-012)"""
        for part in parts:
            if not part.held or not self._crowded(part):
                continue
            oldest = part.watermark.oldest()
            for mark, t in list(part.tasks.items()):
                stuck = self._full(part) or mark is oldest
                if stuck and t.state is State.HELD and t.d.lane is not None:
                    t.to_store = True
                    part.held -= 1
                    self._wait_first(t)


def _stop_of(route: Route) -> Callable[[Delivery], None]:
    """What stops a coroutine whose lease is lost; one of a batch is told, and the others go on."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def cancel(_: Delivery) -> None:
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)

    return interrupt if route.batch else cancel


def _lane_of(t: Task) -> LaneKey | None:
    """What runs one after the other: on an ordered route a lane of the spec, on an unordered one
    the copies of one message, which would only find each other's claim."""
    if t.route.rules.order is not Order.UNORDERED and t.d.biz_key:
        return t.d.origin, t.d.biz_key, False
    return (t.d.origin, t.d.key, True) if t.d.key else None


def _verdict(d: Delivery) -> Verdict:
    """What a delivery says of what its route depends on."""
    if d.result.outcome is Outcome.OK:
        return Verdict.WORKED
    if d.result.outcome in (Outcome.RETRYABLE, Outcome.THROTTLED):
        return Verdict.BROKE
    return Verdict.NEITHER


def _brings_due(d: Delivery) -> bool:
    """Whether a settlement has made a row due: the delivery to come, or the next one of a lane
    whose head this was."""
    if d.decision.delay_ms is not None and d.status is not Status.PARKED:
        return d.decision.delay_ms < 1000  # the scheduler looks once in a second by itself
    return d.lane is not None and d.grant is not None and d.grant.head


def backoff(tries: int) -> float:
    """How long to wait for something that is down, in seconds."""
    return float(min(0.05 * 2 ** min(tries, 10), 5.0))
