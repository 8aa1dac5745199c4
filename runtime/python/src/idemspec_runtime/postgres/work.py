"""A transaction of the store as steps that do no I/O, which `sync` and `asynchronous` alike carry
out.

A step is the statements of one round trip; what they answered is sent into the generator, which
then gives the next one, or returns what it came to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from ..texts import postgres_statements
from .config import PostgresConfig, milliseconds

T = TypeVar("T")

ATTEMPTS = 5
"""How often a transaction is begun that the server has ended to break a deadlock."""

MAX_TEXT = 1024
"""The most bytes of a text that an index holds. Headers that are valid are no longer."""

BEGIN = "begin isolation level read committed"
REARM = ""
"""What follows the pipeline of a step that is not the last. psycopg ends one by a Flush behind its
Sync, at which the server stops idle_in_transaction_session_timeout: a process that was stopped
there would keep its locks for ever."""


class Query(NamedTuple):
    """A statement of `spec/sql` by its name."""

    name: str
    args: tuple[Any, ...] = ()

    @property
    def text(self) -> str:
        return postgres_statements()[self.name]


class Answer(NamedTuple):
    """What a statement answered."""

    rows: list[tuple[Any, ...]]
    changed: int


class Step(NamedTuple):
    """The statements of one round trip; with `last` COMMIT goes with them."""

    queries: list[Query]
    last: bool = False


Work = Generator[Step, list[Answer], T]
Begin = Callable[[], "Work[T]"]


def settings(config: PostgresConfig, idle_ms: int, plans: str) -> Query:
    """The first statement of each transaction of the store."""
    times = (config.lock_timeout, config.statement_timeout)
    idle = min(idle_ms or milliseconds(config.idle_timeout), milliseconds(config.idle_timeout))
    return Query("settings", (*(f"{milliseconds(t)}ms" for t in times), f"{max(idle, 1)}ms", plans))


def one(query: Query) -> Work[Answer]:
    """A transaction of one statement."""
    (answer,) = yield Step([query], last=True)
    return answer


def places(query: Query, n: int) -> Work[list[bool]]:
    """One statement that answers with places in a list of n, from 1, or with 0 for all of them."""
    answer = yield from one(query)
    there = [False] * n
    for (place,) in answer.rows:
        if place == 0:
            return [True] * n
        there[place - 1] = True
    return there


# Arrays go as their texts: the statements say their types, and a text takes a fraction of the time
# that a list of values takes to adapt.

_quoted = re.compile(r'[\\"]')


def texts(values: Iterable[str]) -> str:
    """A text[]."""
    given = list(values)
    joined = '","'.join(given)
    if "\\" in joined or joined.count('"') > 2 * max(len(given) - 1, 0):
        joined = '","'.join(_quoted.sub(r"\\\g<0>", value) for value in given)
    return '{"' + joined + '"}' if given else "{}"


def numbers(values: Iterable[int]) -> str:
    """An int[] or a bigint[]."""
    return "{" + ",".join(map(str, values)) + "}"


def blobs(values: Iterable[bytes | None]) -> str:
    """A bytea[]."""
    items = ["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]
    return "{" + ",".join(items) + "}"


def times(values: Iterable[datetime | None]) -> str:
    """A timestamptz[]."""
    items = ("NULL" if value is None else f'"{value.isoformat()}"' for value in values)
    return "{" + ",".join(items) + "}"


_unheld = re.compile("[\0\ud800-\udfff]")


def text(value: str) -> str:
    """What a column of text can hold: UTF-8 without NUL, and no longer than an index takes."""
    if value.isascii():
        if len(value) <= MAX_TEXT and "\0" not in value:
            return value
    value = _unheld.sub("\ufffd", value)
    return value.encode()[:MAX_TEXT].decode(errors="ignore")


def clamp(count: int) -> int:
    """For counts that a column of 32 bits holds."""
    return min(max(count, 0), 2**31 - 1)
