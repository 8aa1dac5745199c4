"""The renewal of leases while handlers run: at a third of each, many in one call. (DEDUP-028)"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from .delivery import Delivery
from .errors import StoreError
from .guard import Guard
from .records import Renewal


class Beats:
    """Stops at a handler's time limit: who takes longer than that may lose the key."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._lease = guard.config.lease.total_seconds()
        self._running: dict[Delivery, tuple[float, Callable[[], None]]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="idem-beats", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def add(self, d: Delivery, on_lost: Callable[[], None]) -> None:
        self._running[d] = time.monotonic(), on_lost

    def remove(self, d: Delivery) -> None:
        self._running.pop(d, None)

    def _loop(self) -> None:
        while not self._stopped.wait(max(self._lease / 12, 0.001)):
            self._tick()

    def _tick(self) -> None:
        now = time.monotonic()
        due = []
        for d, (began, _) in list(self._running.items()):  # a copy, in one step
            if d.lease is None or now - d.claimed < self._lease / 3:
                continue
            if now - began < self._guard.timeout(d.rules).total_seconds():
                due.append((d, Renewal(d.lease, self._guard.config.lease // _MILLISECOND)))
        if not due:
            return
        try:
            held = self._guard.store.renew([renewal for _, renewal in due])
        except StoreError:
            return  # nobody knows: the next tick asks again
        for (d, _), is_held in zip(due, held, strict=True):
            running = self._running.get(d)
            if is_held:
                d.claimed = now
            elif running is not None:
                d.lost = True
                running[1]()


_MILLISECOND = timedelta(milliseconds=1)
