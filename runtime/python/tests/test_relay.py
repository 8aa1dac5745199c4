"""The relay of the outbox, on Kafka and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import confluent_kafka
import psycopg
import pytest
from idemspec_runtime import observe
from idemspec_runtime.kafka import Relay, producer
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.rows import Outgoing
from kafka_topics import topic, until
from services import unique


class Readings:
    """An observer that keeps the last value of each metric."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        self.values[metric] = value


@pytest.fixture
def client(brokers: str) -> confluent_kafka.Producer:
    return producer({"bootstrap.servers": brokers, "message.timeout.ms": 2000})


@pytest.fixture
def name(brokers: str) -> Iterator[str]:
    with topic(brokers, partitions=3) as made:
        yield made


def received(brokers: str, name: str, n: int) -> list[tuple[bytes | None, bytes]]:
    """Key and payload of each message, in the order of each key."""
    config = {"bootstrap.servers": brokers, "group.id": unique(), "auto.offset.reset": "earliest"}
    client = confluent_kafka.Consumer(config)
    client.subscribe([name])
    got: list[tuple[bytes | None, bytes]] = []

    def enough() -> bool:
        for message in client.consume(100, 0.2):
            assert message.error() is None
            got.append((message.key(), message.value()))  # type: ignore[arg-type]
        return len(got) >= n

    until(enough)
    client.close()
    return got


def test_what_a_transaction_stored_is_published_in_the_order_of_its_key(
    brokers: str, store: PostgresStore, client: confluent_kafka.Producer, name: str
) -> None:
    readings = Readings()
    rows = [Outgoing(name, [("n", b"1")], f"k{n % 5}".encode(), b"%d" % n) for n in range(50)]
    with store.transaction() as tx:
        store.store(rows, tx.connection)
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        store.store([Outgoing(name, [], b"k0", b"rolled back")], tx.connection)
        raise ZeroDivisionError
    relay = Relay(store, client, readings)
    thread = threading.Thread(target=relay.run)
    thread.start()
    got = received(brokers, name, 50)
    until(lambda: store.count_outbox().pending == 0)
    relay.stop()
    thread.join()
    for key in (b"k0", b"k1", b"k2", b"k3", b"k4"):
        assert [v for k, v in got if k == key] == [r.payload for r in rows if r.message_key == key]
    assert len(got) == 50
    assert {observe.OUTBOX_PENDING, observe.OUTBOX_SENT} <= readings.values.keys()


def test_a_message_that_fails_holds_back_its_own_key_alone(
    brokers: str, store: PostgresStore, client: confluent_kafka.Producer, name: str, tables: str
) -> None:
    too_large = Outgoing(name, [], b"bad", b"x" * 2_000_000)
    behind, other = Outgoing(name, [], b"bad", b"behind"), Outgoing(name, [], b"good", b"other")
    store.store([too_large, behind, other])
    relay = Relay(store, client)
    assert relay.step() == 1
    assert received(brokers, name, 1) == [(b"good", b"other")]
    with psycopg.connect(tables, autocommit=True) as connection:
        for _ in range(3):
            connection.execute("UPDATE outbox SET next_at = clock_timestamp()")
            assert relay.step() == 0
        assert relay.step() == 0
        assert store.count_outbox()[:2] == (1, 1)
        errors: Any = connection.execute("SELECT last_error FROM outbox WHERE failed").fetchone()
        assert "MSG_SIZE_TOO_LARGE" in errors[0]
        connection.execute("UPDATE outbox SET payload = 'smaller' WHERE failed")
    assert store.retry_failed(10) == 1
    assert relay.step() == 2
    assert [v for k, v in received(brokers, name, 3) if k == b"bad"] == [b"smaller", b"behind"]


def test_two_relays_publish_each_message_of_a_key_in_turn(
    brokers: str, store: PostgresStore, client: confluent_kafka.Producer, name: str
) -> None:
    store.store([Outgoing(name, [], b"k", b"%d" % n) for n in range(3)])
    first = store.claim_outgoing("another", 1, 60_000)
    assert [row.payload for row in first] == [b"0"]
    assert Relay(store, client).step() == 0, "it is behind what another relay has claimed"
    store.not_sent("another", [first[0].id])
    assert Relay(store, client).step() == 3
    assert [v for _, v in received(brokers, name, 3)] == [b"0", b"1", b"2"]
