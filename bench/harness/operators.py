"""The operators' command line on large tables, each command as a whole process."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import machine
import psycopg
from figures import Comparison, Contender, Section, Target, median
from psycopg.conninfo import make_conninfo

LIMIT = 100  # ms
KEY = "payments.succeeded:v1:p-999999"
FILTERS = ("", "--scope mail", "--event-type refund", "--reject-reason NO_RATE", f"--key {KEY}")
COMMANDS = (
    "version",  # which asks nobody: what a process takes in any case, as busy as the machine is
    *(f"dlq ls {f}" for f in (*FILTERS, "--outcome CONFLICT", "--until 277h")),
    "dlq ls --scope mail --event-type refund --reject-reason NO_RATE",
    "dlq ls --reject-reason 'BUSY: eu'",
    "dlq ls --scope mial",  # which says what there is
    "dlq show 999999",
    "dlq redrive --scope mail --dry-run",
    "dlq drop --reject-reason NO_RATE --dry-run",
    *(f"retry ls {f}" for f in (*FILTERS, "--action HOLD", "--status PARKED")),
    "retry ls --scope mail --event-type refund --reject-reason NO_RATE",
    "retry ls --reject-reason 'NO_RATE: E'",
    "retry ls --scope mial",
    "retry now --scope mail --dry-run",
    "retry cancel 999999 --reason r --dry-run",
    f"dedup show {KEY}",
    f"dedup forget --scope payments {KEY} --dry-run",
    "audit --since 7d",
    "audit --since 90d",
    "audit --since 90d --by hour",
    f"trace {KEY}",
    "operations",
)
# Half of the deliveries to come are read one by one: no index has their details, for which each
# retry would pay.
WALK = "retry ls --reject-reason 'BUSY: eu'"


@contextmanager
def database(records: int) -> Iterator[str]:
    """A database of its own on the server of DATABASE_URL, filled."""
    server = os.environ["DATABASE_URL"]
    name = f"idem_bench_operators_{os.getpid()}"
    dsn = make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        try:
            machine.run([str(machine.OUT / "idem"), "migrate", "up", "--dsn", dsn])
            text = (machine.BENCH / "operators" / "fill.sql").read_text()
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(text.replace("{records}", str(records)).encode())
                connection.execute("VACUUM ANALYZE")
            yield dsn
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def operators(quick: bool) -> Section:
    """Each command in turn, so often."""
    rounds = 2 if quick else 7
    records = 1_000_000 if quick else 10_000_000
    times = [Contender(command.strip(), []) for command in (*COMMANDS, WALK)]
    facts = []
    if os.environ.get("DATABASE_URL"):
        with database(records) as dsn:
            for number in range(rounds + 1):
                for time in times:
                    command = [str(machine.OUT / "idem"), *shlex.split(time.name)]
                    ran = machine.run(command if time is times[0] else [*command, "--dsn", dsn])
                    if number > 0:  # what the first one waits for is the disk
                        time.rounds.append(ran.wall * 1e3)
        walk = times.pop()
        facts.append(
            f"`{walk.name}`, which no index serves and which is not held to the limit: "
            f"{median(walk.rounds):.0f} ms"
        )
    else:
        facts.append("nothing was measured: DATABASE_URL not set")
    return Section(
        "Operators",
        "bench/out/idem COMMAND --dsn …",
        f"{rounds} rounds of whole processes on a database of 1,000,000 dead letters, as many "
        f"deliveries to come, and {records:,} records. What is looked for is at the far end.",
        [Comparison("a command, on the wall", "ms", times)] if times[0].rounds else [],
        facts,
    )


def targets(section: Section) -> list[Target]:
    if not section.comparisons:
        return []
    slowest = max(section.comparisons[0].contenders, key=lambda c: median(c.rounds))
    value = median(slowest.rounds)
    text = f"Operators: each command, at most {LIMIT} ms; the slowest is {slowest.name}"
    return [Target(text, f"{value:.0f} ms", value <= LIMIT)]
