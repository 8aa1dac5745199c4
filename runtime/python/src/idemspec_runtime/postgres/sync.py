"""The store for programs of threads."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from ..audit import Counts
from ..records import (
    Claim,
    Completion,
    Fenced,
    Grant,
    Made,
    NewDone,
    NewKeys,
    NotBegun,
    Renewal,
    Settled,
    Settlement,
    StoredRecord,
)
from ..rows import (
    DeadLetter,
    DeadLetterFilter,
    Mark,
    OutboxCounts,
    Outgoing,
    Retry,
    RetryCounts,
)
from . import jobs
from .cleaning import Walk
from .completions import completion_queries
from .config import PostgresConfig, milliseconds
from .errors import is_collision, named
from .handling import DEFAULT_CONNECTIONS, ENDED, begin_handler
from .tables import outbox_put
from .work import ATTEMPTS, BEGIN, REARM, Answer, Query, settings

if TYPE_CHECKING:
    from .asynchronous import AsyncPostgresStore

T = TypeVar("T")
Connection = psycopg.Connection[Any]


class PostgresTransaction:
    """A handler's transaction, and what has to be done by its last statements. It takes a round
    trip for each: in a pipeline they would take twice the processor time, of which a process has
    one thread's."""

    __slots__ = ("_autocommit", "_limit_ms", "_store", "completions", "connection")

    def __init__(self, store: PostgresStore, limit_ms: int) -> None:
        self.completions: list[Completion] = []
        self._store = store
        self._limit_ms = limit_ms

    def complete(self, completion: Completion) -> None:
        """Makes records SUCCESS with the commit; Fenced is raised there where a claim was lost."""
        self.completions.append(completion)

    def __enter__(self) -> PostgresTransaction:
        try:
            self.connection, self._autocommit = self._store._take()
        except psycopg.Error as error:
            raise NotBegun(f"begin a transaction: {error}") from error
        try:
            _command(self.connection, begin_handler(self._limit_ms))
        except psycopg.Error as error:
            self._store._return(self.connection, self._autocommit)
            raise NotBegun(f"begin a transaction: {error}") from error
        # A block of connection.transaction() within it is a savepoint.
        vars(self.connection).update(commit=_forbidden, rollback=_forbidden)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        connection = self.connection
        del connection.commit, connection.rollback
        try:
            if kind is None:
                self._commit()
        except psycopg.Error as error:
            raise named("commit", error) from error
        finally:
            _rollback(connection)
            self._store._return(connection, self._autocommit)

    def _commit(self) -> None:
        if self.connection.info.transaction_status == TransactionStatus.IDLE:
            raise psycopg.ProgrammingError(ENDED)
        for completion in self.completions:
            self._store.complete_in(self.connection, completion)
        if _command(self.connection, b"commit") != b"COMMIT":
            raise psycopg.ProgrammingError("a statement had failed, so that all was rolled back")


def _command(connection: Connection, command: bytes) -> bytes | None:
    """Statements without parameters or rows, and without a cursor, which takes longer to make than
    they take. Says what the last of them did."""
    result = connection.pgconn.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result)
    return result.command_status


def _forbidden() -> None:
    raise psycopg.ProgrammingError(ENDED)


