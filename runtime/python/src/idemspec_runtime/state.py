"""The guard of a state machine over a table of your own: it moves one row from the state that a
message expects to the state that it brings, or says why not. (STATE-010 to STATE-013)

    orders = Table("orders", id="order_id", status="status", last_key="last_idempotency_key")

    @consumer.tx(PaymentSucceededIdem, decode=PaymentSucceeded.FromString, state=orders)
    def paid(message, connection): ...      # the row is PAID, in this transaction
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import psycopg
from idemspec import Outcome, StateVerdict, Transition
from psycopg.rows import tuple_row

from .failures import Failure

SUPERSEDED = "SUPERSEDED"

_is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}").fullmatch


@dataclass(frozen=True)
class Table:
    """Your table of the objects, one row each. Names are exactly as the database has them: they are
    quoted, so that case counts."""

    name: str
    """"orders", or with its schema "shop.orders"."""
    id: str
    """The column that selects a row; it has to be unique."""
    status: str
    """The column of the state: its text, or what `values` says."""
    version: str = ""
    """A column of integers that each move raises by 1."""
    last_key: str = ""
    """A column of text that keeps the idempotency key of the last move. It tells one's own work
    from another's: without it every DUPLICATE counts as superseded. Mode guarded needs it."""
    guard_creates: bool = False
    """Who inserts the row of a transition from "": the guard, or the handler, in the transaction
    that it is given."""
    values: Mapping[str, object] | None = None
    """What the status column holds for the text of each state, where that is something else."""

    def __post_init__(self) -> None:
        columns = [c for c in (self.id, self.status, self.version, self.last_key) if c]
        parts = self.name.split(".")
        for name in (*parts, self.id, self.status, *columns):
            if not _is_name(name):
                raise ValueError(
                    f"state table {self.name!r}: {name!r} is no name: give [A-Za-z_][A-Za-z0-9_]*, "
                    "at most 63 characters"
                )
        if len(parts) > 2:
            raise ValueError(f'state table {self.name!r}: give "table" or "schema.table"')
        if len(set(columns)) < len(columns):
            raise ValueError(f"state table {self.name!r}: two of its columns are one: {columns}")

    @cached_property
    def states(self) -> dict[str, str]:
        """The texts of the states by the texts of their values."""
        return {str(value): state for state, value in (self.values or {}).items()}

    @property
    def quoted(self) -> str:
        return ".".join(map(_quote, self.name.split(".")))


@dataclass(frozen=True)
class Move:
    """One transition of one object."""

    id: object
    key: str
    """The message's idempotency key, and the one by the template before, during a migration."""
    previous_key: str
    transition: Transition
    verdict: Callable[[str], StateVerdict]
    """Of the generated helper."""
    set: Mapping[str, object]
    """Further columns to write with the move. Values are parameters, never SQL."""


class StateFailure(Failure):
    """The row does not move: what the verdict means for the delivery. (STATE-005, STATE-011)"""

    def __init__(
        self, outcome: Outcome, text: str, superseded: bool = False, superseded_by: str = ""
    ) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.superseded = superseded
        self.superseded_by = superseded_by


class _Answer(NamedTuple):
    rows: list[tuple[Any, ...]]
    changed: int


Steps = Generator[tuple[str, tuple[object, ...]], _Answer, None]
"""Statements, of which each answer decides on the next."""


def move(table: Table, asked: Move) -> Steps:
    """Moves the row, and locks it until the transaction ends; StateFailure says why not."""
    before = asked.transition.before
    columns = _columns(table, asked)
    if before:
        text, args = _update(table, columns)
        answer = yield (
            f"{text} AND g.{_quote(table.status)} = ${len(args) + 2}",
            (
                *args,
                asked.id,
                _value(table, before),
            ),
        )
        if answer.changed:
            return
    row = yield _read(table) + " FOR UPDATE", (asked.id,)
    if not row.rows and not before and asked.verdict("") is StateVerdict.APPLY:
        if table.guard_creates:
            answer = yield _insert(table, columns), (*columns.values(), asked.id)
            if answer.changed:
                return
        else:
            # Of two that create it at once the second waits, and then finds the row.
            yield (
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                (f"idem state {table.quoted} {asked.id}",),
            )
        row = yield _read(table) + " FOR UPDATE", (asked.id,)
        if not row.rows:
            return
    decide(table, asked, row)
    if row.rows:  # it came into the expected state between the update and the lock
        text, args = _update(table, columns)
        yield text, (*args, asked.id)


