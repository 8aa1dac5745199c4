"""The store for programs of asyncio: `sync.py` with await."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool

from ..records import (
    Claim,
    Completion,
    Fenced,
    Grant,
    NotBegun,
    Renewal,
    Settled,
    Settlement,
    StoredRecord,
)
from ..rows import Outgoing
from . import jobs
from .completions import completion_queries
from .config import PostgresConfig, milliseconds
from .errors import is_collision, named
from .handling import DEFAULT_CONNECTIONS, ENDED, begin_handler
from .tables import outbox_put
from .work import ATTEMPTS, BEGIN, REARM, Answer, Query, settings

T = TypeVar("T")
Connection = psycopg.AsyncConnection[Any]


class AsyncPostgresTransaction:
    """A handler's transaction, and what has to be done by its last statements."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.completions: list[Completion] = []

    def complete(self, completion: Completion) -> None:
        """Makes records SUCCESS with the commit; Fenced is raised there where a claim was lost."""
        self.completions.append(completion)


class AsyncPostgresStore:
    """What a loop of deliveries and its handlers need of the store; for the rest there is
    `PostgresStore`, in a thread.

    Its methods may be called from several tasks of one loop. A `StoreError` means that nothing is
    known of what was written: claim again with the same owner, or read the record by its fence.
    """

    name = "postgres"
    follow_ups = True
    """FAILED and what follows from it are one transaction. (DEDUP-021)"""

    def __init__(
        self, pool: AsyncConnectionPool[Connection], config: PostgresConfig | None = None
    ) -> None:
        """A store on a pool of the caller's, which `close` leaves open. It should have more
        connections than handlers run at a time."""
        self.pool = pool
        self.config = config or PostgresConfig()
        self._owned = False

    @classmethod
    async def open(
        cls,
        dsn: str,
        config: PostgresConfig | None = None,
        *,
        connections: int = DEFAULT_CONNECTIONS,
    ) -> AsyncPostgresStore:
        """A store with a pool of its own, which `close` closes."""
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            dsn, min_size=1, max_size=connections, open=False, kwargs={"autocommit": True}
        )
        await pool.open()
        store = cls(pool, config)
        store._owned = True
        return store

    async def close(self) -> None:
        if self._owned:
            await self.pool.close()

    async def __aenter__(self) -> AsyncPostgresStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Records

    async def claim(self, claims: list[Claim]) -> list[Grant]:
        """Keys that are equal in one batch are claimed once; the others are IN_PROGRESS."""
        return await self._do(f"claim {len(claims)} keys", jobs.claim(self.config, claims))

    async def complete(self, completions: list[Completion]) -> list[bool]:
        """Makes records SUCCESS; False where a claim is fenced out."""
        return await self._do(
            f"complete {len(completions)} keys", jobs.complete(self.config, completions)
        )

    async def settle(self, settlements: list[Settlement]) -> list[Settled]:
        """FAILED or DEAD, and the retry or dead letter that follows, in one transaction."""
        action = f"settle {len(settlements)} deliveries"
        return await self._do(action, jobs.settle(self.config, settlements))

    async def renew(self, renewals: list[Renewal]) -> list[bool]:
        """Extends leases; False where a claim is fenced out."""
        return await self._do(f"renew {len(renewals)} leases", jobs.renew(self.config, renewals))

    async def records(self, scope: str, keys: list[str]) -> list[StoredRecord | None]:
        """Records in the order of keys; None where there is none."""
        return await self._do(f"read {len(keys)} records", jobs.records(scope, keys))

    async def check(self) -> None:
        """Raises with what keeps the store from working, and the way to mend it."""
        await self._do("check the store", jobs.check())

    # Outbox

    async def store(self, messages: list[Outgoing], connection: Connection | None = None) -> None:
        """Puts messages into the outbox, within the caller's transaction where one is given."""
        action = f"store {len(messages)} messages"
        if connection is None:
            await self._do(action, jobs.store(messages))
        elif messages:
            try:
                await _execute(connection, outbox_put(messages))
            except psycopg.Error as error:
                raise named(action, error) from error

    # Transactions

    @asynccontextmanager
    async def transaction(
        self, timeout: timedelta | None = None
    ) -> AsyncIterator[AsyncPostgresTransaction]:
        """A transaction for a handler, committed at the end of the block together with SUCCESS of
        what `complete` was given; Fenced is raised where a claim was lost, and then nothing was
        done. NotBegun is raised where there was no transaction to begin with."""
        limit = milliseconds(timeout or self.config.handler_timeout)
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self._connection())
                await connection.execute(begin_handler(limit))
            except psycopg.Error as error:
                raise NotBegun(f"begin a transaction: {error}") from error
            stack.push_async_callback(_rollback, connection)
            transaction = AsyncPostgresTransaction(connection)
            with _uncommitted(connection):
                yield transaction
            await self._commit(transaction)

    async def _commit(self, transaction: AsyncPostgresTransaction) -> None:
        connection = transaction.connection
        if connection.info.transaction_status == TransactionStatus.IDLE:
            raise psycopg.ProgrammingError(ENDED)
        try:
            for completion in transaction.completions:
                await self.complete_in(connection, completion)
            if (await connection.execute("commit")).statusmessage != "COMMIT":
                raise psycopg.ProgrammingError(
                    "commit: a statement had failed, so that all was rolled back"
                )
        except psycopg.Error as error:
            raise named("commit", error) from error

    async def complete_in(self, connection: Connection, completion: Completion) -> None:
        """Makes a record SUCCESS in a transaction of the caller's, as its last statement; where it
        raises Fenced the transaction has to be rolled back."""
        for query in completion_queries(self.config, completion):
            changed = (await _execute(connection, query)).rowcount
            if query.name == "complete_one" and changed == 0:
                raise Fenced(f"complete key {completion.lease.key!r}: the claim is no longer held")

    # How

    async def _do(self, action: str, job: jobs.Job[T]) -> T:
        try:
            transaction = next(job)
            while True:
                try:
                    answer = await self._transact(transaction)
                except psycopg.Error as error:
                    transaction = job.throw(error)
                else:
                    transaction = job.send(answer)
        except StopIteration as stop:
            value: T = stop.value
            return value
        except psycopg.Error as error:
            raise named(action, error) from error

    async def _transact(self, transaction: jobs.Transaction) -> Any:
        first = settings(self.config, transaction.idle_ms, transaction.plans)
        async with self._connection() as connection:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return await _run(connection, first, transaction)
                except psycopg.Error as error:
                    await _rollback(connection)
                    if attempt == ATTEMPTS or not is_collision(error):
                        raise
        raise AssertionError("the last attempt raises")

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """A connection in autocommit: the store says itself where a transaction begins and ends."""
        connection = await self.pool.getconn()
        before = connection.autocommit
        try:
            if not before:
                await connection.set_autocommit(True)
            yield connection
        finally:
            if not before and not connection.closed:
                await _rollback(connection)
                await connection.set_autocommit(before)
            await self.pool.putconn(connection)


