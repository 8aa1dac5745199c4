"""The Python consumer beside a bare loop: the same client, the same statements, the same handlers.

    eval "$(scripts/services env postgres kafka)"
    PYTHONPATH=runtime/python/src python bench/python/consume.py [MESSAGES [ROUNDS [TITLE]]]

By hand is what one writes without idem: poll, the key from the headers, claim.sql for a batch, the
handler, complete.sql (idempotent) or a transaction with complete_one.sql in one of as many threads
(tx), commit. It has no retries, no dead letters, no order, no renewed leases, and a message
that fails, or comes twice, ends it. Both take turns; the answer is JSON, each round's
messages a second and the processor time of this process.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import confluent_kafka
import psycopg
from confluent_kafka.admin import AdminClient, NewTopic
from idemspec import Context, Policy, producer_headers
from idemspec_runtime.kafka import Consumer, producer
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.texts import postgres_migrations, postgres_statements
from psycopg_pool import ConnectionPool

SERVER = os.environ.get("DATABASE_URL", "")
BROKERS = os.environ.get("KAFKA_BROKERS", "")
PARTITIONS = 4
WORKERS = 16
RETENTION_MS = 14 * 86_400_000
EFFECT = "INSERT INTO effect VALUES (%s)"
NAMES = "idem, Consumer", "by hand: a loop with the same client and statements"


class Took(NamedTuple):
    wall: float
    processor: float


def main(messages: int = 20_000, rounds: int = 5, only: str = "") -> None:
    comparisons = []
    with database() as dsn, topic(messages) as origin:
        contenders: dict[str, tuple[Callable[..., Took], Callable[..., Took]]] = {
            "a transaction a message": (tx_by_idem, tx_by_hand),
            "no effect in the database": (idempotent_by_idem, idempotent_by_hand),
        }
        for title, sides in contenders.items():
            if not title.endswith(only):
                continue
            n = messages // 2 if sides[0] is tx_by_idem else messages
            took: list[list[Took]] = [[], []]
            for _ in range(rounds):
                for side, mine in zip(sides, took, strict=True):
                    mine.append(side(dsn, origin, n))
                print(title, [t[-1] for t in took], file=sys.stderr)
            comparisons.append(
                {
                    "title": f"{title}, messages a second",
                    "unit": "1/s",
                    "contenders": [
                        {
                            "name": name,
                            "rounds": [n / t.wall for t in mine],
                            "extra": f"{median_micros(mine, n):.0f} us of this process",
                        }
                        for name, mine in zip(NAMES, took, strict=True)
                    ],
                }
            )
    print(json.dumps({"comparisons": comparisons}))


def median_micros(took: list[Took], messages: int) -> float:
    return statistics.median(t.processor for t in took) / messages * 1e6


@contextmanager
def database() -> Iterator[str]:
    name = f"idem_bench_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        dsn = urlsplit(SERVER)._replace(path=f"/{name}").geturl()
        with psycopg.connect(dsn, autocommit=True) as own:
            for version, title, text in postgres_migrations():
                own.execute(text.encode())
                own.execute("INSERT INTO idem_schema VALUES (%s, %s)", (version, title))
            own.execute("CREATE TABLE effect (key text)")
        try:
            yield dsn
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def topic(messages: int) -> Iterator[str]:
    """A topic with the messages. Each contender reads it by a group of its own."""
    admin = AdminClient({"bootstrap.servers": BROKERS})
    name = f"idem-bench-{uuid.uuid4().hex[:8]}"
    create(admin, name)
    client = producer({"bootstrap.servers": BROKERS, "linger.ms": 20})
    for n in range(messages):
        headers = producer_headers(
            Context(event_id=str(uuid.uuid4()), topic=name, produced_at="2026-11-30T00:00:00Z"),
            idempotency_key=f"payments.payment_success:v1:p-{n:09d}",
            event_type="payments.payment_success",
            biz_key=f"order-{n}",
            fingerprint=f"0123abcd-{n:016x}",
            policy=Policy(),
        )
        client.produce(name, key=f"order-{n}", value=b"x" * 200, headers=list(headers))
        client.poll(0)
    assert client.flush(60) == 0
    try:
        yield name
    finally:
        for deleted in admin.delete_topics([name]).values():
            deleted.result()


def create(admin: AdminClient, *names: str) -> None:
    for made in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names]).values():
        made.result()


class Clock:
    """From the first message to the last one."""

    def __init__(self, messages: int) -> None:
        self.left = messages
        self.done = threading.Event()
        self.start: tuple[float, float] | None = None
        self.took = Took(0, 0)

    def begin(self) -> None:
        if self.start is None:
            self.start = time.perf_counter(), time.process_time()

    def add(self, n: int) -> None:
        self.left -= n
        if self.left <= 0 and not self.done.is_set():
            assert self.start is not None
            wall, processor = self.start
            self.took = Took(time.perf_counter() - wall, time.process_time() - processor)
            self.done.set()


# By hand


class Fetched(NamedTuple):
    key: str
    fingerprint: str
    payload: bytes


def fetch(client: confluent_kafka.Consumer, clock: Clock) -> list[Fetched]:
    first = client.poll(0.1)
    if first is None:
        return []
    clock.begin()
    batch = []
    for message in [first, *client.consume(500, 0)]:
        if fault := message.error():  # what the client has to say comes as a message
            raise confluent_kafka.KafkaException(fault)
        headers = dict(message.headers())
        key, fingerprint = headers["idempotency_key"].decode(), headers["fingerprint"].decode()
        batch.append(Fetched(key, fingerprint, message.value()))
    return batch


def claim(
    connection: psycopg.Connection[Any], scope: str, batch: list[Fetched], owner: str
) -> list[str]:
    keys = [message.key for message in batch]
    n = len(keys)
    zeros = [0] * n
    with connection.pipeline():
        connection.execute("begin isolation level read committed")
        psycopg.RawCursor(connection).execute(
            postgres_statements()["settings"], ("250ms", "10000ms", "5000ms", "auto")
        )
        cursor = psycopg.RawCursor(connection).execute(
            postgres_statements()["claim"],
            (
                [scope] * n,
                keys,
                [owner] * n,
                [message.fingerprint for message in batch],
                zeros,
                zeros,
                zeros,
                [30_000] * n,
                RETENTION_MS,
            ),
        )
        connection.execute("commit")
    first = cursor.fetchone()
    assert first is not None and first[3] == n, "each key is new"
    return keys


def consumer(group: str, origin: str) -> confluent_kafka.Consumer:
    client = confluent_kafka.Consumer(
        {
            "bootstrap.servers": BROKERS,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    client.subscribe([origin])
    return client


def idempotent_by_hand(dsn: str, origin: str, messages: int) -> Took:
    scope, clock = uuid.uuid4().hex, Clock(messages)
    client = consumer(scope, origin)
    committed = time.monotonic()
    seen: list[str] = []

    def handle(key: str, payload: bytes) -> None:
        seen.append(key)

    with psycopg.connect(dsn, autocommit=True) as connection:
        while not clock.done.is_set():
            batch = fetch(client, clock)
            if not batch:
                continue
            keys = claim(connection, scope, batch, "owner")
            for message in batch:
                handle(message.key, message.payload)
            n = len(keys)
            with connection.pipeline():
                connection.execute("begin isolation level read committed")
                psycopg.RawCursor(connection).execute(
                    postgres_statements()["settings"], ("250ms", "10000ms", "5000ms", "auto")
                )
                cursor = psycopg.RawCursor(connection).execute(
                    postgres_statements()["complete"],
                    ([scope] * n, keys, [1] * n, ["owner"] * n, [None] * n, RETENTION_MS),
                )
                connection.execute("commit")
            assert cursor.fetchall() == [(0,)], "all claims were still held"
            if time.monotonic() - committed > 1:
                client.commit(asynchronous=True)
                committed = time.monotonic()
            clock.add(n)
    client.close()
    return clock.took


def tx_by_hand(dsn: str, origin: str, messages: int) -> Took:
    scope, clock = uuid.uuid4().hex, Clock(messages)
    client = consumer(scope, origin)

    def handle(message: Fetched) -> None:
        with pool.connection() as connection, connection.transaction():
            connection.execute(EFFECT, (message.key,))
            cursor = psycopg.RawCursor(connection).execute(
                postgres_statements()["complete_one"],
                (scope, message.key, 1, "owner", None, RETENTION_MS),
            )
            assert cursor.rowcount == 1, "the claim was still held"

    with (
        ConnectionPool(dsn, min_size=WORKERS, max_size=WORKERS, open=True) as pool,
        ThreadPoolExecutor(WORKERS) as workers,
        psycopg.connect(dsn, autocommit=True) as connection,
    ):
        while not clock.done.is_set():
            batch = fetch(client, clock)
            if not batch:
                continue
            claim(connection, scope, batch, "owner")
            list(workers.map(handle, batch))
            client.commit(asynchronous=True)
            clock.add(len(batch))
    client.close()
    return clock.took


# By idem


class Watch:
    """An observer."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.ended: Counter[str] = Counter()

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        if metric == "idem_messages_total":
            self.ended[labels["outcome"]] += int(value)
            self.clock.add(int(value))


