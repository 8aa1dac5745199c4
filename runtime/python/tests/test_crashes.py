"""Processes that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from idemspec import RecordState
from idemspec_runtime.postgres import PostgresStore
from kafka_topics import send, topic, until
from services import unique

HERE = Path(__file__).parent


def all_done(store: PostgresStore, group: str, keys: list[str]) -> bool:
    records = store.records(group, keys)
    return all(r is not None and r.record.state is RecordState.SUCCESS for r in records)


def end_leases(connection: psycopg.Connection[Any]) -> None:
    connection.execute("UPDATE idem_record SET lease_until = updated_at WHERE state = 1")


def run_until(done: Callable[[], bool], *args: str, expire: Callable[[], object]) -> int:
    """Starts the process again as often as it dies, and says how often that was. `expire` ends the
    leases of the dead, for which one would have to wait otherwise."""
    deaths = 0
    environment = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
    while True:
        with subprocess.Popen(
            [sys.executable, str(HERE / "dying.py"), *args], env=environment
        ) as p:
            until(lambda p=p: done() or p.poll() is not None, 120)  # type: ignore[misc]
            if p.poll() is None:
                p.terminate()
                assert p.wait(60) == 0, "it ends in order"
                return deaths
        deaths += 1
        expire()


def test_a_process_that_is_killed_in_its_handler_leaves_no_effect_and_is_taken_over(
    brokers: str, tables: str, store: PostgresStore
) -> None:
    group, keys = unique("group"), [f"key-{n}" for n in range(30)]
    with (
        topic(brokers, group) as origin,
        psycopg.connect(tables, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE effect (key text)")
        send(brokers, origin, *keys)
        deaths = run_until(
            lambda: all_done(store, group, keys),
            *(tables, brokers, origin, group, "key-7"),
            expire=lambda: end_leases(connection),
        )
        effects = Counter(row[0] for row in connection.execute("SELECT key FROM effect"))
    assert deaths == 1 and effects == Counter(keys)


def test_a_message_that_kills_each_process_ends_as_a_dead_letter_and_the_others_go_on(
    brokers: str, tables: str, store: PostgresStore
) -> None:
    group, keys = unique("group"), [f"key-{n}" for n in range(30)]
    others = [key for key in keys if key != "key-7"]
    with (
        topic(brokers, group, partitions=1) as origin,
        psycopg.connect(tables, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE effect (key text)")
        send(brokers, origin, *keys, max_retry=0)
        deaths = run_until(
            lambda: store.count_dead_letters() == 1 and all_done(store, group, others),
            *(tables, brokers, origin, group, "always:key-7"),
            expire=lambda: end_leases(connection),
        )
        effects = Counter(row[0] for row in connection.execute("SELECT key FROM effect"))
    (letter,) = store.list_dead_letters()
    assert (letter.key, letter.outcome.value) == ("key-7", "CRASH_LOOP")
    assert deaths == 4, "max_retry + 4 attempts"
    assert effects == Counter(others)
