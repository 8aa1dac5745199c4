"""What the stages of the engine share: one lock, held for short and over whole batches, what waits
for each stage, and the lanes. Every method but those of threads that wait is called under the
lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import SimpleQueue

from idemspec import Outcome

from ..breaker import BreakerState
from ..delivery import Status
from ..routes import Route
from ..timers import Timers
from .tasks import Chunk, LaneKey, Line, Part, State, Task

AHEAD_SECONDS = 0.1
"""For how long work is claimed ahead: no longer, since leases run while claims wait for a
worker."""


@dataclass(frozen=True)
class EngineConfig:
    workers: int
    window: int
    window_bytes: int
    batch: int


class Monitor:
    def __init__(self, routes: Iterable[Route], config: EngineConfig) -> None:
        self.config = config
        self.lines = {route.event_type: Line(route) for route in routes}
        self.lock = threading.Lock()
        self.claimers = threading.Condition(self.lock)
        self.workers = threading.Condition(self.lock)
        self.settlers = threading.Condition(self.lock)
        self.landed = threading.Condition(self.lock)
        self.fetchers = threading.Condition(self.lock)
        self.settling: deque[Task] = deque()
        self.chunks: list[Chunk] = []
        self.idle = 0
        """Workers that wait."""
        self.suspects: deque[Task] = deque()
        self.alone = False
        """A suspect runs."""
        self.flight = 0
        self.late = 0
        self.parts: set[Part] = set()
        self.moved: SimpleQueue[str | None] = SimpleQueue()
        """Biz keys whose row has moved; None at the end."""
        self.stopped = False
        self.stopping = threading.Event()
        self.rows_due: Callable[[], None] = lambda: None
        """Tells the scheduler that rows are due sooner than it knows."""
        self.timers = Timers()
        self._order = list(self.lines.values())
        self._next = 0
        self._lanes: dict[LaneKey, Task | deque[Task]] = {}
        """One alone, which nearly all are, or several in their order."""

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            self.stopping.set()
            for condition in (self.claimers, self.workers, self.settlers):
                condition.notify_all()
        self.moved.put(None)

    def in_turn(self) -> list[Line]:
        """All lines, each time another one first."""
        self._next = (self._next + 1) % len(self._order)
        return self._order[self._next :] + self._order[: self._next]

    # Windows

    def full(self, part: Part) -> bool:
        """Whether the window of a partition has no room. (CONS-004)"""
        share = self.config.window_bytes // max(len(self.parts), 1)
        return len(part.watermark) >= self.config.window or part.size >= share

    def crowded(self, part: Part) -> bool:
        """What only waits should do so elsewhere."""
        return 2 * len(part.watermark) >= self.config.window

    def ample(self) -> bool:
        """Whether enough waits to keep everybody at work until more is fetched. It is so with
        handlers that take next to no time, and so nothing waits for the messages of another
        route."""
        n, work = 0, 0.0
        for line in self._order:
            if line.route.batch or line.route.breaker.state is not BreakerState.CLOSED:
                continue
            n += len(line.waiting)
            work += len(line.waiting) * line.seconds
        return n >= 2 * self.config.batch and work / self.config.workers < AHEAD_SECONDS

    # Lanes

    def enter(self, t: Task) -> bool:
        """Puts a task at the end of its lane, and says whether it is the head."""
        t.lane = lane = t.lane_key()
        if lane is None:
            return True
        others = self._lanes.setdefault(lane, t)
        if others is t:
            return True
        if isinstance(others, Task):
            self._lanes[lane] = deque([others, t])
        else:
            others.append(t)
        return False

    def leave(self, t: Task) -> None:
        """Takes a task out of its lane, whose next one may begin."""
        if t.lane is None:
            return
        key, t.lane = t.lane, None
        lane = self._lanes[key]
        if lane is t:  # it is alone
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
            self.wait(lane[0])
            self.claimers.notify()

    # From waiting to the end

    def wait(self, t: Task) -> None:
        t.state = State.WAITING
        t.line.waiting.append(t)

    def wait_first(self, t: Task) -> None:
        t.state = State.WAITING
        t.line.waiting.appendleft(t)
        self.claimers.notify()

    def take_off(self, t: Task, state: State) -> None:
        t.state = state
        t.part.flight += 1
        self.flight += 1

    def land(self, t: Task) -> None:
        part = t.part
        part.flight -= 1
        self.flight -= 1
        if t.late or t.alone or self.suspects or not part.flight:
            self._landed(t)

    def _landed(self, t: Task) -> None:
        if t.late:
            t.late = False
            self.late -= 1
        if t.alone:
            t.alone = self.alone = False
            self.claimers.notify()
        if self.suspects:
            self.claimers.notify()
        if not t.part.flight:
            self.landed.notify_all()

    def drop(self, t: Task) -> None:
        """Forgets a task that is not in flight: its partition is lost."""
        t.state = State.GONE
        t.part.size -= t.size
        self.leave(t)

    def abandon(self, t: Task) -> None:
        """The end of a task in flight whose delivery is not settled: its partition is lost."""
        self.land(t)
        self.drop(t)

    def finish(self, t: Task) -> None:
        """The end of a task in flight whose delivery is settled."""
        message = t.d.message
        if message is not None and message.moved and t.d.result.outcome is Outcome.OK:
            self.moved.put(t.d.biz_key)
        self.land(t)
        t.part.watermark.done(t)
        self.drop(t)

    def settle(self, t: Task) -> None:
        t.state = State.SETTLING
        self.settling.append(t)

    def recall(self, line: Line, wanted: Callable[[Task], bool]) -> list[Task]:
        """Takes back what is claimed and has not begun, in the workers' chunks too."""
        for chunk in self.chunks:
            while chunk:
                try:
                    t = chunk.pop()
                except IndexError:
                    break
                t.state = State.RUNNABLE
                t.line.runnable.appendleft(t)
        back = [t for t in line.runnable if wanted(t)]
        if back:
            line.runnable = deque(t for t in line.runnable if not wanted(t))
            for t in back:
                t.state = State.CLAIMING
        self.workers.notify()
        return back


def brings_due(t: Task) -> bool:
    """Whether a settlement has made a row due: the delivery to come, or the next one of a lane
    whose head this was."""
    d = t.d
    if d.decision.delay_ms is not None and d.status is not Status.PARKED:
        return d.decision.delay_ms < 1000  # the scheduler looks once in a second by itself
    return d.lane is not None and d.grant is not None and d.grant.head
