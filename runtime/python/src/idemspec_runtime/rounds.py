"""What scheduler and relay share: rounds over a table, and publications that are waited for."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from confluent_kafka import KafkaException, Producer

from . import observe
from .outages import Outages
from .postgres.sync import PostgresStore
from .rows import Outgoing, Retry
from .timers import Every

CONFIRM_SECONDS = 10.0
"""How long a publication waits for the broker."""
POLL_SECONDS = 1.0
"""How long to wait at most before looking again for rows that others have written."""


class Rounds(ABC):
    """Works round after round. Any number may run, in any language."""

    what: str
    """The outage that a round which fails belongs to."""
    upkeep_seconds: float
    """How often `_upkeep` is called."""

    def __init__(
        self,
        store: PostgresStore,
        producer: Producer,
        observer: observe.Observer | None = None,
        outages: Outages | None = None,
    ) -> None:
        """The producer is the caller's, of `idemspec_runtime.kafka.producer`."""
        self._store = store
        self._producer = producer
        self._observer = observer
        self._gauges = observe.gauges(observer, self._measure)
        self._keep = Every(self.upkeep_seconds, self._upkeep)
        self._outages = outages or Outages()
        self._changed = threading.Event()
        self._stopped = threading.Event()

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
                self._keep()
                self._gauges()
                pause = self._round()
            except Exception as error:
                self._outages.begins(self.what, error)
                pause = POLL_SECONDS
            else:
                self._outages.over(self.what)
            self._changed.wait(pause)

    @abstractmethod
    def _upkeep(self) -> None:
        """What is to be done now and then."""

    @abstractmethod
    def _measure(self, to: observe.Observer) -> None:
        """Counts the rows, now and then."""

    @abstractmethod
    def _round(self) -> float:
        """How many seconds to wait for the next one."""


def publish(producer: Producer, rows: Iterable[Retry | Outgoing]) -> dict[int, object]:
    """What became of each row, by its id: None where the broker has confirmed it, else the error.
    Of a row that is left out nobody knows."""
    answers: dict[int, object] = {}

    def answered(id_: int) -> Any:
        return lambda error, _: answers.__setitem__(id_, error)

    for row in rows:
        try:
            producer.produce(
                row.topic,
                key=row.message_key,
                value=row.payload,
                headers=[(n, str(v) if isinstance(v, int) else v) for n, v in row.headers],
                on_delivery=answered(row.id),
            )
        except (BufferError, KafkaException) as error:
            answers[row.id] = error
    producer.flush(CONFIRM_SECONDS)
    return answers
