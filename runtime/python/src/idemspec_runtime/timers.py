"""What is to be done later, by one thread."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable


class Timers:
    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._changed = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self, watched: Callable[[Callable[[], None]], Callable[[], None]]) -> None:
        """`watched` makes what the thread does of its loop."""
        loop = watched(self._loop)
        self._thread = threading.Thread(target=loop, name="idem-timers", daemon=True)
        self._thread.start()

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._heap, (time.monotonic() + seconds, next(self._count), do))
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and not self._due():
                    wait = self._heap[0][0] - time.monotonic() if self._heap else None
                    self._changed.wait(wait)
                if self._stopped:
                    return
                do = heapq.heappop(self._heap)[2]
            do()

    def _due(self) -> bool:
        return bool(self._heap) and self._heap[0][0] <= time.monotonic()


class Every:
    """Does something at the first call, and again so many seconds later."""

    def __init__(self, seconds: float, do: Callable[[], object]) -> None:
        self._seconds = seconds
        self._do = do
        self._next = 0.0

    def __call__(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._seconds
            self._do()