def read(table: Table, asked: Move) -> Steps:
    """The verdict beforehand, without a lock and without a change. (STATE-013)"""
    decide(table, asked, (yield _read(table), (asked.id,)))


def decide(table: Table, asked: Move, row: _Answer) -> None:
    status, last_key = row.rows[0] if row.rows else (None, None)
    current = "" if status is None else str(status)
    if table.values is not None and current:
        # One that is not among them is unknown to the machine, which says so.
        current = table.states.get(current, current)
    verdict = asked.verdict(current)
    where = f"the object is in state {current}" if row.rows else "the object does not exist"
    if verdict is StateVerdict.EARLY:
        raise StateFailure(Outcome.OUT_OF_ORDER, f"OUT_OF_ORDER: {where}")
    if verdict is StateVerdict.CONFLICT:
        raise StateFailure(Outcome.CONFLICT, f"CONFLICT: {where}")
    if verdict is StateVerdict.DUPLICATE:
        if last_key and last_key in (asked.key, asked.previous_key):
            raise StateFailure(Outcome.DUPLICATE, where)
        by = last_key or ""
        if asked.transition.dead_letter_superseded:
            text = f"{SUPERSEDED}: another key made the transition" + (f": {by}" if by else "")
            raise StateFailure(Outcome.NON_RETRYABLE, text, True, by)
        raise StateFailure(Outcome.DUPLICATE, where, True, by)


def run(connection: psycopg.Connection[Any], steps: Steps) -> None:
    """Carries steps out in the caller's transaction."""
    cursor = psycopg.RawCursor(connection, row_factory=tuple_row)
    try:
        statement = next(steps)
        while True:
            cursor.execute(statement[0].encode(), statement[1])
            rows = cursor.fetchall() if cursor.description is not None else []
            statement = steps.send(_Answer(rows, cursor.rowcount))
    except StopIteration:
        return


async def run_async(connection: psycopg.AsyncConnection[Any], steps: Steps) -> None:
    """The same for coroutines."""
    cursor = psycopg.AsyncRawCursor(connection, row_factory=tuple_row)
    try:
        statement = next(steps)
        while True:
            await cursor.execute(statement[0].encode(), statement[1])
            rows = await cursor.fetchall() if cursor.description is not None else []
            statement = steps.send(_Answer(rows, cursor.rowcount))
    except StopIteration:
        return


def _columns(table: Table, asked: Move) -> dict[str, object]:
    """What a move writes, but for the version."""
    columns = {table.status: _value(table, asked.transition.after)}
    if table.last_key:
        columns[table.last_key] = asked.key
    for name, value in asked.set.items():
        if not _is_name(name) or name in columns or name in (table.id, table.version):
            raise ValueError(
                f"state table {table.name}: {name!r} is no column to set: the guard writes it "
                "itself, or it is no name"
            )
        columns[name] = value
    return columns


def _value(table: Table, state: str) -> object:
    if table.values is None:
        return state
    if state not in table.values:
        raise ValueError(f"state table {table.name}: values has nothing for the state {state}")
    return table.values[state]


def _update(table: Table, columns: dict[str, object]) -> tuple[str, tuple[object, ...]]:
    """Without a condition on the state; the id is the last parameter."""
    sets = [f"{_quote(name)} = ${n}" for n, name in enumerate(columns, 1)]
    if table.version:
        sets.append(f"{_quote(table.version)} = g.{_quote(table.version)} + 1")
    where = f"g.{_quote(table.id)} = ${len(columns) + 1}"
    return f"UPDATE {table.quoted} AS g SET {', '.join(sets)} WHERE {where}", tuple(
        columns.values()
    )


def _insert(table: Table, columns: dict[str, object]) -> str:
    names = [*columns, table.id]
    values = [f"${n}" for n in range(1, len(names) + 1)]
    if table.version:
        names, values = [*names, table.version], [*values, "1"]
    return (
        f"INSERT INTO {table.quoted} ({', '.join(map(_quote, names))}) "
        f"VALUES ({', '.join(values)}) ON CONFLICT ({_quote(table.id)}) DO NOTHING"
    )


def _read(table: Table) -> str:
    last_key = f"g.{_quote(table.last_key)}" if table.last_key else "NULL"
    return (
        f"SELECT g.{_quote(table.status)}, {last_key} FROM {table.quoted} AS g "
        f"WHERE g.{_quote(table.id)} = $1"
    )


def _quote(name: str) -> str:
    return f'"{name}"'
