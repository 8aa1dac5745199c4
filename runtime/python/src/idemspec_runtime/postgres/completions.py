"""SUCCESS, and the extension of leases: in one round trip, and in two where a claim has two keys or
heads a lane."""

from __future__ import annotations

from idemspec import RecordState

from ..records import Completion, Fenced, Lease, NewDone, Renewal, check_result
from .config import PostgresConfig, epoch_ms
from .lanes import LaneId, lane_id, lane_lock, lane_release
from .locked import Held
from .work import Query, Step, Work, blobs, numbers, places, texts


def complete_work(config: PostgresConfig, completions: list[Completion]) -> Work[list[bool]]:
    """Makes records SUCCESS; False where a claim is fenced out."""
    heads = any(c.head and c.lane is not None for c in completions)
    if heads or not _plain([c.lease for c in completions]):
        return _complete_locked(config, completions)
    results = blobs(c.result or None for c in completions)
    return _places(config, "complete", [c.lease for c in completions], results)


def complete_new_work(config: PostgresConfig, done: NewDone) -> Work[list[bool]]:
    """Of those under fence 1, whose lists are quickly made."""
    n = len(done.keys)
    scopes, fences, results = texts([done.scope] * n), numbers([1] * n), blobs(done.results)
    args = scopes, texts(done.keys), fences, texts(done.owners), results, config.retention_ms
    return places(Query("complete", args), n)


def renew_work(config: PostgresConfig, renewals: list[Renewal]) -> Work[list[bool]]:
    """Extends leases, and never shortens one; False where a claim is fenced out."""
    if not _plain([r.lease for r in renewals]):
        return _renew_locked(config, renewals)
    leases = numbers(r.lease_ms for r in renewals)
    return _places(config, "renew", [r.lease for r in renewals], leases)


def _plain(leases: list[Lease]) -> bool:
    """Whether each has one key, and no key comes twice."""
    keys = {(lease.scope, lease.key) for lease in leases}
    return len(keys) == len(leases) and not any(lease.previous_fence for lease in leases)


def _places(
    config: PostgresConfig, name: str, leases: list[Lease], column: str
) -> Work[list[bool]]:
    args = (
        texts(lease.scope for lease in leases),
        texts(lease.key for lease in leases),
        numbers(lease.fence if lease.owner else 0 for lease in leases),  # a crash loop holds none
        texts(lease.owner for lease in leases),
        column,
        config.retention_ms,
    )
    return places(Query(name, args), len(leases))


def _complete_locked(config: PostgresConfig, completions: list[Completion]) -> Work[list[bool]]:
    held = Held(c.lease for c in completions)
    lanes = {lane_id(c.lease.scope, c.lane) for c in completions if c.head and c.lane is not None}
    locks = held.lock()
    answers = yield Step(locks + ([lane_lock(lanes)] if lanes else []))
    if locks:
        held.locked(answers[0])
    done = []
    leaving: list[tuple[LaneId, str]] = []
    for c in completions:
        matched = held.match(c.lease) if c.lease.owner else None
        done.append(matched is not None)
        for entry in matched or ():
            assert held.now is not None, "a record was read"
            expires = config.expiry(held.now)
            entry.change(expires, state=RecordState.SUCCESS, result=c.result, lease_until_ms=0)
            entry.result = bool(c.result)
        if matched is not None and c.head and c.lane is not None:
            leaving.append((lane_id(c.lease.scope, c.lane), c.lease.key))
    yield Step(held.writes() + [lane_release(*left) for left in leaving], last=True)
    return done


def _renew_locked(config: PostgresConfig, renewals: list[Renewal]) -> Work[list[bool]]:
    held = Held(r.lease for r in renewals)
    locks = held.lock()
    answers = yield Step(locks)
    if locks:
        held.locked(answers[0])
    renewed = []
    for r in renewals:
        matched = held.match(r.lease) if r.lease.owner else None
        renewed.append(matched is not None)
        for entry in matched or ():
            assert held.now is not None, "a record was read"
            till = max(entry.record().lease_until_ms, epoch_ms(held.now) + r.lease_ms)
            entry.change(config.expiry(held.now), lease_until_ms=till)
    yield Step(held.writes(), last=True)
    return renewed


def completion_queries(config: PostgresConfig, completion: Completion) -> list[Query]:
    """What makes a claim SUCCESS within a handler's transaction, as its last statements: where
    complete_one changes no row the claim is lost."""
    check_result(completion)
    lease = completion.lease
    if not lease.held or not lease.owner:
        raise Fenced(f"complete key {lease.key!r}: the claim is no longer held")
    queries = []
    keys = [(lease.key, lease.fence), (lease.previous, lease.previous_fence)]
    for key, fence in sorted((key, fence) for key, fence in keys if fence):
        args = (lease.scope, key, fence, lease.owner, completion.result or None)
        queries.append(Query("complete_one", (*args, config.retention_ms)))
    if completion.head and completion.lane is not None:
        lane = lane_id(lease.scope, completion.lane)
        queries += [lane_lock([lane]), lane_release(lane, lease.key)]
    return queries
