"""What a store on PostgreSQL does, as transactions that `sync` and `asynchronous` alike carry
out."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import psycopg

from ..audit import Counts
from ..errors import StoreError
from ..records import (
    Claim,
    Completion,
    Grant,
    Made,
    NewDone,
    NewKeys,
    Renewal,
    Settled,
    Settlement,
    StoredRecord,
    check_result,
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
from ..texts import postgres_migrations
from .claims import claim_new_work, claim_work, idle_ms, in_progress
from .cleaning import Slice, Walk
from .completions import complete_new_work, complete_work, renew_work
from .config import PostgresConfig, milliseconds
from .errors import is_lock_timeout
from .lanes import LaneId, lane_release
from .locked import record_of
from .settlements import settle_work
from .tables import (
    RetryRows,
    dead_letter_of,
    filter_args,
    mark_columns,
    outbox_put,
    outgoing_of,
    retry_of,
)
from .work import Answer, Begin, Query, Step, Work, blobs, numbers, one, places, text, texts

T = TypeVar("T")

CUSTOM_PLAN = "force_custom_plan"
"""Each statement is planned for its parameters."""
GENERIC_PLAN = "force_generic_plan"
"""The plan is the same for all parameters, and kept."""


class Transaction(NamedTuple):
    """A transaction, begun again where the server ends it to break a deadlock."""

    begin: Begin[Any]
    idle_ms: int = 0
    plans: str = GENERIC_PLAN
    """The plan_cache_mode."""


Job = Generator[Transaction, Any, T]


@dataclass(frozen=True)
class DeadLetterStats:
    """How many dead letters wait, and since when (milliseconds since 1970)."""

    scope: str
    event_type: str
    count: int
    oldest: Any


def _ask(name: str, *args: Any, plans: str = GENERIC_PLAN) -> Job[Answer]:
    answer: Answer = yield Transaction(lambda: one(Query(name, args)), plans=plans)
    return answer


def claim(config: PostgresConfig, claims: list[Claim]) -> Job[list[Grant]]:
    """Where another transaction holds a key for longer than lock_timeout the batch is halved, which
    costs no attempt, until that key is alone and IN_PROGRESS."""
    if not claims:
        return []
    try:
        idle = idle_ms(claim.lease_ms for claim in claims)
        grants: list[Grant] = yield Transaction(lambda: claim_work(config, claims), idle)
        return grants
    except psycopg.Error as error:
        if not is_lock_timeout(error):
            raise
    if len(claims) == 1:
        return [in_progress(claims[0], milliseconds(config.wait))]
    half = len(claims) // 2
    first = yield from claim(config, claims[:half])
    return first + (yield from claim(config, claims[half:]))


def claim_new(config: PostgresConfig, new: NewKeys) -> Job[Made]:
    """Where another transaction holds a key for longer than lock_timeout none is made."""
    try:
        made: Made = yield Transaction(lambda: claim_new_work(config, new), idle_ms(new.leases_ms))
    except psycopg.Error as error:
        if not is_lock_timeout(error):
            raise
        made = Made(0, set())
    return made


def complete_new(config: PostgresConfig, done: NewDone) -> Job[list[bool]]:
    held: list[bool] = yield Transaction(lambda: complete_new_work(config, done))
    return held


def complete(config: PostgresConfig, completions: list[Completion]) -> Job[list[bool]]:
    for completion in completions:
        check_result(completion)
    if not completions:
        return []
    done: list[bool] = yield Transaction(lambda: complete_work(config, completions))
    return done


def settle(config: PostgresConfig, settlements: list[Settlement]) -> Job[list[Settled]]:
    settled: list[Settled] = []
    while len(settled) < len(settlements):
        rest = settlements[len(settled) :]
        settled += yield Transaction(partial(settle_work, config, rest))
    return settled


def renew(config: PostgresConfig, renewals: list[Renewal]) -> Job[list[bool]]:
    if not renewals:
        return []
    renewed: list[bool] = yield Transaction(lambda: renew_work(config, renewals))
    return renewed


def records(scope: str, keys: list[str]) -> Job[list[StoredRecord | None]]:
    found: list[StoredRecord | None] = [None] * len(keys)
    if keys:
        answer = yield from _ask("record_read", scope, texts(keys))
        for row in answer.rows:
            found[row[0] - 1] = record_of(row)
    return found


def forget(config: PostgresConfig, scope: str, keys: list[str]) -> Job[int]:
    return (yield from _ask("forget", scope, texts(keys), config.retention_ms)).changed


def clean(config: PostgresConfig, walk: Walk, limit: int) -> Job[int]:
    """Removes expired records, and says how many; fewer than the limit means that none is known to
    be left."""
    if walk.ahead == 0 or walk.reads == 0:
        walk.begin(*(yield from _ask("clean_heap")).rows[0])
    removed = 0
    while removed < limit and walk.find():
        page = walk.next * walk.pages
        args = page, page + walk.pages, limit - removed, config.retention_ms
        try:
            answer = yield from _ask("clean", *args)
        except psycopg.Error:
            walk.leave()  # whatever it is that hinders: the others are not to wait for it
            raise
        found = Slice(*answer.rows[0])
        removed += found.removed
        if removed < limit:  # else there may be more in this slice
            walk.read(found)
    return removed


def claim_due(token: str, limit: int, lease_ms: int) -> Job[list[Retry]]:
    answer = yield from _ask("retry_claim", token, max(limit, 0), lease_ms)
    rows = sorted(answer.rows, key=lambda row: (row[18], row[0]))  # by time, then by id
    return [retry_of(row, token) for row in rows]


def mark_published(marks: list[Mark]) -> Job[list[bool]]:
    if not marks:
        return []
    query = Query("retry_mark", mark_columns(marks))
    removed: list[bool] = yield Transaction(lambda: places(query, len(marks)))
    return removed


def postpone(marks: list[Mark], due_ms: int) -> Job[None]:
    if marks:
        yield from _ask("retry_postpone", *mark_columns(marks), due_ms)


def next_due() -> Job[int | None]:
    answer = yield from _ask("retry_next")
    due: int | None = answer.rows[0][0]
    return due


def sweep_lanes(config: PostgresConfig, limit: int) -> Job[int]:
    def sweep() -> Work[int]:
        args = max(limit, 0), config.retention_ms
        (answer,) = yield Step([Query("lane_sweep", args)])
        releases = [lane_release(LaneId(*row[:3]), row[3]) for row in answer.rows]
        yield Step(releases, last=True)
        return len(releases)

    moved: int = yield Transaction(sweep)
    return moved


def wake(scope: str, biz_key: str) -> Job[int]:
    return (yield from _ask("retry_wake", scope, text(biz_key))).changed


def count_retries() -> Job[RetryCounts]:
    return RetryCounts(*(yield from _ask("retry_count")).rows[0])


def list_dead_letters(f: DeadLetterFilter, after: int, limit: int) -> Job[list[DeadLetter]]:
    answer = yield from _ask("dead_list", *filter_args(f), after, max(limit, 0), plans=CUSTOM_PLAN)
    return [dead_letter_of(row) for row in answer.rows]


def count_dead_letters(f: DeadLetterFilter) -> Job[int]:
    answer = yield from _ask("dead_count", *filter_args(f), plans=CUSTOM_PLAN)
    count: int = answer.rows[0][0]
    return count


def redrive(ids: list[int], deliveries: list[Retry]) -> Job[list[bool]]:
    def redriven() -> Work[list[bool]]:
        (answer,) = yield Step([Query("dead_redrive", (numbers(ids),))])
        alive = {row[0] for row in answer.rows}
        rows = RetryRows()
        done = []
        for id_, delivery in zip(ids, deliveries, strict=True):
            done.append(id_ in alive)
            if id_ in alive:
                alive.remove(id_)
                rows.add(delivery, None)
        yield Step(rows.writes(), last=True)
        return done

    if len(ids) != len(deliveries):
        raise ValueError(f"redrive: {len(ids)} ids, and {len(deliveries)} deliveries")
    if not ids:
        return []
    answer: list[bool] = yield Transaction(redriven)
    return answer


def drop_dead_letters(ids: list[int]) -> Job[int]:
    return (yield from _ask("dead_drop", numbers(ids))).changed if ids else 0


def dead_letter_stats() -> Job[list[DeadLetterStats]]:
    return [DeadLetterStats(*row) for row in (yield from _ask("dead_stats")).rows]


def store(messages: list[Outgoing]) -> Job[None]:
    if messages:
        yield Transaction(lambda: one(outbox_put(messages)))


def stored(topic: str, biz_keys: list[bytes]) -> Job[list[bool]]:
    if not biz_keys:
        return []
    query = Query("outbox_stored", (topic, blobs(biz_keys)))
    there: list[bool] = yield Transaction(lambda: places(query, len(biz_keys)))
    return there


def _alone(query: Query) -> Work[Answer]:
    """A statement of the outbox, of which one runs at a time."""
    _, answer = yield Step([Query("outbox_lock"), query], last=True)
    return answer


def claim_outgoing(token: str, limit: int, lease_ms: int) -> Job[list[Outgoing]]:
    query = Query("outbox_claim", (token, max(limit, 0), lease_ms))
    answer: Answer = yield Transaction(lambda: _alone(query))
    return [outgoing_of(row) for row in sorted(answer.rows, key=lambda row: int(row[0]))]


def sent(token: str, ids: list[int]) -> Job[None]:
    if ids:
        yield from _ask("outbox_sent", token, numbers(ids))


def not_sent(token: str, ids: list[int], reason: str, due_ms: int, failed: bool) -> Job[None]:
    if ids:
        query = Query("outbox_unsent", (token, numbers(ids), text(reason), due_ms, failed))
        yield Transaction(lambda: _alone(query))


def retry_failed(limit: int) -> Job[int]:
    return (yield from _ask("outbox_retry", max(limit, 0))).changed


def count_outbox() -> Job[OutboxCounts]:
    return OutboxCounts(*(yield from _ask("outbox_stats")).rows[0])


def count(counts: Counts) -> Job[None]:
    if counts:
        names = zip(*counts, strict=True)
        yield from _ask("audit_count", *map(texts, names), numbers(counts.values()))


def clean_counts(keep_ms: int, limit: int) -> Job[int]:
    return (yield from _ask("audit_clean", keep_ms, limit)).changed


def check() -> Job[None]:
    """What keeps the store from working: not reachable, a table missing or of another version."""
    wants = postgres_migrations()[-1][0]
    exists = (yield from _ask("schema_exists")).rows[0][0]
    version: int = (yield from _ask("schema_version")).rows[0][0] if exists else 0
    if version not in (wants, wants + 1):
        raise StoreError(
            f"the tables are of version {version}, and this program works on {wants} and "
            f"{wants + 1}: `idem migrate up` makes them"
        )
    if missing := [row[0] for row in (yield from _ask("schema_missing")).rows]:
        raise StoreError(
            f"missing are {', '.join(missing)}: `idem migrate validate` says more; make them as "
            "spec/sql/postgres has them"
        )
    ((standby, read_only),) = (yield from _ask("schema_writable")).rows
    if standby or read_only == "on":
        raise StoreError(
            "the server takes no writes: connect to the primary, "
            "target_session_attrs=read-write in the DSN finds it among several hosts"
        )
