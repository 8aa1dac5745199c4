"""A consumer of this runtime beside Go's scheduler, and beside other scopes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
from idemspec import Context, RecordState, producer_headers
from idemspec_runtime import Message, Retryable
from idemspec_runtime.kafka import Consumer, new_event_id
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.rows import Outgoing
from kafka_topics import running, send, topic, until
from pair import go
from services import unique

EVENT = "test.event"


def test_a_retry_written_here_is_published_by_the_scheduler_of_go_and_processed_again(
    brokers: str, database: str
) -> None:
    group = unique("group")
    tries: Counter[str] = Counter()
    with (
        go(database, brokers) as other,
        PostgresStore.open(database) as store,
        topic(brokers, group) as origin,
    ):
        consumer = Consumer(group, [origin], store, brokers, scheduler=False)

        @consumer.idempotent(EVENT)
        def fail_once(message: Message[bytes]) -> bytes:
            tries[message.key] += 1
            if tries[message.key] == 1:
                raise Retryable("not yet")
            return f"{message.retry_count} {message.fetched.topic} {message.value!r}".encode()

        send(brokers, origin, "a", biz_key="order-1")
        with running(consumer):
            until(lambda: store.count_retries().pending == 1)
            assert other.publish(1) == 1
            until(lambda: store.records(group, ["a"])[0].record.result != b"")  # type: ignore[union-attr]
        (record,) = store.records(group, ["a"])
        assert record is not None and record.record.state is RecordState.SUCCESS
        assert record.record.result == f"1 {origin}.retry.{group} b'a'".encode()
        theirs = other.claim(group, "a", RetryCount=1)
        assert theirs["Verdict"] == "DUPLICATE"
    assert tries == {"a": 2}


def test_a_message_for_two_scopes_has_two_effects_and_one_key(
    brokers: str, tables: str, store: PostgresStore
) -> None:
    groups = unique("mail"), unique("stock")
    with (
        psycopg.connect(tables, autocommit=True) as effects,
        topic(brokers, *groups) as origin,
    ):
        effects.execute("CREATE TABLE effect (scope text, key text)")
        consumers = []
        for group in groups:
            consumer = Consumer(group, [origin], store, brokers)

            @consumer.tx(EVENT)
            def insert(
                message: Message[bytes], connection: psycopg.Connection[Any], group: str = group
            ) -> None:
                connection.execute("INSERT INTO effect VALUES (%s, %s)", (group, message.key))

            consumers.append(consumer)
        send(brokers, origin, "a", "a")
        with running(*consumers):
            until(lambda: len(effects.execute("SELECT FROM effect").fetchall()) == 2)
        rows = effects.execute("SELECT scope, key FROM effect").fetchall()
    assert Counter(rows) == Counter([(groups[0], "a"), (groups[1], "a")])
    for group in groups:
        (record,) = store.records(group, ["a"])
        assert record is not None and record.record.state is RecordState.SUCCESS


def test_a_claim_of_go_holds_back_the_handler_here_until_it_is_over(
    brokers: str, database: str
) -> None:
    group = unique("group")
    handled: list[str] = []
    with (
        go(database) as other,
        PostgresStore.open(database) as store,
        topic(brokers, group) as origin,
    ):
        theirs = other.claim(group, "held")
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.idempotent(EVENT)
        def handle(message: Message[bytes]) -> None:
            handled.append(message.key)

        send(brokers, origin, "held", "free")
        with running(consumer):
            until(lambda: "free" in handled and store.count_retries().pending == 1)
            assert other.complete(theirs["Lease"])
        assert handled == ["free"]


def test_a_message_of_the_outbox_is_sent_by_the_relay_of_go(brokers: str, database: str) -> None:
    group = unique("group")
    handled: list[tuple[str, str, bytes | None]] = []
    with (
        go(database, brokers) as other,
        PostgresStore.open(database) as store,
        psycopg.connect(database) as business,
        topic(brokers, group) as origin,
    ):
        headers = producer_headers(
            Context(event_id=new_event_id()),
            idempotency_key="a",
            event_type=EVENT,
            biz_key="order-1",
        )
        kept, lost = (
            Outgoing(origin, list(headers), b"order-1", payload) for payload in (b"kept", b"lost")
        )
        store.store([lost], business)
        business.rollback()
        store.store([kept], business)
        business.commit()
        assert other.relay(1) == 1
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.idempotent(EVENT)
        def handle(message: Message[bytes]) -> None:
            handled.append((message.key, message.biz_key, message.value))

        with running(consumer):
            until(lambda: bool(handled))
    assert handled == [("a", "order-1", b"kept")]
