"""The scheduler of msg_retry: it publishes rows when they are due (CONS-020, CONS-021)."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from typing import Any

from confluent_kafka import KafkaException, Producer

from . import observe
from .outages import Outages
from .postgres.sync import PostgresStore
from .rows import Mark, Retry, mark_of

log = logging.getLogger("idemspec")

BATCH = 200
LEASE_MS = 60_000
CONFIRM_SECONDS = 10.0
"""How long one round waits for the broker."""
POLL_SECONDS = 1.0
"""How long to wait at most before looking again for rows that others have written."""
SWEEP_SECONDS = 30.0
POSTPONE_MS = 1000
SWEEP_LIMIT = 500


class Scheduler:
    """Any number may run, in any language: a row may be published twice, and is never lost. The
    producer is the caller's, of `idemspec_runtime.kafka.producer`."""

    def __init__(
        self,
        store: PostgresStore,
        producer: Producer,
        observer: observe.Observer | None = None,
        outages: Outages | None = None,
    ) -> None:
        self._store = store
        self._producer = producer
        self._observer = observer
        self._outages = outages or Outages()
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._swept = 0.0

    def wake(self) -> None:
        """Has `run` look at once: a row was written that is due before those it knows of."""
        self._changed.set()

    def stop(self) -> None:
        """Ends `run`; a round that has begun is finished first."""
        self._stopped.set()
        self._changed.set()

    def run(self) -> None:
        """Works until `stop`."""
        while not self._stopped.is_set():
            self._changed.clear()
            try:
                self._sweep()
                claimed = self.step()
                pause = 0.0 if claimed == BATCH else self._pause()
            except Exception as error:
                self._outages.begins("retries", error)
                pause = POLL_SECONDS
            else:
                self._outages.over("retries")
            self._changed.wait(pause)

    def _pause(self) -> float:
        due_ms = self._store.next_due()
        if due_ms is None:
            return POLL_SECONDS
        return min(max(due_ms / 1000, 0.02), POLL_SECONDS)

    def _sweep(self) -> None:
        now = time.monotonic()
        if now - self._swept >= SWEEP_SECONDS:
            self._swept = now
            self._store.sweep_lanes(SWEEP_LIMIT)

    def step(self) -> int:
        """One round: claims rows that are due, publishes them, and removes those that are
        confirmed. Says how many it claimed."""
        rows = self._store.claim_due(secrets.token_urlsafe(16), BATCH, LEASE_MS)
        if not rows:
            return 0
        failures = self._publish(rows)
        confirmed = [row for row in rows if row.id in failures and failures[row.id] is None]
        others = [row for row in rows if failures.get(row.id) is not None]
        self._store.mark_published([mark_of(row) for row in confirmed])
        if others:
            marks: list[Mark] = [mark_of(row) for row in others]
            self._store.postpone(marks, POSTPONE_MS)
            error = failures[others[0].id]
            log.warning("%d rows not published: %s: %s", len(others), others[0].topic, error)
        if self._observer is not None:
            for row in confirmed:
                self._observer.measure(observe.RETRIES_PUBLISHED, {"topic": row.topic}, 1)
        return len(rows)

    def _publish(self, rows: list[Retry]) -> dict[int, object]:
        """What became of each row: None where the broker has confirmed it, else the error. Of a row
        that is left out nobody knows: its claim runs out, and it is published again."""
        answers: dict[int, object] = {}

        def answered(id_: int) -> Any:
            return lambda error, _: answers.__setitem__(id_, error)

        for row in rows:
            try:
                self._producer.produce(
                    row.topic,
                    key=row.message_key,
                    value=row.payload,
                    headers=[(n, str(v) if isinstance(v, int) else v) for n, v in row.headers],
                    on_delivery=answered(row.id),
                )
            except (BufferError, KafkaException) as error:
                answers[row.id] = error
        self._producer.flush(CONFIRM_SECONDS)
        return answers
