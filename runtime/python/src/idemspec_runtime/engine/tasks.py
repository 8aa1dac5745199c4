"""What the engine moves from stage to stage: deliveries, and the partitions and routes they are of.
All of it is under the engine's lock."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum

from ..delivery import Delivery, Order
from ..routes import Route
from ..watermark import Mark, Watermark

LaneKey = tuple[str, str] | str
"""What runs one after the other: on an ordered route a lane of the spec, on an unordered one the
copies of one message, by its key, which would only find each other's claim."""


class State(Enum):
    WAITING = 1
    CLAIMING = 2
    RUNNABLE = 3
    RUNNING = 4
    SETTLING = 5
    HELD = 6
    """In its place, until its time comes."""
    GONE = 7


class Task(Mark):
    """A delivery in the engine."""

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
    beside: tuple[Task, ...] = ()
    """The tasks of its coroutine, itself included."""

    def __init__(self, d: Delivery, part: Part, line: Line, size: int) -> None:
        self.offset = d.fetched.offset
        self.d = d
        self.part = part
        self.line = line
        self.size = size

    def lane_key(self) -> LaneKey | None:
        d = self.d
        if d.rules.order is not Order.UNORDERED and d.biz_key:
            return d.origin, d.biz_key
        return d.key or None


class Chunk(deque[Task]):
    """What a worker has taken and not begun. It takes from the left, others from the right, without
    the lock."""

    began: float = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.ran: deque[Task] = deque()
        """What it has run and not handed on, as others do where it is slow."""


def drained(tasks: deque[Task]) -> list[Task]:
    """All of them; each is taken by one, whoever else takes from the same."""
    taken: list[Task] = []
    try:
        while True:
            taken.append(tasks.popleft())
    except IndexError:
        return taken


@dataclass(eq=False)
class Line:
    """A route at work: what waits for its handler."""

    route: Route
    waiting: deque[Task] = field(default_factory=deque)
    """To be claimed."""
    runnable: deque[Task] = field(default_factory=deque)
    claiming: int = 0
    running: int = 0
    seconds: float = 0.001
    """Moving average of what a handler takes."""
    carriers: int = 0
    """How many workers claim for it, or run what they have claimed."""
    carried: float = 0.0
    """When one of them last got further."""


@dataclass(eq=False)
class Part:
    """One partition in one generation."""

    topic: str
    partition: int
    origin: str
    watermark: Watermark[Task] = field(default_factory=Watermark)
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

    def tasks(self) -> list[Task]:
        """Those that have not ended."""
        return [t for t in self.watermark if t.state is not State.GONE]


def backoff(tries: int) -> float:
    """How long to wait for something that is down, in seconds."""
    return float(min(0.05 * 2 ** min(tries, 10), 5.0))
