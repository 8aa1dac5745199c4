"""The store on PostgreSQL by itself; tests/test_store_pairs.py has it beside that of Go."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from idemspec import AdmissionVerdict, Outcome, RecordState
from idemspec_runtime import StoreError
from idemspec_runtime.postgres import AsyncPostgresStore, PostgresConfig, PostgresStore
from idemspec_runtime.postgres.jobs import Transaction
from idemspec_runtime.postgres.work import Step, Work
from idemspec_runtime.records import (
    Claim,
    Completion,
    Fenced,
    Grant,
    Lane,
    Lease,
    NotBegun,
    Settled,
    Settlement,
)
from idemspec_runtime.rows import (
    DeadLetter,
    DeadLetterFilter,
    Mark,
    Outgoing,
    Retry,
    mark_of,
)
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

PROCEED, IN_PROGRESS = AdmissionVerdict.PROCEED, AdmissionVerdict.IN_PROGRESS


def claim_of(key: str, owner: str = "", **more: Any) -> Claim:
    return Claim("scope", key, owner or f"owner of {key}", 30_000, 9, **more)


def held(grant: Grant) -> Lease:
    assert grant.lease is not None
    return grant.lease


def retry_of(key: str, offset: int = 0, **more: Any) -> Retry:
    return Retry("scope", key, "topic", 0, offset, "topic.retry.scope", [("a", "b")], **more)


def letter_of(key: str, offset: int = 0) -> DeadLetter:
    outcome = Outcome.NON_RETRYABLE
    return DeadLetter(
        "scope", key, "topic", 0, offset, "topic", [("a", None)], outcome, reason="BAD: x"
    )


def test_a_key_twice_in_one_batch_is_claimed_once(store: PostgresStore) -> None:
    grants = store.claim([claim_of("a", "one"), claim_of("b"), claim_of("a", "two")])
    assert [g.verdict for g in grants] == [PROCEED, PROCEED, IN_PROGRESS]


def test_a_claim_whose_reply_was_lost_is_made_again_by_the_same_owner(store: PostgresStore) -> None:
    first = store.claim([claim_of("a")])[0]
    again = store.claim([claim_of("a")])[0]
    assert again.verdict is PROCEED and held(again).fence == held(first).fence
    assert again.attempts == 1 and not again.recovered


def test_a_key_that_another_transaction_holds_is_in_progress_and_the_others_are_claimed(
    store: PostgresStore, tables: str
) -> None:
    store.claim([claim_of("b")])
    with psycopg.connect(tables) as other:
        other.execute("SELECT FROM idem_record FOR UPDATE")
        grants = store.claim([claim_of(key, "new") for key in "abc"])
    assert [g.verdict for g in grants] == [PROCEED, IN_PROGRESS, PROCEED]


def test_of_many_that_claim_a_key_at_once_one_proceeds(store: PostgresStore) -> None:
    keys = [f"key-{n}" for n in range(30)]

    def claim(worker: int) -> list[Grant]:
        order = keys if worker % 2 else keys[::-1]
        return store.claim([claim_of(key, f"{worker} {key}") for key in order])

    with ThreadPoolExecutor(8) as pool:
        grants = [g for answer in pool.map(claim, range(8)) for g in answer]
    proceeding = [held(g).key for g in grants if g.verdict is PROCEED]
    assert sorted(proceeding) == sorted(keys)


def test_texts_of_any_kind_are_kept(store: PostgresStore) -> None:
    payload, name = bytes(range(256)), 'q"\\,{}\u00e9'
    retry = retry_of("k", event_id=name, biz_key="a\0b", payload=payload, message_key=b"")
    retry.headers = [("x", b"\xff\0"), (name, name), ("none", None)]
    assert store.settle([Settlement(retry=retry)]) == [Settled.WRITTEN]
    (row,) = store.claim_due("token", 10, 60_000)
    assert (row.payload, row.message_key, row.event_id) == (payload, b"", name)
    assert row.headers == retry.headers and row.biz_key == "a\ufffdb"
    empty = retry_of("k", offset=1, message_key=None, payload=None)
    store.settle([Settlement(retry=empty)])
    (row,) = store.claim_due("token", 10, 60_000)
    assert row.payload is None and row.message_key is None


def test_a_row_is_removed_by_who_has_claimed_it_as_it_was(store: PostgresStore) -> None:
    store.settle([Settlement(retry=retry_of("a")), Settlement(retry=retry_of("b", offset=1))])
    a, b = store.claim_due("token", 10, 60_000)
    assert store.claim_due("another", 10, 60_000) == []
    assert store.mark_published([Mark(a.id, "another", 0, 0), Mark(a.id, "token", 0, 9)]) == [
        False,
        False,
    ]
    store.settle([Settlement(retry=retry_of("b", offset=1, retry_count=1))])  # raised since
    assert store.mark_published([mark_of(a), mark_of(b)]) == [True, False]
    assert store.count_retries().pending == 1
    (again,) = store.claim_due("token", 10, 60_000)
    store.postpone([mark_of(again)], 60_000)
    due = store.next_due()
    assert due is not None and 0 < due <= 60_000


def test_a_settlement_writes_all_of_it_or_nothing(store: PostgresStore) -> None:
    lease = held(store.claim([claim_of("a")])[0])
    stranger = Lease("scope", "a", lease.fence, "stranger")
    fenced = Settlement(stranger, RecordState.DEAD, dead_letter=letter_of("a"))
    assert store.settle([fenced]) == [Settled.FENCED]
    assert store.count_dead_letters() == 0
    own = Settlement(lease, RecordState.DEAD, dead_letter=letter_of("a"))
    assert store.settle([own]) == [Settled.WRITTEN]
    assert store.count_dead_letters() == 1
    assert store.records("scope", ["a"])[0].record.state is RecordState.DEAD  # type: ignore[union-attr]


def test_the_lane_of_a_key_that_fails_parks_the_others_until_it_succeeds(
    store: PostgresStore,
) -> None:
    lane = Lane("topic", "order-1")
    one = held(store.claim([claim_of("one", lane=lane)])[0])
    failed = Settlement(one, retry=retry_of("one", retry_count=1), retry_count=1, lane=lane)
    assert store.settle([failed]) == [Settled.WRITTEN]
    two = store.claim([claim_of("two", lane=lane)])[0]
    assert two.parked and two.verdict is None
    parked = Settlement(retry=retry_of("two", offset=1, action="DEFER", park=True), lane=lane)
    assert store.settle([parked]) == [Settled.WRITTEN]
    assert store.count_retries()[:2] == (1, 1)
    again = store.claim([claim_of("one", "again", retry_count=1, lane=lane)])[0]
    assert again.verdict is PROCEED and again.head
    assert store.complete([Completion(held(again), lane=lane, head=True)]) == [True]
    assert store.count_retries()[:2] == (2, 0)
    last = store.claim([claim_of("two", lane=lane)])[0]
    assert last.verdict is PROCEED and last.head
    with store.transaction() as tx:
        tx.complete(Completion(held(last), lane=lane, head=True))
    assert not store.claim([claim_of("three", lane=lane)])[0].head
    assert store.settle([parked]) == [Settled.UNPARKED]


def test_the_effect_and_success_are_one_transaction(store: PostgresStore, tables: str) -> None:
    with psycopg.connect(tables, autocommit=True) as reader:
        reader.execute("CREATE TABLE effect (n int)")
        lease = held(store.claim([claim_of("a")])[0])
        with pytest.raises(KeyError), store.transaction() as tx:
            tx.connection.execute("INSERT INTO effect VALUES (1)")
            raise KeyError
        with store.transaction() as tx:
            tx.connection.execute("INSERT INTO effect VALUES (2)")
            tx.complete(Completion(lease, b"two"))
        with pytest.raises(Fenced), store.transaction() as tx:
            tx.connection.execute("INSERT INTO effect VALUES (3)")
            tx.complete(Completion(lease))
        assert reader.execute("SELECT n FROM effect").fetchall() == [(2,)]


def test_a_handler_cannot_commit_by_itself(store: PostgresStore) -> None:
    with pytest.raises(psycopg.ProgrammingError, match="commit"), store.transaction() as tx:
        tx.connection.commit()


def test_a_transaction_of_the_callers_completes_a_claim(store: PostgresStore, tables: str) -> None:
    lease = held(store.claim([claim_of("a")])[0])
    with psycopg.connect(tables) as connection:
        store.complete_in(connection, Completion(lease, b"x"))
        with pytest.raises(Fenced):
            store.complete_in(connection, Completion(Lease("scope", "a", 9, "nobody")))
    assert store.claim([claim_of("a", "b")])[0].result == b"x"


def test_a_pool_of_the_callers_is_left_as_it_is(tables: str) -> None:
    with ConnectionPool(
        tables, kwargs={"row_factory": dict_row}, min_size=1, max_size=2, open=True
    ) as pool:
        store = PostgresStore(pool)
        lease = held(store.claim([claim_of("a")])[0])
        with store.transaction() as tx:
            assert tx.connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}
            tx.complete(Completion(lease))
        store.close()
        with pool.connection() as connection:
            assert not connection.autocommit and connection.isolation_level is None
        assert store.claim([claim_of("a", "b")])[0].verdict is AdmissionVerdict.DUPLICATE


def test_a_dead_letter_is_redriven_once(store: PostgresStore) -> None:
    store.settle([Settlement(dead_letter=letter_of(key, n)) for n, key in enumerate("ab")])
    a, b = store.list_dead_letters(DeadLetterFilter(reason_prefix="BAD"))
    assert (a.key, a.outcome, a.headers) == ("a", Outcome.NON_RETRYABLE, [("a", None)])
    delivery = retry_of("a", redrive_count=1, action="REDRIVE")
    assert store.redrive([a.id], [delivery]) == [True]
    assert store.redrive([a.id], [delivery]) == [False]
    assert store.count_retries().pending == 1
    assert [d.key for d in store.list_dead_letters()] == ["b"]
    assert store.dead_letter_stats()[0].count == 1
    assert store.drop_dead_letters([a.id, b.id]) == 2


def test_expired_records_are_removed_and_claims_leave_a_tombstone(
    store: PostgresStore, tables: str
) -> None:
    grants = store.claim([claim_of(f"key-{n}") for n in range(30)])
    assert all(store.complete([Completion(held(grant)) for grant in grants[:20]]))
    assert store.clean(100) == 0
    with psycopg.connect(tables, autocommit=True) as connection:
        connection.execute(
            "UPDATE idem_record SET expires_at = now() - interval '1 second' WHERE key <> 'key-0'"
        )
    with PostgresStore.open(tables) as another:  # one that has not seen that nothing expires yet
        assert another.clean(10) == 10
        assert another.clean(100) == 19
    left = [r for r in store.records("scope", [f"key-{n}" for n in range(30)]) if r is not None]
    assert [r.key for r in left if r.record.state is RecordState.SUCCESS] == ["key-0"]
    tombstones = [r for r in left if r.record.state is RecordState.FAILED]
    assert len(tombstones) == 10 and {r.record.fence for r in tombstones} == {2}


def test_messages_are_stored_in_a_transaction_of_the_callers(
    store: PostgresStore, tables: str
) -> None:
    with psycopg.connect(tables) as connection:
        store.store([Outgoing("topic", [("a", "b")], b"order-1", b"x")], connection)
        connection.rollback()
        store.store([Outgoing("topic", [("a", "b")], b"order-2", b"x")], connection)
    assert store.stored("topic", [b"order-1", b"order-2"]) == [False, True]


def test_tables_that_are_missing_are_said_with_what_makes_them(database: str) -> None:
    with PostgresStore.open(database) as store:
        with pytest.raises(StoreError, match="`idem migrate up`"):
            store.check()
        with pytest.raises(StoreError, match="claim 1 keys: the tables do not fit"):
            store.claim([claim_of("a")])


def test_a_transaction_that_cannot_begin_says_so(tables: str) -> None:
    with ConnectionPool(tables, min_size=1, max_size=1, timeout=0.1, open=True) as pool:
        store = PostgresStore(pool)
        with pool.connection(), pytest.raises(NotBegun), store.transaction():
            pass


def test_coroutines_have_the_same_store(tables: str) -> None:
    async def use() -> None:
        async with await AsyncPostgresStore.open(tables) as store:
            await store.check()
            grants = await store.claim([claim_of("a"), claim_of("b"), claim_of("c")])
            a, b, c = map(held, grants)
            assert await store.complete([Completion(a, b"x")]) == [True]
            async with store.transaction() as tx:
                await tx.connection.execute("CREATE TABLE effect (n int)")
                tx.complete(Completion(b))
            with pytest.raises(Fenced):
                async with store.transaction() as tx:
                    tx.complete(Completion(b))
            dead = Settlement(c, RecordState.DEAD, dead_letter=letter_of("c"))
            assert await store.settle([dead]) == [Settled.WRITTEN]
            await store.store([Outgoing("topic", [], b"k", b"v")])
            again = await store.claim([claim_of("a", "other")])
            assert again[0].result == b"x"

    asyncio.run(use())
    with PostgresStore.open(tables) as store:
        assert store.stored("topic", [b"k"]) == [True] and store.count_dead_letters() == 1


def test_a_transaction_that_is_stopped_between_two_statements_loses_its_locks(
    tables: str,
) -> None:
    idle = PostgresConfig(idle_timeout=timedelta(seconds=0.2))

    def stopped() -> Work[None]:
        yield Step([])
        time.sleep(2)
        yield Step([], last=True)

    async def use() -> None:
        async with await AsyncPostgresStore.open(tables, idle) as opened:
            await opened._transact(Transaction(stopped))

    with PostgresStore.open(tables, idle) as store:
        with pytest.raises(psycopg.Error):
            store._transact(Transaction(stopped))
    with pytest.raises(psycopg.Error):
        asyncio.run(use())