def run(dsn: str, origin: str, messages: int, add: Callable[[Consumer], None]) -> Took:
    group, clock = uuid.uuid4().hex, Clock(messages)
    retries = f"{origin}.retry.{group}"
    admin = AdminClient({"bootstrap.servers": BROKERS})
    create(admin, retries)
    watch = Watch(clock)
    with PostgresStore.open(dsn) as store:
        mine = Consumer(group, [origin], store, BROKERS, workers=WORKERS, observer=watch)
        add(mine)
        parse = mine._guard.parse

        def first(*args: Any) -> Any:
            clock.begin()
            mine._guard.parse = parse  # type: ignore[method-assign]
            return parse(*args)

        mine._guard.parse = first  # type: ignore[method-assign]
        thread = threading.Thread(target=mine.run)
        thread.start()
        clock.done.wait()
        mine.stop()
        thread.join()
        assert set(watch.ended) == {"OK"}, watch.ended
    admin.delete_topics([retries])
    return clock.took


def idempotent_by_idem(dsn: str, origin: str, messages: int) -> Took:
    seen: list[str] = []

    def add(mine: Consumer) -> None:
        @mine.idempotent("payments.payment_success")
        def handle(message: Any) -> None:
            seen.append(message.key)

    return run(dsn, origin, messages, add)


def tx_by_idem(dsn: str, origin: str, messages: int) -> Took:
    def add(mine: Consumer) -> None:
        @mine.tx("payments.payment_success")
        def handle(message: Any, connection: psycopg.Connection[Any]) -> None:
            connection.execute(EFFECT, (message.key,))

    return run(dsn, origin, messages, add)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
