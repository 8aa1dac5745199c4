"""Between running and settling: what deliveries say of their route, which rests while what it needs
is down."""

from __future__ import annotations

import asyncio
import logging
import time

from idemspec import Outcome

from .. import observe
from ..breaker import BreakerState, Verdict
from ..delivery import Delivery, Status
from ..failures import Result
from ..guard import Guard
from .claiming import Claiming
from .monitor import Monitor, brings_due
from .tasks import Line, State, Task

log = logging.getLogger("idemspec")


class Judging:
    def __init__(self, monitor: Monitor, guard: Guard, claiming: Claiming) -> None:
        self._monitor = monitor
        self._guard = guard
        self._claiming = claiming

    def ran(
        self,
        line: Line,
        tasks: list[Task],
        seconds: float | None,
        into: list[Task] | None = None,
    ) -> None:
        """Hands on what a chunk came to, to be settled by another thread, or `into` a list. Without
        a time the chunk goes on. Not to be called under the lock."""
        m = self._monitor
        to = m.settling if into is None else into
        back: list[Task] = []
        due = False
        with m.lock:
            if seconds is not None:
                line.running -= 1
            if seconds is not None and tasks:
                line.seconds += (seconds / len(tasks) - line.seconds) / 4
            quiet, ok, settling = line.route.breaker.quiet, Outcome.OK, State.SETTLING
            for t in tasks:
                d = t.d
                if not quiet or d.result.outcome is not ok or t.part.cancelled:
                    quiet = False
                    back += self._judge(t)
                if d.completed and self._guard.settled_by_handler(d):
                    due = due or brings_due(t)
                    m.finish(t)
                else:
                    t.state = settling
                    to.append(t)
            if m.settling:
                m.settlers.notify()
        self._claiming.give_back(back)
        if due:
            m.rows_due()

    def _judge(self, t: Task) -> list[Task]:
        """Sees what a delivery says of its route, and makes a DEFER of a failure that says nothing
        of the message itself: the route rests, or the handler was told to stop. Returns what is to
        be given back, where the route rests from now on."""
        breaker, d, now = t.line.route.breaker, t.d, time.monotonic()
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
            return self._breaker_moved(t.line, was, d)
        return []

    def _breaker_moved(self, line: Line, was: BreakerState, d: Delivery) -> list[Task]:
        m, breaker, name = self._monitor, line.route.breaker, line.route.event_type
        labels = {"group": self._guard.scope, "event_type": name}
        if breaker.state is BreakerState.CLOSED:
            if was is not breaker.state:
                log.warning("route %s works again", name)
                self._guard.measure(observe.BREAKER_OPEN, 0, **labels)
            m.claimers.notify()
            return []
        m.timers.after(max(breaker.until - time.monotonic(), 0), self._claiming.wake)
        if was is BreakerState.CLOSED:
            log.warning("route %s rests: its handler fails: %s", name, d.error)
            self._guard.measure(observe.BREAKER_OPEN, 1, **labels)
            return m.recall(line, lambda t: not t.probe and t.line is line)
        return []


def _verdict(d: Delivery) -> Verdict:
    """What a delivery says of what its route depends on."""
    if d.result.outcome is Outcome.OK:
        return Verdict.WORKED
    if d.result.outcome in (Outcome.RETRYABLE, Outcome.THROTTLED):
        return Verdict.BROKE
    return Verdict.NEITHER