class PostgresStore:
    """Dedup records, retries, dead letters and the outbox on PostgreSQL.

    Its methods may be called from several threads. A `StoreError` means that nothing is known of
    what was written: claim again with the same owner, or read the record by its fence.
    """

    name = "postgres"
    follow_ups = True
    """FAILED and what follows from it are one transaction. (DEDUP-021)"""

    def __init__(
        self, pool: ConnectionPool[Connection], config: PostgresConfig | None = None
    ) -> None:
        """A store on a pool of the caller's, which `close` leaves open. It should have more
        connections than handlers run at a time."""
        self.pool = pool
        self.config = config or PostgresConfig()
        self._walk = Walk(self.config.retention_ms)
        self._owned = False

    @classmethod
    def open(
        cls,
        dsn: str,
        config: PostgresConfig | None = None,
        *,
        connections: int = DEFAULT_CONNECTIONS,
    ) -> PostgresStore:
        """A store with a pool of its own, which `close` closes. Nothing is asked of the server
        yet."""
        pool: ConnectionPool[Connection] = ConnectionPool(
            dsn,
            min_size=1,
            max_size=connections,
            open=True,
            timeout=10,
            kwargs={"autocommit": True},
        )
        store = cls(pool, config)
        store._owned = True
        return store

    async def asynchronous(self) -> AsyncPostgresStore:
        """The same store for coroutines, with a pool of its own as large as this one's."""
        from .asynchronous import AsyncPostgresStore

        dsn = self.pool.conninfo
        return await AsyncPostgresStore.open(
            dsn if isinstance(dsn, str) else dsn(), self.config, connections=self.pool.max_size
        )

    def close(self) -> None:
        if self._owned:
            self.pool.close()

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Records

    def claim(self, claims: list[Claim]) -> list[Grant]:
        """Keys that are equal in one batch are claimed once; the others are IN_PROGRESS."""
        return self._do(f"claim {len(claims)} keys", jobs.claim(self.config, claims))

    def claim_new(self, new: NewKeys) -> Made:
        """Claims what is new of keys that nearly all are."""
        return self._do(f"claim {len(new.keys)} keys", jobs.claim_new(self.config, new))

    def complete_new(self, done: NewDone) -> list[bool]:
        """The same as `complete` for claims that `claim_new` made."""
        return self._do(f"complete {len(done.keys)} keys", jobs.complete_new(self.config, done))

    def complete(self, completions: list[Completion]) -> list[bool]:
        """Makes records SUCCESS; False where a claim is fenced out."""
        return self._do(
            f"complete {len(completions)} keys", jobs.complete(self.config, completions)
        )

    def settle(self, settlements: list[Settlement]) -> list[Settled]:
        """FAILED or DEAD, and the retry or dead letter that follows, in one transaction."""
        action = f"settle {len(settlements)} deliveries"
        return self._do(action, jobs.settle(self.config, settlements))

    def renew(self, renewals: list[Renewal]) -> list[bool]:
        """Extends leases; False where a claim is fenced out."""
        return self._do(f"renew {len(renewals)} leases", jobs.renew(self.config, renewals))

    def records(self, scope: str, keys: list[str]) -> list[StoredRecord | None]:
        """Records in the order of keys; None where there is none."""
        return self._do(f"read {len(keys)} records", jobs.records(scope, keys))

    def forget(self, scope: str, keys: list[str]) -> int:
        """Makes keys new again, and says how many there were. It permits a second effect."""
        return self._do(f"forget {len(keys)} keys", jobs.forget(self.config, scope, keys))

    def clean(self, limit: int) -> int:
        """Removes at most so many expired records, and says how many; fewer means that none is
        known to be left. Of one that is PROCESSING a tombstone remains. (DEDUP-005, DEDUP-025)"""
        with self._walk.turn:
            return self._do(f"clean {limit} records", jobs.clean(self.config, self._walk, limit))

    def check(self) -> None:
        """Raises with what keeps the store from working, and the way to mend it."""
        self._do("check the store", jobs.check())

    # Retries

    def claim_due(self, token: str, limit: int, lease_ms: int) -> list[Retry]:
        """Claims rows that are due on the server's clock, of any scope, oldest first."""
        return self._do(f"claim {limit} due rows", jobs.claim_due(token, limit, lease_ms))

    def mark_published(self, marks: list[Mark]) -> list[bool]:
        """Removes rows whose publication is confirmed; False where a row has changed since."""
        return self._do(f"mark {len(marks)} rows", jobs.mark_published(marks))

    def postpone(self, marks: list[Mark], due_ms: int) -> None:
        """Gives claims back, of rows that could not be published, due again after a time."""
        self._do(f"postpone {len(marks)} rows", jobs.postpone(marks, due_ms))

    def next_due(self) -> int | None:
        """In how many milliseconds a row can be claimed; None where there is none."""
        return self._do("look for due rows", jobs.next_due())

    def sweep_lanes(self, limit: int) -> int:
        """Lets go the next message of each lane whose head is done. (CONS-015)"""
        return self._do("sweep lanes", jobs.sweep_lanes(self.config, limit))

    def wake(self, scope: str, biz_key: str) -> int:
        """Makes the held rows of a biz key due now. (STATE-012)"""
        return self._do("wake", jobs.wake(scope, biz_key))

    def count_retries(self) -> RetryCounts:
        return self._do("count retries", jobs.count_retries())

    # Dead letters

    def list_dead_letters(
        self, f: DeadLetterFilter | None = None, after: int = 0, limit: int = 100
    ) -> list[DeadLetter]:
        """Those behind an id, in the order of ids."""
        job = jobs.list_dead_letters(f or DeadLetterFilter(), after, limit)
        return self._do("list dead letters", job)

    def count_dead_letters(self, f: DeadLetterFilter | None = None) -> int:
        return self._do("count dead letters", jobs.count_dead_letters(f or DeadLetterFilter()))

    def redrive(self, ids: list[int], deliveries: list[Retry]) -> list[bool]:
        """Writes deliveries and marks the dead letters redriven, in one transaction; False where
        one was redriven or dropped before. (CONS-022)"""
        return self._do(f"redrive {len(ids)} dead letters", jobs.redrive(ids, deliveries))

    def drop_dead_letters(self, ids: list[int]) -> int:
        return self._do(f"drop {len(ids)} dead letters", jobs.drop_dead_letters(ids))

    def dead_letter_stats(self) -> list[jobs.DeadLetterStats]:
        return self._do("count dead letters", jobs.dead_letter_stats())

    # Outbox

    def store(self, messages: list[Outgoing], connection: Connection | None = None) -> None:
        """Puts messages into the outbox, within the caller's transaction where one is given."""
        action = f"store {len(messages)} messages"
        if connection is None:
            self._do(action, jobs.store(messages))
        elif messages:
            try:
                _execute(connection, outbox_put(messages))
            except psycopg.Error as error:
                raise named(action, error) from error

    def stored(self, topic: str, biz_keys: list[bytes]) -> list[bool]:
        """Which biz keys have rows: a message of such a key has to be stored too, so that order
        holds."""
        return self._do(f"look up {len(biz_keys)} biz keys", jobs.stored(topic, biz_keys))

    def claim_outgoing(self, token: str, limit: int, lease_ms: int) -> list[Outgoing]:
        """Claims rows that are due, in their order, none behind one of its topic and biz key that
        waits, is claimed by another, or has failed."""
        job = jobs.claim_outgoing(token, limit, lease_ms)
        return self._do(f"claim {limit} messages of the outbox", job)

    def sent(self, token: str, ids: list[int]) -> None:
        """Removes rows that the broker has confirmed."""
        self._do(f"remove {len(ids)} messages", jobs.sent(token, ids))

    def not_sent(
        self, token: str, ids: list[int], reason: str = "", due_ms: int = 0, failed: bool = False
    ) -> None:
        """Records a try that failed; without a reason it gives the claims back."""
        job = jobs.not_sent(token, ids, reason, due_ms, failed)
        self._do(f"give {len(ids)} messages back", job)

    def retry_failed(self, limit: int) -> int:
        """Makes failed rows of the outbox due again, and says how many there were."""
        return self._do("retry failed messages", jobs.retry_failed(limit))

    def count_outbox(self) -> OutboxCounts:
        return self._do("count the outbox", jobs.count_outbox())

    # Audit

    def count(self, counts: Counts) -> None:
        """Adds to what became of deliveries in this hour. (CONS-040)"""
        self._do(f"count {len(counts)} kinds of deliveries", jobs.count(counts))

    def clean_counts(self, keep: timedelta, limit: int) -> int:
        """Removes at most so many rows of old hours, and says how many."""
        return self._do("clean counts", jobs.clean_counts(milliseconds(keep), limit))

    # Transactions

    def transaction(self, timeout: timedelta | None = None) -> PostgresTransaction:
        """A transaction for a handler, committed at the end of the block together with SUCCESS of
        what `complete` was given; Fenced is raised where a claim was lost, and then nothing was
        done. NotBegun is raised where there was no transaction to begin with.

            with store.transaction() as tx:
                tx.connection.execute(...)
                tx.complete(completion)
        """
        return PostgresTransaction(self, milliseconds(timeout or self.config.handler_timeout))

    def complete_in(self, connection: Connection, completion: Completion) -> None:
        """Makes a record SUCCESS in a transaction of the caller's, as its last statement; where it
        raises Fenced the transaction has to be rolled back."""
        for query in completion_queries(self.config, completion):
            changed = _execute(connection, query).rowcount
            if query.name == "complete_one" and changed == 0:
                raise Fenced(f"complete key {completion.lease.key!r}: the claim is no longer held")

    # How

    def _do(self, action: str, job: jobs.Job[T]) -> T:
        try:
            transaction = next(job)
            while True:
                try:
                    answer = self._transact(transaction)
                except psycopg.Error as error:
                    transaction = job.throw(error)
                else:
                    transaction = job.send(answer)
        except StopIteration as stop:
            value: T = stop.value
            return value
        except psycopg.Error as error:
            raise named(action, error) from error

    def _transact(self, transaction: jobs.Transaction) -> Any:
        first = settings(self.config, transaction.idle_ms, transaction.plans)
        with self._connection() as connection:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return _run(connection, first, transaction)
                except psycopg.Error as error:
                    _rollback(connection)
                    if attempt == ATTEMPTS or not is_collision(error):
                        raise
        raise AssertionError("the last attempt raises")

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        connection, autocommit = self._take()
        try:
            yield connection
        finally:
            self._return(connection, autocommit)

    def _take(self) -> tuple[Connection, bool]:
        """A connection in autocommit, since the store says itself where a transaction begins and
        ends; and what it was before."""
        connection = self.pool.getconn()
        autocommit = connection.autocommit
        if not autocommit:
            connection.autocommit = True
        return connection, autocommit

    def _return(self, connection: Connection, autocommit: bool) -> None:
        if not autocommit and not connection.closed:
            _rollback(connection)
            connection.autocommit = False
        self.pool.putconn(connection)


