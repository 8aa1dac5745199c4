"""When a route rests: an outage must not empty a topic into the dead letters (RETRY-031)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class BreakerConfig:
    """Times are seconds."""

    failures: int = 10
    """How many failures of different keys have to follow each other, without a success between
    them, for the route to rest. 0: it never rests."""
    pause: float = 1.0
    """How long it rests before the first probe. Each probe that fails doubles it, up to
    `max_pause`."""
    max_pause: float = 30.0


class BreakerState(Enum):
    CLOSED = "closed"
    """The route works."""
    OPEN = "open"
    """It rests, until the time of the next probe."""
    PROBING = "probing"
    """One delivery is on its way."""


class Verdict(Enum):
    """What one delivery says of what the route depends on."""

    WORKED = 1
    BROKE = 2
    NEITHER = 3


class Breaker:
    """The circuit breaker of one route. Time is an argument. It is for one thread at a time."""

    def __init__(self, config: BreakerConfig) -> None:
        self.config = config
        self.state = BreakerState.CLOSED
        self.until = 0.0
        """Of the next probe."""
        self._failed: set[str] = set()
        self._pause = 0.0
        self._probed: str | None = None

    @property
    def quiet(self) -> bool:
        return self.state is BreakerState.CLOSED and not self._failed

    def admits(self, key: str, now: float, only: bool) -> bool:
        """Whether a delivery of a key may start. `only` says that no other key is waiting."""
        if self.state is BreakerState.OPEN:
            return now >= self.until and (only or key != self._probed)
        return self.state is BreakerState.CLOSED

    def starts(self, key: str) -> bool:
        """Takes note of a delivery that `admits` let pass, and says whether it is a probe."""
        if self.state is not BreakerState.OPEN:
            return False
        self.state, self._probed = BreakerState.PROBING, key
        return True

    def probe_lost(self, now: float) -> None:
        """The probe never ran."""
        if self.state is BreakerState.PROBING:
            self.state, self.until = BreakerState.OPEN, now

    def ends(self, key: str, verdict: Verdict, probe: bool, now: float) -> bool:
        """Takes note of what became of a delivery. True: the failure costs nothing, since the route
        rests."""
        if self.config.failures <= 0:
            return False
        if probe:
            return self._probe_ends(verdict, now)
        if verdict is Verdict.WORKED and self.state is BreakerState.CLOSED:
            self._failed.clear()
        elif verdict is Verdict.BROKE:
            if self.state is not BreakerState.CLOSED:
                return True
            self._failed.add(key)
            if len(self._failed) >= self.config.failures:
                self._failed.clear()
                self.state, self._probed = BreakerState.OPEN, None
                self._pause = self.config.pause
                self.until = now + self._pause
                return True
        return False

    def _probe_ends(self, verdict: Verdict, now: float) -> bool:
        if verdict is Verdict.WORKED:
            self.state, self._pause, self._probed = BreakerState.CLOSED, 0.0, None
            return False
        self.state, self.until = BreakerState.OPEN, now
        if verdict is Verdict.NEITHER:  # it says nothing: another one, now
            return False
        self._pause = min(2 * self._pause, self.config.max_pause)
        self.until += self._pause
        return True
