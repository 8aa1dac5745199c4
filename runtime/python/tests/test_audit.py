"""What became of deliveries is counted. (CONS-040 to CONS-042)"""

from __future__ import annotations

from typing import Any

import psycopg
from idemspec_runtime import Message, NonRetryable, observe
from idemspec_runtime.audit import Audit
from idemspec_runtime.kafka import Consumer
from idemspec_runtime.postgres import PostgresStore
from kafka_topics import running, send, topic, until
from services import unique


def kind(event_type: str) -> tuple[str, str, str, str, str]:
    return "scope", event_type, "OK", "ACK", ""


def test_event_types_beyond_the_bound_are_other() -> None:
    """Names that are none, too. (CONS-042)"""
    audit = Audit()
    for name in [*(f"type-{n}" for n in range(300)), "no name\0", "x" * 256, "type-0"]:
        audit.add(kind(name))
    counts = audit.take()
    assert len(counts) == 201
    assert counts[kind("other")] == 102 and counts[kind("type-0")] == 2


def test_counts_that_cannot_be_written_are_kept() -> None:
    audit = Audit()
    audit.add(kind("a"))
    audit.give_back(audit.take())
    audit.add(kind("a"))
    assert audit.take() == {kind("a"): 2} and audit.take() == {}


class Readings:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.lags: list[float] = []
        self.ended = 0

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        self.names.add(metric)
        self.ended += int(value) if metric == observe.MESSAGES else 0
        if metric == observe.CONSUMER_LAG:
            assert labels.keys() == {"group", "topic", "partition"}
            self.lags.append(value)


def test_a_consumer_counts_its_deliveries_in_the_store(
    brokers: str, store: PostgresStore, tables: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(observe, "GAUGE_SECONDS", 0.1)
    group, readings = unique("group"), Readings()
    with topic(brokers, group) as origin:
        consumer = Consumer(group, [origin], store, brokers, observer=readings)

        @consumer.idempotent("test.event")
        def handle(message: Message[bytes]) -> None:
            if message.key == "bad":
                raise NonRetryable("BAD")

        send(brokers, origin, "a", "b", "bad")
        with running(consumer):
            until(lambda: store.count_dead_letters() == 1)
            send(brokers, origin, "a", "bad")
            until(lambda: readings.ended == 5 and 0.0 in readings.lags)
            until(lambda: observe.DEAD_LETTERS in readings.names)
    with psycopg.connect(tables) as connection:
        rows = connection.execute(
            "SELECT event_type, outcome, action, layer, count FROM idem_audit WHERE scope = %s"
            " ORDER BY outcome, layer",
            (group,),
        ).fetchall()
    assert rows == [
        ("test.event", "DUPLICATE", "ACK", "store", 1),
        ("test.event", "NON_RETRYABLE", "DEAD_LETTER", "", 1),
        ("test.event", "OK", "ACK", "", 2),
        ("test.event", "STALE", "ACK", "store", 1),
    ]
    assert {
        observe.MESSAGES,
        observe.HANDLER_SECONDS,
        observe.IN_FLIGHT,
        observe.RETRIES_PENDING,
        observe.RETRY_OLDEST_DUE,
    } <= readings.names
