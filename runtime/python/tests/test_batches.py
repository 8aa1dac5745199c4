"""Handlers that take a batch and are coroutines."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from idemspec import RecordState
from idemspec_runtime import Message, NonRetryable
from idemspec_runtime.kafka import Consumer
from idemspec_runtime.postgres import PostgresStore
from kafka_topics import running, send, topic, until
from services import unique

EVENT = "test.event"
Messages = list[Message[bytes]]


def states(store: PostgresStore, group: str, keys: list[str]) -> set[RecordState | None]:
    return {r.record.state if r else None for r in store.records(group, keys)}


def effects(connection: psycopg.Connection[Any]) -> Counter[str]:
    return Counter(row[0] for row in connection.execute("SELECT key FROM effect"))


def test_each_message_of_a_transaction_has_its_result(
    brokers: str, store: PostgresStore, tables: str
) -> None:
    """One fails: it is a dead letter, and the effects of the others are there once."""
    group, sizes = unique("group"), []
    with topic(brokers, group) as origin, psycopg.connect(tables, autocommit=True) as own:
        own.execute("CREATE TABLE effect (key text)")
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.tx(EVENT, batch=10)
        async def handle(messages: Messages, connection: psycopg.AsyncConnection[Any]) -> list[Any]:
            sizes.append(len(messages))
            for message in messages:
                await connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))
            return [NonRetryable("BAD") if m.key == "bad" else b"x" for m in messages]

        keys = [f"key-{n}" for n in range(40)]
        send(brokers, origin, *keys[:20], "bad", *keys[20:], *keys)
        with running(consumer):
            until(lambda: effects(own) == Counter(keys))
            until(lambda: store.count_dead_letters() == 1)
            records = store.records(group, keys)
        assert effects(own) == Counter(keys)
        assert {r.record.result for r in records if r is not None} == {b"x"}
        assert 1 < max(sizes) <= 10


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("coroutine", [True, False])
def test_a_statement_that_fails_takes_no_other_message_along(
    brokers: str, store: PostgresStore, tables: str, said: bool, coroutine: bool
) -> None:
    """Behind it PostgreSQL refuses those of the others, which are not to blame, whether or not the
    handler says whose it was."""
    group = unique("group")
    with topic(brokers, group) as origin, psycopg.connect(tables, autocommit=True) as own:
        own.execute("CREATE TABLE effect (key text)")
        consumer = Consumer(group, [origin], store, brokers)

        def statement(m: Message[bytes]) -> bytes:
            return b"INSERT INTO %s VALUES (%%s)" % (b"nowhere" if m.key == "bad" else b"effect")

        def given(m: Message[bytes], messages: Messages, error: psycopg.Error) -> Any:
            return error if said or m.key != "bad" or len(messages) == 1 else None

        def handle(messages: Messages, connection: psycopg.Connection[Any]) -> list[Any]:
            results: list[Any] = []
            for m in messages:
                try:
                    connection.execute(statement(m), (m.key,))
                    results.append(None)
                except psycopg.Error as error:
                    results.append(given(m, messages, error))
            return results

        async def handle_async(
            messages: Messages, connection: psycopg.AsyncConnection[Any]
        ) -> list[Any]:
            results: list[Any] = []
            for m in messages:
                try:
                    await connection.execute(statement(m), (m.key,))
                    results.append(None)
                except psycopg.Error as error:
                    results.append(given(m, messages, error))
            return results

        consumer.tx(EVENT, batch=10)(handle_async if coroutine else handle)
        keys = [f"key-{n}" for n in range(20)]
        send(brokers, origin, *keys[:5], "bad", *keys[5:])
        with running(consumer):
            until(lambda: effects(own) == Counter(keys))
            until(lambda: store.count_dead_letters() == 1)
        assert [d.key for d in store.list_dead_letters()] == ["bad"]


def test_each_message_of_a_batch_has_its_result(brokers: str, store: PostgresStore) -> None:
    """What raises in the middle makes all of its batch fail, and be tried again."""
    group, seen = unique("group"), Counter[str]()
    with topic(brokers, group) as origin:
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.idempotent(EVENT, batch=True)
        async def handle(messages: Messages) -> list[Any]:
            first = not seen
            seen.update(m.key for m in messages)
            await asyncio.sleep(0)
            if first:
                raise RuntimeError("not yet")
            return [NonRetryable("BAD") if m.key == "bad" else None for m in messages]

        send(brokers, origin, "a", "b", "bad")
        with running(consumer):
            until(lambda: store.count_dead_letters() == 1)
            until(lambda: states(store, group, ["a", "b"]) == {RecordState.SUCCESS})
    assert sum(seen.values()) > 3 and seen.keys() == {"a", "b", "bad"}


def test_a_batch_that_takes_too_long_is_cancelled_and_tried_again(
    brokers: str, store: PostgresStore
) -> None:
    group, calls = unique("group"), []
    with topic(brokers, group) as origin:
        consumer = Consumer(group, [origin], store, brokers)

        @consumer.idempotent(EVENT, batch=True, timeout=timedelta(milliseconds=200))
        async def handle(messages: Messages) -> list[None]:
            calls.append(len(messages))
            if len(calls) == 1:
                await asyncio.sleep(60)
            return [None] * len(messages)

        send(brokers, origin, "a")
        with running(consumer):
            until(lambda: len(calls) == 2)
            until(lambda: store.count_retries().pending == 0)
