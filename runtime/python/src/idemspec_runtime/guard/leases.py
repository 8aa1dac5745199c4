"""Claims while they are held: calls to the store that are counted, and how long a lease is worth
something."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import psycopg
from idemspec import Outcome, RecordState

from .. import observe
from ..delivery import Delivery, Mode, Rules, Status
from ..errors import StoreError
from ..failures import Result, reason_of
from ..postgres.sync import PostgresStore
from ..records import Renewal, StoredRecord
from .config import GuardConfig

LEASE_MARGIN = timedelta(seconds=10)
"""What a lease that nobody renews has beyond the handler's time limit, to settle in."""

_TX_SLACK = (LEASE_MARGIN / 2).total_seconds()
MILLISECOND = timedelta(milliseconds=1)


class Leases:
    def __init__(
        self,
        store: PostgresStore,
        scope: str,
        config: GuardConfig,
        observer: observe.Observer | None,
    ) -> None:
        self.store = store
        self.scope = scope
        self.observer = observer
        self._config = config
        self._lease_ms = config.lease // MILLISECOND
        self.slack = (config.lease / 3).total_seconds()
        """After how long a lease of mode idempotent is renewed."""

    def measure(self, metric: str, value: float, **labels: str) -> None:
        if self.observer is not None:
            self.observer.measure(metric, labels, value)

    def call(self, call: Callable[[Any], Any], batch: Sequence[Any]) -> Any:
        """A call to the store, whose errors are counted."""
        try:
            return call(batch)
        except StoreError:
            self.measure(observe.STORE_ERRORS, 1, store=self.store.name)
            raise
        except psycopg.Error as error:  # of the pool: no connection
            self.measure(observe.STORE_ERRORS, 1, store=self.store.name)
            raise StoreError(str(error)) from error

    def timeout(self, rules: Rules) -> timedelta:
        return rules.handler_timeout or self._config.handler_timeout

    def milliseconds(self, rules: Rules) -> int:
        if rules.mode is Mode.IDEMPOTENT:
            return self._lease_ms
        return (self.timeout(rules) + LEASE_MARGIN) // MILLISECOND

    def record(self, d: Delivery) -> StoredRecord | None:
        lease = d.lease
        assert lease is not None, "only of one that is held"
        return self.store.records(self.scope, [lease.key])[0]

    def refresh(self, d: Delivery) -> bool:
        """Renews a lease that has been waiting for its turn, so that the handler begins with nearly
        all of it. False: it is lost, or nobody can say."""
        if not self.needs_refresh(d):
            return True
        assert d.lease is not None, "needs_refresh says so"
        sent = time.monotonic()
        try:
            (held,) = self.call(self.store.renew, [Renewal(d.lease, self.milliseconds(d.rules))])
        except StoreError as error:
            self.not_started(d, error)
            return False
        if not held:
            self.fenced(d)
            return False
        d.claimed = sent
        return True

    def needs_refresh(self, d: Delivery) -> bool:
        slack = self.slack if d.rules.mode is Mode.IDEMPOTENT else _TX_SLACK
        return time.monotonic() - d.claimed >= slack and d.lease is not None

    def not_started(self, d: Delivery, error: Exception) -> None:
        """Ends a delivery whose handler was never called, for what is no fault of it: it is
        deferred, and no outage costs it a retry. (DEDUP-023)"""
        d.end(Result(Outcome.IN_PROGRESS, f"NOT_STARTED: {reason_of(error)}", 1000), error)

    def fenced(self, d: Delivery) -> None:
        """Ends a delivery whose lease is lost. Another claim of its key is live, or was."""
        d.status, d.completed = Status.ENDED, False
        d.result = Result(Outcome.FENCED, "", self.milliseconds(d.rules))
        if d.grant is not None:
            d.grant.lease = None


def is_ours(d: Delivery, record: StoredRecord | None) -> bool:
    """Whether a record is as the delivery's claim left it: under its fence, and under its owner
    while it is claimed."""
    lease = d.lease
    if record is None or lease is None or record.record.fence != lease.fence:
        return False
    return record.record.state is not RecordState.PROCESSING or record.record.owner == lease.owner
