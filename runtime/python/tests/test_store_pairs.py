"""A store of the Go runtime and one of this one on the same tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from idemspec import AdmissionVerdict, RecordState
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.records import Claim, Completion, Grant, Lease, Renewal, Settled, Settlement
from idemspec_runtime.redis import RedisStore
from pair import Go, go, lease_of
from services import unique

Store = PostgresStore | RedisStore
SCOPE = unique()


@pytest.fixture(params=["postgres", "redis"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Store, Go]]:
    """Both on one server."""
    if request.param == "postgres":
        url = request.getfixturevalue("database")
        with go(url) as other, PostgresStore.open(url) as own:  # Go makes the tables
            own.check()
            yield own, other
    else:
        url = request.getfixturevalue("redis_url")
        with go(url) as other, RedisStore.open(url) as own:
            own.check()
            yield own, other


def claim(store: Store, key: str, owner: str = "python", **more: object) -> Grant:
    asked = Claim(SCOPE, key, owner, lease_ms=30_000, max_attempts=9)
    for name, value in more.items():
        setattr(asked, name, value)
    return store.claim([asked])[0]


def held(grant: Grant) -> Lease:
    assert grant.lease is not None
    return grant.lease


def test_a_claim_of_go_is_in_progress_here_and_a_duplicate_once_it_succeeds(
    pair: tuple[Store, Go],
) -> None:
    store, other = pair
    key = unique()
    granted = other.claim(SCOPE, key)
    assert granted["Verdict"] == "PROCEED"
    waits = claim(store, key)
    assert waits.verdict is AdmissionVerdict.IN_PROGRESS and 0 < waits.wait_ms <= 30_000
    assert other.complete(granted["Lease"], result="cGFpZA==")
    done = claim(store, key)
    assert (done.verdict, done.result) == (AdmissionVerdict.DUPLICATE, b"paid")


def test_a_claim_made_here_is_in_progress_in_go_and_a_duplicate_once_it_succeeds(
    pair: tuple[Store, Go],
) -> None:
    store, other = pair
    key = unique()
    granted = claim(store, key)
    assert granted.verdict is AdmissionVerdict.PROCEED
    assert other.claim(SCOPE, key)["Verdict"] == "IN_PROGRESS"
    assert store.complete([Completion(held(granted), b"paid")]) == [True]
    done = other.claim(SCOPE, key)
    assert (done["Verdict"], done["Result"]) == ("DUPLICATE", "cGFpZA==")


def test_a_fence_of_go_keeps_out_what_was_claimed_here(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    ours = held(claim(store, key, lease_ms=1))
    theirs = other.claim(SCOPE, key)
    while theirs["Verdict"] == "IN_PROGRESS":  # the lease of a millisecond runs out
        theirs = other.claim(SCOPE, key)
    assert (theirs["Verdict"], theirs["Fence"], theirs["Recovered"]) == ("PROCEED", 2, True)
    assert store.complete([Completion(ours)]) == [False]
    assert store.renew([Renewal(ours, 1000)]) == [False]
    assert store.settle([Settlement(ours, RecordState.FAILED)]) == [Settled.FENCED]
    assert other.complete(theirs["Lease"])


def test_a_fence_made_here_keeps_out_what_go_has_claimed(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    theirs = other.claim(SCOPE, key, Lease=1_000_000)["Lease"]
    ours = claim(store, key)
    while ours.verdict is AdmissionVerdict.IN_PROGRESS:
        ours = claim(store, key)
    assert (ours.verdict, held(ours).fence) == (AdmissionVerdict.PROCEED, 2) and ours.recovered
    assert not other.complete(theirs)
    assert not other.renew(theirs, 1000)
    assert other.fail(theirs) == 2
    assert store.complete([Completion(held(ours))]) == [True]


def test_either_renews_and_completes_a_claim_of_the_other(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    ours = held(claim(store, key, lease_ms=1))
    assert other.renew(ours, 60_000)
    assert claim(store, key, owner="another").wait_ms > 30_000
    theirs = lease_of(other.claim(SCOPE, unique()))
    assert store.renew([Renewal(theirs, 60_000)]) == [True]
    assert store.complete([Completion(theirs)]) == [True]
    assert other.complete(ours)


def test_the_counts_of_a_failure_are_those_of_the_other(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    ours = held(claim(store, key))
    failed = Settlement(ours, RecordState.FAILED, retry_count=1)
    assert store.settle([failed]) == [Settled.WRITTEN]
    assert other.claim(SCOPE, key)["Verdict"] == "STALE"
    again = other.claim(SCOPE, key, RetryCount=1)
    assert (again["Verdict"], again["Attempts"]) == ("PROCEED", 2)
    assert other.fail(again["Lease"], state=4, RetryCount=1) == 1
    assert claim(store, key, retry_count=1).verdict is AdmissionVerdict.STALE  # DEAD
    assert claim(store, key, redrive_count=1).verdict is AdmissionVerdict.PROCEED


def test_a_key_with_two_fingerprints_is_refused_by_both(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    one, two = "0123abcd-0000000000000001", "0123abcd-0000000000000002"
    ours = claim(store, key, fingerprint=one)
    assert store.complete([Completion(held(ours))]) == [True]
    assert other.claim(SCOPE, key, Fingerprint=two)["Verdict"] == "KEY_REUSED"
    assert other.claim(SCOPE, key, Fingerprint=one)["Verdict"] == "DUPLICATE"
    assert claim(store, key, fingerprint=two).verdict is AdmissionVerdict.KEY_REUSED


def test_two_keys_are_claimed_together(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key, before = unique(), unique()
    ours = claim(store, key, previous=before)
    assert other.claim(SCOPE, before)["Verdict"] == "IN_PROGRESS"
    assert other.complete(held(ours))
    assert claim(store, before).verdict is AdmissionVerdict.DUPLICATE
    assert other.claim(SCOPE, key, Previous=before)["Verdict"] == "DUPLICATE"


def test_both_read_the_same_record(pair: tuple[Store, Go]) -> None:
    store, other = pair
    key = unique()
    ours = held(claim(store, key, fingerprint="0123abcd-0000000000000001", retry_count=2))
    assert store.settle([Settlement(ours, RecordState.FAILED, retry_count=3, hold_count=1)])
    (own,), theirs = store.records(SCOPE, [key]), other.read(SCOPE, key)
    assert own is not None and theirs is not None
    r = own.record
    assert (r.fence, r.attempts, r.position) == (1, 1, 4)
    assert (theirs["Fence"], theirs["Attempts"], theirs["Position"]) == (1, 1, 4)
    assert (
        (own.retry_count, own.hold_count) == (theirs["RetryCount"], theirs["HoldCount"]) == (3, 1)
    )
    assert r.fingerprint == theirs["Fingerprint"] and theirs["State"] == 3
