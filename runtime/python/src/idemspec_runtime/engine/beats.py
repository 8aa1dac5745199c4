"""The renewal of leases while handlers run: at a third of each, many in one call. (DEDUP-028)"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from ..delivery import Delivery
from ..errors import StoreError
from ..guard import Guard
from ..records import Renewal


class Slot:
    """What one thread or coroutine runs."""

    __slots__ = ("began", "on_lost", "running")

    def __init__(self) -> None:
        self.running: tuple[Delivery, ...] = ()
        self.began = 0.0
        self.on_lost: Callable[[Delivery], None] = interrupt

    def begin(self, now: float, *deliveries: Delivery) -> None:
        self.began, self.running = now, deliveries

    def end(self) -> None:
        self.running = ()


def interrupt(d: Delivery) -> None:
    """Tells a handler to stop."""
    if d.message is not None:
        d.message.cancelled = True


class Beats:
    """Stops at a handler's time limit: who takes longer than that may lose the key."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._lease = guard.config.lease.total_seconds()
        self._slots: dict[Slot, None] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, watched: Callable[[Callable[[], None]], Callable[[], None]]) -> None:
        """`watched` makes what the thread does of its loop."""
        loop = watched(self._loop)
        self._thread = threading.Thread(target=loop, name="idem-beats", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def slot(self) -> Slot:
        slot = Slot()
        self._slots[slot] = None
        return slot

    def free(self, slot: Slot) -> None:
        self._slots.pop(slot, None)

    def _loop(self) -> None:
        while not self._stopped.wait(max(self._lease / 12, 0.001)):
            self._tick()

    def _tick(self) -> None:
        now = time.monotonic()
        due = []
        for slot in list(self._slots):  # a copy, in one step
            for d in slot.running:
                if d.lease is None or now - d.claimed < self._lease / 3:
                    continue
                if now - slot.began < self._guard.timeout(d.rules).total_seconds():
                    renewal = Renewal(d.lease, self._guard.config.lease // _MILLISECOND)
                    due.append((slot, d, renewal))
        if not due:
            return
        try:
            held = self._guard.store.renew([renewal for _, _, renewal in due])
        except StoreError:
            return  # nobody knows: the next tick asks again
        for (slot, d, _), is_held in zip(due, held, strict=True):
            if is_held:
                d.claimed = now
            elif d in slot.running:
                d.lost = True
                slot.on_lost(d)


_MILLISECOND = timedelta(milliseconds=1)
