"""The guard of a state machine, on PostgreSQL and in a consumer. (STATE-010 to STATE-013)"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from idemspec import IdemError, Outcome, StateMachine, StateVerdict, Transition
from idemspec_runtime import Message, observe
from idemspec_runtime.kafka import Consumer
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.state import Move, StateFailure, Table, move, read, run, run_async
from kafka_topics import running, send, topic, until
from services import unique

MACHINE = StateMachine(
    [("", "CREATED"), ("CREATED", "PAYING"), ("PAYING", "PAID"), ("CREATED", "CANCELLED")]
)
ORDERS = Table("orders", "order_id", "status", version="version", last_key="last_idempotency_key")


class Helper:
    """As the plugin generates it."""

    EVENT_TYPE = ""
    TRANSITION: Transition

    @classmethod
    def verdict(cls, current: str) -> StateVerdict:
        return MACHINE.verdict(current, cls.TRANSITION.before, cls.TRANSITION.after)


def helper(before: str, after: str, dead_letter: bool = False) -> type[Helper]:
    class Of(Helper):
        EVENT_TYPE = f"order.{after.lower()}"
        TRANSITION = Transition("Order", before, after, dead_letter)

    return Of


CREATED, PAYING, PAID = helper("", "CREATED"), helper("CREATED", "PAYING"), helper("PAYING", "PAID")


@pytest.fixture
def orders(tables: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE orders (order_id text PRIMARY KEY, status text, version bigint,"
            " last_idempotency_key text, note text)"
        )
        connection.execute("INSERT INTO orders VALUES ('o', 'PAYING', 1, 'earlier')")
        yield connection


def row(orders: psycopg.Connection[Any], of: str = "o") -> tuple[Any, ...] | None:
    return orders.execute(
        "SELECT status, version, last_idempotency_key, note FROM orders WHERE order_id = %s", (of,)
    ).fetchone()


def asked(of: type[Helper], key: str = "key", order: str = "o", **columns: object) -> Move:
    return Move(order, key, "", of.TRANSITION, of.verdict, columns)


def test_a_row_in_the_expected_state_moves(orders: psycopg.Connection[Any]) -> None:
    run(orders, move(ORDERS, asked(PAID, note="x")))
    assert row(orders) == ("PAID", 2, "key", "x")


@pytest.mark.parametrize(
    ("status", "last_key", "dead_letter", "outcome", "superseded"),
    [
        pytest.param("CREATED", "other", False, Outcome.OUT_OF_ORDER, False, id="early"),
        pytest.param("CANCELLED", "other", False, Outcome.CONFLICT, False, id="conflict"),
        pytest.param("PAID", "key", True, Outcome.DUPLICATE, False, id="one's own"),
        pytest.param("PAID", "other", False, Outcome.DUPLICATE, True, id="superseded"),
        pytest.param("PAID", "other", True, Outcome.NON_RETRYABLE, True, id="to be seen"),
    ],
)
def test_a_row_in_another_state_says_what_becomes_of_the_message(
    orders: psycopg.Connection[Any],
    status: str,
    last_key: str,
    dead_letter: bool,
    outcome: Outcome,
    superseded: bool,
) -> None:
    orders.execute("UPDATE orders SET status = %s, last_idempotency_key = %s", (status, last_key))
    of = helper("PAYING", "PAID", dead_letter)
    for steps in (move(ORDERS, asked(of)), read(ORDERS, asked(of))):
        with pytest.raises(StateFailure) as failed:
            run(orders, steps)
        assert (failed.value.outcome, failed.value.superseded) == (outcome, superseded)
        assert failed.value.superseded_by == ("other" if superseded else "")
    assert row(orders) == (status, 1, last_key, None)


def test_a_state_that_the_machine_does_not_have_is_an_error(
    orders: psycopg.Connection[Any],
) -> None:
    orders.execute("UPDATE orders SET status = 'NEW'")
    with pytest.raises(IdemError, match="STATE_UNKNOWN"):
        run(orders, move(ORDERS, asked(PAID)))


def test_the_guard_creates_a_row_where_it_is_told_to(orders: psycopg.Connection[Any]) -> None:
    creates = Table(
        "orders", "order_id", "status", "version", "last_idempotency_key", guard_creates=True
    )
    run(orders, move(creates, asked(CREATED, order="new", note="n")))
    assert row(orders, "new") == ("CREATED", 1, "key", "n")
    with pytest.raises(StateFailure) as failed:
        run(orders, move(creates, asked(CREATED, "another", order="new")))
    assert failed.value.superseded_by == "key"


def test_of_two_that_create_an_object_the_second_finds_it(
    orders: psycopg.Connection[Any], tables: str
) -> None:
    found: list[BaseException] = []

    def second() -> None:
        with psycopg.connect(tables) as other:
            try:
                run(other, move(ORDERS, asked(CREATED, "second", order="new")))
            except StateFailure as failure:
                found.append(failure)

    with psycopg.connect(tables) as first:
        run(first, move(ORDERS, asked(CREATED, order="new")))  # nothing is there yet
        thread = threading.Thread(target=second)
        thread.start()
        first.execute("INSERT INTO orders VALUES ('new', 'CREATED', 1, 'key')")
    thread.join()
    assert len(found) == 1


def test_the_second_of_two_moves_waits_for_the_first(
    orders: psycopg.Connection[Any], tables: str
) -> None:
    async def both() -> list[BaseException | None]:
        async def one(key: str) -> None:
            async with await psycopg.AsyncConnection.connect(tables) as connection:
                await run_async(connection, move(ORDERS, asked(PAID, key)))
                await asyncio.sleep(0.05)

        return [*await asyncio.gather(one("one"), one("two"), return_exceptions=True)]

    results = asyncio.run(both())
    (failure,) = [r for r in results if r is not None]
    assert isinstance(failure, StateFailure) and failure.superseded
    assert row(orders) in (("PAID", 2, "one", None), ("PAID", 2, "two", None))


def test_values_stand_for_states(orders: psycopg.Connection[Any]) -> None:
    orders.execute("ALTER TABLE orders ALTER status TYPE int USING 2")
    numbered = Table("orders", "order_id", "status", values={"CREATED": 1, "PAYING": 2, "PAID": 3})
    run(orders, move(numbered, asked(PAID)))
    with pytest.raises(StateFailure):
        run(orders, move(numbered, asked(PAYING)))
    with pytest.raises(ValueError, match="nothing for the state CREATED"):
        run(orders, move(Table("orders", "order_id", "status", values={}), asked(CREATED)))


@pytest.mark.parametrize(
    ("of", "says"),
    [
        pytest.param({"name": 'or"ders'}, "is no name", id="a quote"),
        pytest.param({"name": "a.b.c"}, "schema.table", id="three parts"),
        pytest.param({"status": "order_id"}, "are one", id="one column twice"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(of: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Table(**{"name": "orders", "id": "order_id", "status": "status"} | of)


Register = Callable[[Consumer, type[Helper]], None]


def by_tx(consumer: Consumer, of: type[Helper]) -> None:
    @consumer.tx(of, state=ORDERS)
    def handle(message: Message[bytes], connection: psycopg.Connection[Any]) -> None:
        connection.execute("UPDATE orders SET note = concat(note, 'x')")


def by_coroutines(consumer: Consumer, of: type[Helper]) -> None:
    @consumer.tx(of, state=ORDERS)
    async def handle(message: Message[bytes], connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute("UPDATE orders SET note = concat(note, 'x')")


def by_batches(consumer: Consumer, of: type[Helper]) -> None:
    @consumer.tx(of, state=ORDERS, batch=True)
    def handle(messages: list[Message[bytes]], connection: psycopg.Connection[Any]) -> list[None]:
        for _ in messages:
            connection.execute("UPDATE orders SET note = concat(note, 'x')")
        return [None] * len(messages)


def by_guarded(consumer: Consumer, of: type[Helper]) -> None:
    @consumer.guarded(of, ORDERS)
    def columns(message: Message[bytes]) -> dict[str, object]:
        return {"note": "x" if of is PAYING else "xx"}


def by_guarded_coroutines(consumer: Consumer, of: type[Helper]) -> None:
    @consumer.guarded(of, ORDERS)
    async def columns(message: Message[bytes]) -> dict[str, object]:
        return {"note": "x" if of is PAYING else "xx"}


class Readings:
    def __init__(self) -> None:
        self.superseded = 0.0

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        if metric == observe.SUPERSEDED:
            self.superseded += value


@pytest.mark.parametrize(
    "register", [by_tx, by_coroutines, by_batches, by_guarded, by_guarded_coroutines]
)
def test_what_comes_too_early_is_tried_again_once_the_state_has_moved(
    brokers: str, store: PostgresStore, orders: psycopg.Connection[Any], register: Register
) -> None:
    """PAID comes before PAYING, and is held for a minute: but for the waking it would not end."""
    orders.execute("UPDATE orders SET status = 'CREATED'")
    group, readings = unique("group"), Readings()
    with topic(brokers, group) as origin:
        consumer = Consumer(group, [origin], store, brokers, observer=readings)
        for of in (PAYING, PAID):
            register(consumer, of)
        send(brokers, origin, "paid", event_type=PAID.EVENT_TYPE, biz_key="o")
        with running(consumer):
            until(lambda: store.count_retries().pending == 1)
            orders.execute("UPDATE msg_retry SET next_retry_time = now() + interval '1 hour'")
            send(brokers, origin, "paying", event_type=PAYING.EVENT_TYPE, biz_key="o")
            until(lambda: row(orders) == ("PAID", 3, "paid", "xx"))
            send(brokers, origin, "again", event_type=PAID.EVENT_TYPE, biz_key="o")
            until(lambda: readings.superseded == 1)
    assert row(orders) == ("PAID", 3, "paid", "xx") and store.count_dead_letters() == 0


@pytest.mark.parametrize("is_async", [False, True])
def test_in_mode_idempotent_the_guard_reads_before_and_moves_after(
    brokers: str, store: PostgresStore, orders: psycopg.Connection[Any], is_async: bool
) -> None:
    seen: list[Any] = []

    def handle(message: Message[bytes]) -> None:
        seen.append((message.key, row(orders)))

    async def handle_async(message: Message[bytes]) -> None:
        handle(message)

    group = unique("group")
    with topic(brokers, group) as origin:
        consumer = Consumer(group, [origin], store, brokers)
        handler: Any = handle_async if is_async else handle
        consumer.idempotent(PAID, state=ORDERS, dead_letter_superseded=True)(handler)
        send(brokers, origin, "first", event_type=PAID.EVENT_TYPE, biz_key="o")
        with running(consumer):
            until(lambda: row(orders) == ("PAID", 2, "first", None))
            send(brokers, origin, "second", event_type=PAID.EVENT_TYPE, biz_key="o")
            until(lambda: store.count_dead_letters() == 1)
    assert seen == [("first", ("PAYING", 1, "earlier", None))]
    (letter,) = store.list_dead_letters()
    assert letter.reason == "SUPERSEDED: another key made the transition: first"


def test_what_makes_no_sense_is_refused_with_what_would(store: PostgresStore) -> None:
    consumer = Consumer("group", ["orders"], store, "localhost:1")
    with pytest.raises(ValueError, match="has no TRANSITION"):
        consumer.tx("order.paid", state=ORDERS)(lambda message, connection: None)
    with pytest.raises(ValueError, match="has no last_key"):
        consumer.guarded(PAID, Table("orders", "order_id", "status"))(lambda message: None)
    with pytest.raises(ValueError, match="a `def` in mode tx"):
        consumer.idempotent(PAID, state=ORDERS, batch=True)(lambda messages: [])
