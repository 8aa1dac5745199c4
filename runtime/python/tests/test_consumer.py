"""The consumer on Kafka and PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import confluent_kafka
import psycopg
import pytest
from idemspec import RecordState
from idemspec_runtime import Message, NonRetryable, OutOfOrder, Retryable
from idemspec_runtime.engine.workers import LONG_SECONDS
from idemspec_runtime.kafka import Consumer, MissingTopics, Order
from idemspec_runtime.postgres import PostgresStore
from kafka_topics import running, send, topic, until
from services import need, unique

Text = Message[bytes]
EVENT = "test.event"


@pytest.fixture
def group() -> str:
    return unique("group")


@pytest.fixture
def origin(brokers: str, group: str) -> Iterator[str]:
    with topic(brokers, group) as name:
        yield name


@pytest.fixture
def effects(tables: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute("CREATE TABLE effect (key text)")
        yield connection


def count(effects: psycopg.Connection[Any]) -> Counter[str]:
    return Counter(row[0] for row in effects.execute("SELECT key FROM effect"))


def states(store: PostgresStore, group: str, keys: list[str]) -> set[RecordState | None]:
    records = store.records(group, keys)
    return {None if record is None else record.record.state for record in records}


def test_an_effect_happens_once_however_often_its_message_comes(
    brokers: str, store: PostgresStore, group: str, origin: str, effects: psycopg.Connection[Any]
) -> None:
    consumer = Consumer(group, [origin], store, brokers)

    @consumer.tx(EVENT)
    def insert(message: Text, connection: psycopg.Connection[Any]) -> bytes:
        connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))
        return b"done"

    keys = [f"key-{n}" for n in range(50)]
    send(brokers, origin, *keys, *keys, *keys)
    with running(consumer):
        until(lambda: len(count(effects)) == 50)
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert count(effects) == Counter(keys)
    send(brokers, origin, *keys, "last")
    again = Consumer(group, [origin], store, brokers)
    again.tx(EVENT)(insert)
    with running(again):
        until(lambda: "last" in count(effects))
    assert count(effects) == Counter([*keys, "last"])
    assert store.records(group, keys[:1])[0].record.result == b"done"  # type: ignore[union-attr]


def test_a_copy_behind_the_message_that_is_worked_on_ends_without_another_fetch(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers, commit_interval=timedelta(seconds=0.1))
    consumer.tx(EVENT, batch=100)(lambda messages, connection: [None] * len(messages))
    keys = [f"key-{n}" for n in range(20)]
    send(brokers, origin, *keys, *keys, *keys)
    settings = {"bootstrap.servers": brokers, "group.id": group}
    with running(consumer), contextlib.closing(confluent_kafka.Consumer(settings)) as reader:
        partitions = reader.list_topics(origin).topics[origin].partitions
        wanted = [confluent_kafka.TopicPartition(origin, n) for n in partitions]
        until(lambda: sum(max(p.offset, 0) for p in reader.committed(wanted, timeout=10)) == 60)


def test_what_was_committed_is_not_delivered_again(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    seen: list[str] = []
    for key in ("first", "second"):
        send(brokers, origin, key)
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.idempotent(EVENT)
        def note(message: Text) -> None:
            seen.append(message.key)

        with running(consumer):
            until(lambda key=key: key in seen)  # type: ignore[misc]
        store.forget(group, [key])  # a second delivery would be a second effect
    assert seen == ["first", "second"]


def test_a_failure_is_tried_again_and_then_succeeds(
    brokers: str, store: PostgresStore, group: str, origin: str, effects: psycopg.Connection[Any]
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    tries: Counter[str] = Counter()

    @consumer.tx(EVENT)
    def insert(message: Text, connection: psycopg.Connection[Any]) -> None:
        connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))
        tries[message.key] += 1
        if tries[message.key] < 3:
            raise Retryable("not yet")

    send(brokers, origin, "a", "b")
    with running(consumer):
        until(lambda: states(store, group, ["a", "b"]) == {RecordState.SUCCESS})
    assert count(effects) == Counter(["a", "b"]) and tries == {"a": 3, "b": 3}
    assert store.count_retries()[:2] == (0, 0)


def test_what_cannot_succeed_is_a_dead_letter_with_its_reason(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)

    @consumer.idempotent(EVENT, decode=bytes.decode)
    def refuse(message: Message[str]) -> None:
        if message.payload == "never":
            raise NonRetryable("CARD_EXPIRED") from ValueError("12/20")
        raise Retryable("later")

    send(brokers, origin, "never", max_retry=0)
    send(brokers, origin, "exhausted", max_retry=1)
    send(brokers, origin, "unknown", event_type="other.event")
    with running(consumer):
        until(lambda: store.count_dead_letters() == 3)
    letters = {letter.key: letter for letter in store.list_dead_letters()}
    assert letters["never"].reason == "CARD_EXPIRED: ValueError: 12/20"
    assert letters["never"].payload == b"never" and letters["never"].topic == origin
    assert (letters["exhausted"].outcome.value, letters["exhausted"].retry_count) == (
        "RETRYABLE",
        1,
    )
    assert letters["unknown"].reason.startswith("UNKNOWN_EVENT_TYPE: ")
    assert states(store, group, ["never", "exhausted"]) == {RecordState.DEAD}


def test_a_payload_that_cannot_be_decoded_is_malformed_and_leaves_the_key_free(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)

    @consumer.idempotent(EVENT, decode=int)
    def take(message: Message[int]) -> None: ...

    send(brokers, origin, "no-number")
    with running(consumer):
        until(lambda: store.count_dead_letters() == 1)
    assert store.list_dead_letters()[0].outcome.value == "MALFORMED"
    assert states(store, group, ["no-number"]) == {RecordState.FAILED}


@pytest.mark.parametrize("mode", ["tx", "idempotent"])
def test_coroutines_handle_messages(
    mode: str,
    brokers: str,
    store: PostgresStore,
    group: str,
    origin: str,
    effects: psycopg.Connection[Any],
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    at_once = most = 0
    tries: Counter[str] = Counter()

    async def work(message: Text) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.01)
        at_once -= 1
        tries[message.key] += 1
        if message.key == "key-0" and tries["key-0"] == 1:
            raise Retryable("once")

    if mode == "tx":

        @consumer.tx(EVENT)
        async def insert(message: Text, connection: psycopg.AsyncConnection[Any]) -> None:
            await connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))
            await work(message)
    else:
        consumer.idempotent(EVENT)(work)
    keys = [f"key-{n}" for n in range(40)]
    send(brokers, origin, *keys, *keys)
    with running(consumer):
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert tries == Counter([*keys, "key-0"]) and most > 1
    if mode == "tx":
        assert count(effects) == Counter(keys)


def test_coroutines_that_do_not_end_are_cancelled_when_the_consumer_ends(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(
        group, [origin], store, brokers, workers=4, drain_timeout=timedelta(milliseconds=200)
    )
    began: list[str] = []
    cancelled: list[str] = []

    @consumer.idempotent(EVENT)
    async def hang(message: Text) -> None:
        began.append(message.key)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(message.key)
            raise

    keys = [f"key-{n}" for n in range(10)]
    send(brokers, origin, *keys)
    with running(consumer):
        until(lambda: len(began) == 4)
    assert sorted(cancelled) == sorted(began)
    records = store.records(group, keys)
    assert {r.record.state for r in records if r is not None} <= {RecordState.FAILED}
    assert {r.record.attempts for r in records if r is not None} == {0}, "none was an attempt"


def test_a_coroutine_that_takes_too_long_is_cancelled_and_tried_again(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    calls = 0

    @consumer.idempotent(EVENT, timeout=timedelta(milliseconds=100))
    async def hang(message: Text) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await asyncio.sleep(60)

    send(brokers, origin, "slow")
    with running(consumer):
        until(lambda: states(store, group, ["slow"]) == {RecordState.SUCCESS})
    assert calls == 2


@pytest.mark.parametrize("mode", ["tx", "idempotent"])
def test_a_batch_has_a_result_for_each_message(
    mode: str,
    brokers: str,
    store: PostgresStore,
    group: str,
    origin: str,
    effects: psycopg.Connection[Any],
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    sizes: list[int] = []

    def results(messages: list[Text]) -> list[BaseException | bytes | None]:
        sizes.append(len(messages))
        return [NonRetryable("BAD") if m.key == "key-7" else b"ok" for m in messages]

    if mode == "tx":

        @consumer.tx(EVENT, batch=25)
        def insert(
            messages: list[Text], connection: psycopg.Connection[Any]
        ) -> list[BaseException | bytes | None]:
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO effect VALUES (%s)", [(m.key,) for m in messages])
            return results(messages)
    else:
        consumer.idempotent(EVENT, batch=25)(results)
    keys = [f"key-{n}" for n in range(60)]
    send(brokers, origin, *keys, *keys)
    done = [key for key in keys if key != "key-7"]
    with running(consumer):
        until(lambda: states(store, group, done) == {RecordState.SUCCESS})
        until(lambda: states(store, group, ["key-7"]) == {RecordState.DEAD})
    assert max(sizes) > 1
    if mode == "tx":
        assert count(effects) == Counter(done)
    assert store.list_dead_letters()[0].reason == "BAD"


def test_a_message_without_a_result_has_failed(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)

    @consumer.idempotent(EVENT, batch=True)
    def forget(messages: list[Text]) -> list[None]:
        return []

    send(brokers, origin, "a", max_retry=0)
    with running(consumer):
        until(lambda: store.count_dead_letters() == 1)
    assert store.list_dead_letters()[0].reason.startswith("NO_RESULT: ")


@pytest.mark.parametrize("order", [Order.BLOCK, Order.PARK])
def test_later_messages_of_a_biz_key_wait_for_the_one_that_fails(
    order: Order, brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    seen: list[str] = []
    tries: Counter[str] = Counter()

    @consumer.idempotent(EVENT, order=order)
    def handle(message: Text) -> None:
        tries[message.key] += 1
        if message.key == "a-1" and tries["a-1"] < 3:
            raise Retryable("not yet")
        seen.append(message.key)

    send(brokers, origin, "a-1", "a-2", "a-3", biz_key="a")
    send(brokers, origin, "b-1", "b-2", biz_key="b")
    keys = ["a-1", "a-2", "a-3", "b-1", "b-2"]
    with running(consumer):
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert [key for key in seen if key[0] == "a"] == ["a-1", "a-2", "a-3"]
    assert [key for key in seen if key[0] == "b"] == ["b-1", "b-2"]


def test_what_is_out_of_order_steps_aside(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    seen: list[str] = []

    @consumer.idempotent(EVENT, order=Order.BLOCK)
    def handle(message: Text) -> None:
        if message.key == "paid" and "created" not in seen:
            raise OutOfOrder("no order yet")
        seen.append(message.key)

    send(brokers, origin, "paid", "created", biz_key="a")
    with running(consumer):
        until(lambda: states(store, group, ["paid", "created"]) == {RecordState.SUCCESS})
    assert seen == ["created", "paid"]


def test_a_group_shares_its_partitions_and_each_effect_happens_once(
    brokers: str, store: PostgresStore, group: str, origin: str, effects: psycopg.Connection[Any]
) -> None:
    consumers = [Consumer(group, [origin], store, brokers) for _ in range(2)]

    def insert(message: Text, connection: psycopg.Connection[Any]) -> None:
        connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))

    for consumer in consumers:
        consumer.tx(EVENT)(insert)
    keys = [f"key-{n}" for n in range(400)]
    send(brokers, origin, *keys[:200])
    with running(consumers[0]):
        until(lambda: len(count(effects)) > 20)
        with running(consumers[1]):  # a rebalance in the middle of it, and another one at its end
            send(brokers, origin, *keys[200:])
            until(lambda: len(count(effects)) > 300)
        until(lambda: len(count(effects)) == 400)
    assert count(effects) == Counter(keys)


def test_a_window_that_is_full_stops_fetching_until_it_has_room(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers, window=8, workers=2, batch=4)
    go_on = threading.Event()
    begun: list[str] = []

    @consumer.idempotent(EVENT)
    def wait(message: Text) -> None:
        begun.append(message.key)
        assert go_on.wait(60)

    keys = [f"key-{n}" for n in range(100)]
    send(brokers, origin, *keys, biz_key="one-partition")
    with running(consumer):
        until(lambda: len(begun) == 2 and all(p.paused for p in busy(consumer)))
        assert sum(len(p.watermark) for p in busy(consumer)) < 20
        go_on.set()
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert sorted(begun) == sorted(keys)


def busy(consumer: Consumer) -> list[Any]:
    return [part for part in consumer._parts.values() if len(part.watermark)]


def test_what_makes_no_sense_is_refused_with_what_would(
    brokers: str, store: PostgresStore, group: str
) -> None:
    consumer = Consumer(group, ["a"], store, brokers, ignore=["ignored"])
    consumer.idempotent(EVENT)(print)
    with pytest.raises(ValueError, match="two handlers for one event type"):
        consumer.tx(EVENT)(print)
    with pytest.raises(ValueError, match="`ignore`"):
        consumer.tx("ignored")(print)
    with pytest.raises(TypeError, match="no option is named wrkers; there are: batch, "):
        consumer.tx("other", wrkers=3)(print)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="workers is 0"):
        Consumer(group, ["a"], store, brokers, workers=0)
    with pytest.raises(ValueError, match="shorten the origin's name"):
        Consumer(group, ["a" * 249], store, brokers)


def test_an_outage_of_what_a_route_needs_makes_no_dead_letter(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    down = threading.Event()
    down.set()
    failed: Counter[str] = Counter()

    @consumer.idempotent(EVENT)
    def call(message: Text) -> None:
        if down.is_set():
            failed[message.key] += 1
            raise ConnectionError("refused")

    keys = [f"key-{n}" for n in range(100)]
    send(brokers, origin, *keys, max_retry=1)
    with running(consumer):
        until(lambda: len(failed) >= 10)
        down.clear()
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert store.count_dead_letters() == 0
    assert sum(failed.values()) < 60


def test_an_outage_of_the_store_loses_and_doubles_nothing(
    brokers: str,
    tables: str,
    store: PostgresStore,
    group: str,
    origin: str,
    effects: psycopg.Connection[Any],
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    name = urlsplit(tables).path.removeprefix("/")

    @consumer.tx(EVENT)
    def insert(message: Text, connection: psycopg.Connection[Any]) -> None:
        connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))

    keys = [f"key-{n}" for n in range(600)]
    send(brokers, origin, *keys)
    server = need("DATABASE_URL", "postgres")
    with running(consumer), psycopg.connect(server, autocommit=True) as admin:
        until(lambda: len(count(effects)) > 20)
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )
        until(lambda: bool(consumer.health()))
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        with psycopg.connect(tables, autocommit=True) as again:
            until(lambda: len(count(again)) == 600)
            assert count(again) == Counter(keys)
            assert store.count_dead_letters() == 0


def test_topics_that_are_missing_are_named_with_the_command_that_makes_them(
    brokers: str, store: PostgresStore, group: str
) -> None:
    consumer = Consumer(group, ["nowhere"], store, brokers)
    consumer.idempotent(EVENT)(lambda message: None)
    with pytest.raises(MissingTopics, match=f"idem topic create nowhere --group {group}"):
        consumer.run()


def test_a_handler_that_was_quick_and_blocks_holds_up_no_other_message(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers, workers=4, batch=50)
    go_on = threading.Event()
    blocked: list[str] = []

    @consumer.idempotent(EVENT)
    def handle(message: Text) -> None:
        if message.key in ("key-1500", "key-1700", "key-1701"):
            blocked.append(message.key)
            assert go_on.wait(60)

    keys = [f"key-{n}" for n in range(3000)]
    send(brokers, origin, *keys)
    with running(consumer):
        until(lambda: len(blocked) == 3)
        others = [key for key in keys if key not in blocked]
        until(lambda: states(store, group, others) == {RecordState.SUCCESS})
        assert RecordState.SUCCESS not in states(store, group, blocked)
        go_on.set()
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})


def test_a_member_joins_while_every_worker_of_another_is_blocked(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    quickly = timedelta(seconds=0.1)
    busy, free = (
        Consumer(group, [origin], store, brokers, workers=1, batch=10, rebalance_timeout=quickly)
        for _ in range(2)
    )
    go_on, blocked = threading.Event(), threading.Event()
    handled: set[str] = set()

    @busy.idempotent(EVENT)
    def block(message: Text) -> None:
        if message.key == "key-1500":
            blocked.set()
            assert go_on.wait(120)

    free.idempotent(EVENT)(lambda message: handled.add(message.key))
    send(brokers, origin, *[f"key-{n}" for n in range(3000)])
    try:
        with running(busy):
            assert blocked.wait(60)
            with running(free):
                until(lambda: bool(handled))
                go_on.set()
    finally:
        go_on.set()


def test_what_has_run_is_durable_before_what_was_taken_with_it_has_run(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers, workers=1, batch=50)
    go_on = threading.Event()
    handled: list[str] = []

    @consumer.idempotent(EVENT)
    def handle(message: Text) -> None:
        handled.append(message.key)
        if len(handled) == 1520:  # in the midst of a batch
            time.sleep(2 * LONG_SECONDS)
        elif len(handled) == 1521:
            assert go_on.wait(60)

    keys = [f"key-{n}" for n in range(1600)]
    send(brokers, origin, *keys, biz_key="one-partition")
    with running(consumer):
        until(lambda: len(handled) == 1521)
        until(lambda: states(store, group, handled[1519:1520]) == {RecordState.SUCCESS}, 30)
        go_on.set()
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})


def test_a_handler_that_was_quick_is_not_called_for_all_that_was_taken_while_it_fails(
    brokers: str, store: PostgresStore, group: str, origin: str
) -> None:
    consumer = Consumer(group, [origin], store, brokers)
    down, failed, worked = threading.Event(), Counter[str](), Counter[str]()

    @consumer.idempotent(EVENT)
    def call(message: Text) -> None:
        if down.is_set():
            failed[message.key] += 1
            raise ConnectionError("refused")
        worked[message.key] += 1

    keys = [f"key-{n}" for n in range(3000)]
    send(brokers, origin, *keys[:2000], max_retry=1)
    with running(consumer):
        until(lambda: states(store, group, keys[:2000]) == {RecordState.SUCCESS})
        down.set()
        send(brokers, origin, *keys[2000:], max_retry=1)
        until(lambda: len(failed) >= 10)
        down.clear()
        until(lambda: states(store, group, keys) == {RecordState.SUCCESS})
    assert store.count_dead_letters() == 0 and sum(failed.values()) < 100
