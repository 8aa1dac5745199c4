"""The scheduler of msg_retry: it publishes rows when they are due (CONS-020, CONS-021)."""

from __future__ import annotations

import logging
import secrets
from functools import cached_property

from . import observe
from .rounds import POLL_SECONDS, Rounds, publish
from .rows import mark_of

log = logging.getLogger("idemspec")

BATCH = 200
LEASE_MS = 60_000
POSTPONE_MS = 1000
SWEEP_LIMIT = 500


class Scheduler(Rounds):
    """A row may be published twice, and is never lost."""

    what = "retries"
    upkeep_seconds = 30.0

    @cached_property
    def _dead_letters(self) -> observe.DeadLetterGauges:
        return observe.DeadLetterGauges()

    def _upkeep(self) -> None:
        self._store.sweep_lanes(SWEEP_LIMIT)

    def _round(self) -> float:
        return 0.0 if self.step() == BATCH else self._pause()

    def _measure(self, to: observe.Observer) -> None:
        observe.measure_retries(to, self._store)
        self._dead_letters.measure(to, self._store)

    def _pause(self) -> float:
        due_ms = self._store.next_due()
        if due_ms is None:
            return POLL_SECONDS
        return min(max(due_ms / 1000, 0.02), POLL_SECONDS)

    def step(self) -> int:
        """One round: claims rows that are due, publishes them, and removes those that are
        confirmed. Says how many it claimed."""
        rows = self._store.claim_due(secrets.token_urlsafe(16), BATCH, LEASE_MS)
        if not rows:
            return 0
        answers = publish(self._producer, rows)  # of a row that is left out the claim runs out
        confirmed = [row for row in rows if row.id in answers and answers[row.id] is None]
        others = [row for row in rows if answers.get(row.id) is not None]
        self._store.mark_published([mark_of(row) for row in confirmed])
        if others:
            self._store.postpone([mark_of(row) for row in others], POSTPONE_MS)
            error = answers[others[0].id]
            log.warning("%d rows not published: %s: %s", len(others), others[0].topic, error)
        if self._observer is not None:
            for row in confirmed:
                self._observer.measure(observe.RETRIES_PUBLISHED, {"topic": row.topic}, 1)
        return len(rows)
