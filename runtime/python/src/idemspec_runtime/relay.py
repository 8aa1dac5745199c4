"""The relay of the outbox: it publishes what transactions have stored (CONS-023)."""

from __future__ import annotations

import logging
import secrets
import time
from collections import defaultdict

from . import observe
from .rounds import Rounds, publish
from .rows import Outgoing

log = logging.getLogger("idemspec")

BATCH = 200
LEASE_MS = 60_000
ROUND_SECONDS = 20.0
"""How long a round goes on publishing: well within the lease."""
POLL_SECONDS = 0.5
DELAYS_MS = (1000, 2000, 4000)
"""The waits between the tries of a row; the one after the last is the last try."""
REVIVE_LIMIT = 1000


class Relay(Rounds):
    """Keeps the order of each (topic, biz key). A row that fails is tried again, and then marked
    failed, which holds back its own key alone. A message may be published twice, and is never lost.

        relay = Relay(store, producer({"bootstrap.servers": "localhost:9092"}))
        threading.Thread(target=relay.run).start()
    """

    what = "outbox"
    upkeep_seconds = 300.0

    def _upkeep(self) -> None:
        """Tries failed rows once more, without anybody asking."""
        self._store.retry_failed(REVIVE_LIMIT)

    def _measure(self, to: observe.Observer) -> None:
        observe.measure_outbox(to, self._store)

    def _round(self) -> float:
        return 0.0 if self.step() else POLL_SECONDS

    def step(self) -> int:
        """One round: claims rows, publishes them, and removes those that are confirmed. Says how
        many were."""
        token = secrets.token_urlsafe(16)
        rows = self._store.claim_outgoing(token, BATCH, LEASE_MS)
        if not rows:
            return 0
        answers = self._publish(rows)
        confirmed = [row for row in rows if row.id in answers and answers[row.id] is None]
        self._store.sent(token, [row.id for row in confirmed])
        untried = [row.id for row in rows if row.id not in answers]
        self._store.not_sent(token, untried)
        for row in rows:
            if answers.get(row.id) is not None:
                self._failed(token, row, answers[row.id])
        if self._observer is not None:
            for row in confirmed:
                self._observer.measure(observe.OUTBOX_SENT, {"topic": row.topic}, 1)
        return len(confirmed)

    def _publish(self, rows: list[Outgoing]) -> dict[int, object]:
        """Publishes the first row of each lane, and the next one once that is confirmed, so that
        none is ahead of one that failed. Rows without a key are in no order."""
        lanes: dict[object, list[Outgoing]] = defaultdict(list)
        for row in rows:
            lanes[row.id if row.message_key is None else (row.topic, row.message_key)].append(row)
        answers: dict[int, object] = {}
        until = time.monotonic() + ROUND_SECONDS
        while lanes and time.monotonic() < until:
            wave = [lane.pop(0) for lane in lanes.values()]
            published = publish(self._producer, wave)
            for row in wave:
                answers[row.id] = published.get(row.id, "the broker did not answer in time")
            lanes = {
                name: lane
                for (name, lane), row in zip(lanes.items(), wave, strict=True)
                if lane and answers[row.id] is None
            }
        return answers

    def _failed(self, token: str, row: Outgoing, error: object) -> None:
        given_up = row.attempts >= len(DELAYS_MS)
        due_ms = 0 if given_up else DELAYS_MS[row.attempts]
        self._store.not_sent(token, [row.id], str(error), due_ms, given_up)
        then = "later ones of its key wait until it is tried again" if given_up else "tried again"
        log.warning(
            "outbox row %d of topic %s, key %s, not published, %s: %s",
            row.id,
            row.topic,
            next((value for name, value in row.headers if name == "idempotency_key"), "none"),
            then,
            error,
        )
