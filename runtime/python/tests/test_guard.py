"""Deliveries of a loop of one's own: what is new goes together, and what is not is told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from idemspec import Outcome, RecordState
from idemspec_runtime import StoreError
from idemspec_runtime.delivery import Delivery, Rules, Status
from idemspec_runtime.guard import Guard
from idemspec_runtime.message import Fetched, Message
from idemspec_runtime.postgres import PostgresStore

SCOPE = "scope"


class Counted:
    def __init__(self) -> None:
        self.counts: dict[str, float] = {}

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        name = f"{metric} {labels.get('outcome', '')}".strip()
        self.counts[name] = self.counts.get(name, 0) + value


@pytest.fixture
def guard(store: PostgresStore) -> Guard:
    return Guard(store, SCOPE, observer=Counted())


def opened(guard: Guard, *keys: str) -> list[Delivery]:
    ds = []
    for offset, key in enumerate(keys):
        headers: Any = [("idempotency_key", key.encode()), ("event_type", b"paid")]
        d = guard.parse(Fetched("orders", 0, offset, None, b"payload", headers))
        guard.route(d, Rules())
        ds.append(d)
    return ds


def succeed(message: Message[Any]) -> bytes | None:
    return b"kept" if message.key == "result" else None


def handled(guard: Guard, *keys: str) -> list[Delivery]:
    ds = opened(guard, *keys)
    guard.claim(ds)
    for d in ds:
        guard.run(d, succeed, None)
    return ds


def states(guard: Guard, *keys: str) -> list[RecordState | None]:
    records = guard.store.records(SCOPE, list(keys))
    return [None if r is None else r.record.state for r in records]


def lose_reply(patch: pytest.MonkeyPatch, store: PostgresStore, name: str) -> Callable[[], None]:
    """Has the answer to one call be lost."""
    call = getattr(store, name)

    def lost(*args: Any) -> Any:
        call(*args)
        raise StoreError("the connection is lost")

    patch.setattr(store, name, lost)
    return lambda: patch.setattr(store, name, call)


def test_of_a_batch_the_new_keys_run_and_the_others_are_told_apart(guard: Guard) -> None:
    assert guard.settle(handled(guard, "done", "result")) == []
    (running,) = opened(guard, "running")
    guard.claim([running])
    ds = opened(guard, "new", "done", "running", "result", "twice", "twice")
    guard.claim(ds)
    assert [d.status is Status.READY for d in ds] == [True, False, False, False, True, False]
    outcomes = [d.result.outcome for d in ds if d.status is Status.ENDED]
    waits, duplicate = Outcome.IN_PROGRESS, Outcome.DUPLICATE
    assert outcomes == [duplicate, waits, duplicate, waits]
    assert ds[3].value == b"kept"
    assert ds[0].lease is not None and (ds[0].lease.fence, ds[0].lease.key) == (1, "new")


def test_a_claim_of_new_keys_whose_reply_was_lost_is_made_again(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = opened(guard, "a", "b")
    found_again = lose_reply(monkeypatch, guard.store, "claim_new")
    with pytest.raises(StoreError):
        guard.claim(ds)
    assert {d.status for d in ds} == {Status.OPENED}
    found_again()
    guard.claim(ds)
    for d in ds:
        assert d.status is Status.READY and d.grant is not None
        assert (d.grant.attempts, d.grant.recovered) == (1, False)
        guard.run(d, succeed, None)
    assert guard.settle(ds) == [] and states(guard, "a", "b") == [RecordState.SUCCESS] * 2


def test_a_key_that_another_transaction_makes_is_in_progress_and_the_others_run(
    guard: Guard, tables: str
) -> None:
    with psycopg.connect(tables) as other:
        other.execute(
            "INSERT INTO idem_record (scope, key, state, fence, attempts, owner, lease_until, "
            "fingerprint, redrive_count, retry_count, hold_count, position, created_at, "
            "updated_at, expires_at) VALUES ('scope', 'b', 1, 1, 1, 'other', now(), '', 0, 0, 0, "
            "0, now(), now(), now())"
        )
        ds = opened(guard, "a", "b", "c")
        guard.claim(ds)
    assert [d.status is Status.READY for d in ds] == [True, False, True]
    assert ds[1].result.outcome is Outcome.IN_PROGRESS


def test_successes_are_counted_and_durable_before_they_may_be_acknowledged(guard: Guard) -> None:
    ds = handled(guard, "a", "b")
    assert not any(d.settled for d in ds)
    assert guard.settle(ds) == [] and all(d.settled for d in ds)
    assert states(guard, "a", "b") == [RecordState.SUCCESS] * 2
    counts = guard.observer.counts  # type: ignore[union-attr]
    assert counts["idem_messages_total OK"] == 2


def test_a_success_whose_reply_was_lost_is_found_to_be_durable(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = handled(guard, "a", "result")
    found_again = lose_reply(monkeypatch, guard.store, "complete_new")
    assert len(guard.settle(ds)) == 1 and not any(d.settled for d in ds)
    found_again()
    assert guard.settle(ds) == [] and all(d.settled and not d.in_place for d in ds)
    assert [d.result.outcome for d in ds] == [Outcome.OK] * 2


def test_a_success_whose_claim_was_lost_meanwhile_is_deferred(guard: Guard) -> None:
    lost, kept = ds = handled(guard, "lost", "kept")
    assert guard.store.forget(SCOPE, ["lost"]) == 1
    assert guard.settle(ds) == [] and lost.settled and kept.settled
    assert (lost.result.outcome, kept.result.outcome) == (Outcome.FENCED, Outcome.OK)
    assert states(guard, "kept") == [RecordState.SUCCESS]
    assert guard.store.count_retries().pending == 1


def test_what_is_given_back_is_new_to_the_next_one(guard: Guard) -> None:
    ds = opened(guard, "a")
    guard.claim(ds)
    guard.give_back(ds)
    assert ds[0].status is Status.OPENED
    (again,) = opened(guard, "a")
    guard.claim([again])
    assert again.status is Status.READY and again.grant is not None and again.grant.attempts == 1


def test_whoever_renews_a_lease_takes_no_owner_from_whoever_settles_under_it(guard: Guard) -> None:
    (d,) = handled(guard, "a")
    lease = d.lease
    assert lease is not None and d.new is not None
    assert (lease.owner, lease.fence) == (d.owner, 1)
    assert d.grant is not None and d.grant.lease == lease == d.lease
