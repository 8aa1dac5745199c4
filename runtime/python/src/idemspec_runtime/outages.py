"""What is down, since when, and when it was last said."""

from __future__ import annotations

import logging
import threading
import time

log = logging.getLogger("idemspec")

SAY_EVERY = 10.0

_ADVICE = {
    "check": "the store is not ready: nothing is fetched before it is; see the error",
    "topics": "the broker does not answer: check its address and credentials",
    "fetch": "messages are not fetched: check that the broker is reachable",
    "claim": "messages wait, and none is lost: check that the store is reachable",
    "settle": "messages are handled and not yet acknowledged, and none is lost: check that the "
    "store is reachable",
    "commit": "offsets are not committed, and none is lost: check that the broker is reachable",
    "outbox": "messages of the outbox wait, and none is lost; see the error",
    "audit": "what became of deliveries is not counted in the store, and nothing else is affected",
    "clean": "expired records are not removed",
    "retries": "retries that are due wait, and none is lost; see the error",
}


class Outages:
    """Says what fails, but not all the time. All of it goes on by itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._down: dict[str, tuple[float, float]] = {}

    def begins(self, what: str, error: Exception) -> None:
        now = time.monotonic()
        with self._lock:
            since, said = self._down.get(what, (now, now - SAY_EVERY))
            say = now - said >= SAY_EVERY
            self._down[what] = since, now if say else said
        if say:
            log.warning("%s (for %.1f s): %s", _ADVICE[what], now - since, error)

    def over(self, what: str) -> None:
        if what not in self._down:
            return
        with self._lock:
            since, _ = self._down.pop(what, (0.0, 0.0))
        log.info("%s works again after %.1f s", what, time.monotonic() - since)

    def list(self) -> dict[str, float]:
        """What is down, and for how many seconds."""
        now = time.monotonic()
        with self._lock:
            return {what: now - since for what, (since, _) in self._down.items()}
