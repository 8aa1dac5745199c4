"""What the runtime measures, under the names that every runtime uses (METRICS.md of the Go
runtime)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from idemspec import Outcome

from .audit import EVENT_TYPES
from .timers import Every

if TYPE_CHECKING:
    from .delivery import Delivery
    from .postgres.sync import PostgresStore

MESSAGES = "idem_messages_total"
HANDLER_SECONDS = "idem_handler_seconds"
DEAD_LETTERS = "idem_dead_letters"
DEAD_LETTER_OLDEST = "idem_dead_letter_oldest_age_seconds"
CONSUMER_LAG = "idem_consumer_lag"
CONSUMER_LAG_GROWTH = "idem_consumer_lag_growth"
CONSUMER_OLDEST = "idem_consumer_oldest_message_age_seconds"
IN_FLIGHT = "idem_messages_in_flight"
BREAKER_OPEN = "idem_route_breaker_open"
RETRIES_PENDING = "idem_retries_pending"
RETRIES_PARKED = "idem_retries_parked"
RETRY_OLDEST_DUE = "idem_retry_oldest_due_age_seconds"
RETRIES_PUBLISHED = "idem_retries_published_total"
OUTBOX_PENDING = "idem_outbox_pending"
OUTBOX_FAILED = "idem_outbox_failed"
OUTBOX_OLDEST = "idem_outbox_oldest_age_seconds"
OUTBOX_SENT = "idem_outbox_sent_total"
STORE_ERRORS = "idem_store_errors_total"
RECORDS_CLEANED = "idem_records_cleaned_total"
LEASES_LOST = "idem_leases_lost_total"
SUPERSEDED = "idem_superseded_total"
REBALANCES = "idem_rebalances_total"

GAUGE_SECONDS = 15.0
"""How often tables are counted, and lags are asked for."""


class Observer(Protocol):
    """Gets what is measured, from several threads: a counter's growth, a gauge's value, or one
    value of a histogram. One that has a method `delivery(scope, d)` too gets each delivery that has
    ended. Labels are not to be changed."""

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None: ...


_is_event_type = re.compile(r"[A-Za-z0-9._-]{0,200}").fullmatch


class EventTypes:
    """Bounds the event types that become labels, since they come from messages: those beyond the
    first ones of a scope, and names that are none, are `other`."""

    def __init__(self) -> None:
        self._named: dict[str, set[str]] = {}

    def name(self, scope: str, event_type: str) -> str:
        named = self._named.setdefault(scope, set())
        if event_type not in named:
            if len(named) >= EVENT_TYPES or not _is_event_type(event_type):
                return "other"
            named.add(event_type)
        return event_type


_delivered = EventTypes()


@lru_cache(maxsize=1024)
def _labels(scope: str, event_type: str, outcome: str) -> tuple[dict[str, str], dict[str, str]]:
    """Without the outcome, and with it."""
    names = {"group": scope, "event_type": _delivered.name(scope, event_type)}
    return names, names | {"outcome": outcome}


def delivery(to: Observer, scope: str, d: Delivery) -> None:
    """Tells of a delivery that has ended."""
    outcome = "SKIPPED" if d.skipped else d.result.outcome.value
    if d.shadow:
        outcome = f"SHADOW_{outcome}"
    names, counted = _labels(scope, d.event_type, outcome)
    to.measure(MESSAGES, counted, 1)
    if d.ran:
        to.measure(HANDLER_SECONDS, names, d.seconds)
    if d.superseded:
        to.measure(SUPERSEDED, names, 1)
    tell = getattr(to, "delivery", None)
    if tell is not None:
        tell(scope, d)


def successes(to: Observer, scope: str, counts: dict[str, int], ds: Iterable[Delivery]) -> None:
    """Tells of deliveries that have succeeded, so many of each event type."""
    for name, n in counts.items():
        to.measure(MESSAGES, _labels(scope, name, Outcome.OK.value)[1], n)
    measure, tell = to.measure, getattr(to, "delivery", None)
    for d in ds:
        measure(HANDLER_SECONDS, _labels(scope, d.event_type, Outcome.OK.value)[0], d.seconds)
        if tell is not None:
            tell(scope, d)


def gauges(observer: Observer | None, measure: Callable[[Observer], None]) -> Callable[[], None]:
    """Measures now and then, where somebody observes."""
    return Every(GAUGE_SECONDS, lambda: None if observer is None else measure(observer))


def measure_retries(to: Observer, store: PostgresStore) -> None:
    counts, labels = store.count_retries(), {"store": store.name}
    to.measure(RETRIES_PENDING, labels, counts.pending)
    to.measure(RETRIES_PARKED, labels, counts.parked)
    to.measure(RETRY_OLDEST_DUE, labels, counts.oldest_due_ms / 1000)


class DeadLetterGauges:
    """How many dead letters wait, and since when; 0 again once none does."""

    def __init__(self) -> None:
        self._shown: set[tuple[str, str]] = set()
        self._names = EventTypes()

    def measure(self, to: Observer, store: PostgresStore) -> None:
        counts: Counter[tuple[str, str]] = Counter()
        oldest: dict[tuple[str, str], datetime] = {}
        for stats in store.dead_letter_stats():
            of = stats.scope, self._names.name(stats.scope, stats.event_type)
            counts[of] += stats.count
            oldest[of] = min(stats.oldest, oldest.get(of, stats.oldest))
        for of in counts.keys() | self._shown:
            labels = {"group": of[0], "event_type": of[1]}
            to.measure(DEAD_LETTERS, labels, counts[of])
            to.measure(DEAD_LETTER_OLDEST, labels, age(oldest.get(of)))
        self._shown = set(oldest)


def measure_outbox(to: Observer, store: PostgresStore) -> None:
    counts, labels = store.count_outbox(), {"store": store.name}
    to.measure(OUTBOX_PENDING, labels, counts.pending)
    to.measure(OUTBOX_FAILED, labels, counts.failed)
    to.measure(OUTBOX_OLDEST, labels, age(counts.oldest))


def age(since: datetime | None) -> float:
    """In seconds; 0 where there is nothing."""
    if since is None:
        return 0.0
    return max((datetime.now(timezone.utc) - since).total_seconds(), 0.0)