def _run(connection: Connection, first: Query, transaction: jobs.Transaction) -> Any:
    work: Generator[Any, list[Answer], Any] = transaction.begin()
    step = next(work)
    begun = False
    while True:
        with _pipeline(connection):
            if not begun:
                connection.execute(BEGIN)
                _execute(connection, first)
            cursors = [_execute(connection, query) for query in step.queries]
            if step.last:
                connection.execute("commit")
        if not step.last:
            connection.execute(REARM)
        begun = True
        try:
            step = work.send([_answer(cursor) for cursor in cursors])
        except StopIteration as stop:
            return stop.value


def _answer(cursor: psycopg.RawCursor[Any]) -> Answer:
    rows = cursor.fetchall() if cursor.description is not None else []
    return Answer(rows, cursor.rowcount)


def _cursor(connection: Connection) -> psycopg.RawCursor[Any]:
    return psycopg.RawCursor(connection, row_factory=tuple_row)


def _execute(connection: Connection, query: Query) -> psycopg.RawCursor[Any]:
    return _cursor(connection).execute(query.text, query.args)


def _pipeline(connection: Connection) -> AbstractContextManager[object]:
    """All statements of the block in one round trip, where the driver can."""
    if psycopg.Pipeline.is_supported():
        return connection.pipeline()
    return nullcontext()


def _rollback(connection: Connection) -> None:
    """Ends a transaction that failed. A connection on which that fails too is of no use."""
    if connection.closed or connection.info.transaction_status == TransactionStatus.IDLE:
        return
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()