async def _run(connection: Connection, first: Query, transaction: jobs.Transaction) -> Any:
    work: Generator[Any, list[Answer], Any] = transaction.begin()
    step = next(work)
    begun = False
    while True:
        async with _pipeline(connection):
            if not begun:
                await connection.execute(BEGIN)
                await _execute(connection, first)
            cursors = [await _execute(connection, query) for query in step.queries]
            if step.last:
                await connection.execute("commit")
        if not step.last:
            await connection.execute(REARM)
        begun = True
        try:
            step = work.send([await _answer(cursor) for cursor in cursors])
        except StopIteration as stop:
            return stop.value


@contextmanager
def _uncommitted(connection: Connection) -> Iterator[None]:
    """Keeps a handler from ending its transaction; a block of `connection.transaction()` within it
    is a savepoint."""

    async def forbidden() -> None:
        raise psycopg.ProgrammingError(ENDED)

    vars(connection).update(commit=forbidden, rollback=forbidden)
    try:
        yield
    finally:
        del connection.commit, connection.rollback


async def _answer(cursor: psycopg.AsyncRawCursor[Any]) -> Answer:
    rows = await cursor.fetchall() if cursor.description is not None else []
    return Answer(rows, cursor.rowcount)


def _cursor(connection: Connection) -> psycopg.AsyncRawCursor[Any]:
    return psycopg.AsyncRawCursor(connection, row_factory=tuple_row)


async def _execute(connection: Connection, query: Query) -> psycopg.AsyncRawCursor[Any]:
    return await _cursor(connection).execute(query.text, query.args)


def _pipeline(connection: Connection) -> AbstractAsyncContextManager[object]:
    """All statements of the block in one round trip, where the driver can."""
    if psycopg.Pipeline.is_supported():
        return connection.pipeline()
    return nullcontext()


async def _rollback(connection: Connection) -> None:
    """Ends a transaction that failed. A connection on which that fails too is of no use."""
    if connection.closed or connection.info.transaction_status == TransactionStatus.IDLE:
        return
    try:
        await connection.rollback()
    except psycopg.Error:
        await connection.close()
