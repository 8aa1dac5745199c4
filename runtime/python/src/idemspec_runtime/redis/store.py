"""Dedup records on Redis, without a database behind it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from hashlib import sha1
from typing import Any

import redis
from idemspec import AdmissionVerdict, Record, RecordState
from redis.exceptions import NoScriptError, RedisError

from ..errors import StoreError
from ..records import (
    DEFAULT_RETENTION,
    Claim,
    Completion,
    Grant,
    Lease,
    Renewal,
    Settled,
    Settlement,
    StoredRecord,
    check_result,
)
from ..texts import redis_scripts

_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_STATES = {state: str(number) for number, state in enumerate(RecordState, 1)}
_STATE_OF = {number: state for state, number in _STATES.items()}

_PIPELINED = 1000
"""The most calls that are sent before replies are read."""

Call = tuple[list[str], list[Any]]


@dataclass(frozen=True)
class RedisConfig:
    """A store's settings."""

    prefix: str = "idem:"
    """Begins each key. Stores of one Redis that share a prefix share their records."""
    retention: timedelta = DEFAULT_RETENTION
    """How long a record is kept after its last change. It has to exceed the topics', and the
    longest delay of a retry. (DEDUP-029)"""
    allow_eviction: bool = False
    """Accepts a server that evicts keys when its memory is full, which may double an effect."""


class RedisStore:
    """Dedup records on Redis alone: a flush or a failover may double an effect. It has no table for
    what follows from a failure, so a consumer publishes that to topics. (DEDUP-031)

    Its methods may be called from several threads. A `StoreError` means that nothing is known of
    what was written: claim again with the same owner.
    """

    name = "redis"
    follow_ups = False

    def __init__(self, client: redis.Redis, config: RedisConfig | None = None) -> None:
        """A store over a client of the caller's, which `close` leaves open."""
        self.client = client
        self.config = config or RedisConfig()
        self._retention = self.config.retention // _MILLISECOND
        self._owned = False

    @classmethod
    def open(cls, url: str, config: RedisConfig | None = None) -> RedisStore:
        """A store with a client of its own, which `close` closes."""
        store = cls(redis.Redis.from_url(url), config)
        store._owned = True
        return store

    def close(self) -> None:
        if self._owned:
            self.client.close()

    def __enter__(self) -> RedisStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Raises with what keeps the store from working, and the way to mend it."""
        try:
            memory = self.client.info("memory")
        except RedisError as error:
            raise StoreError(f"check redis: {error}: check the URL, and that Redis runs") from error
        policy = memory.get("maxmemory_policy", "noeviction")
        if policy != "noeviction" and not self.config.allow_eviction:
            raise StoreError(
                f"check redis: maxmemory-policy is {policy}: the effect of a key that is evicted "
                "may happen a second time; set noeviction, or allow_eviction where that may be"
            )

    def claim(self, claims: list[Claim]) -> list[Grant]:
        """A key that comes again in the batch waits for the answer to the first one, and where that
        one proceeds it is IN_PROGRESS. (DEDUP-025)"""
        grants: dict[int, Grant] = {}
        claimed: dict[tuple[str, str], Claim] = {}
        todo = list(range(len(claims)))
        while todo:
            now: list[int] = []
            later: list[int] = []
            named: set[tuple[str, str]] = set()
            for i in todo:
                keys = _keys(claims[i])
                if by := next((claimed[key] for key in keys if key in claimed), None):
                    grants[i] = _in_progress(claims[i], by.lease_ms)
                elif named.isdisjoint(keys):
                    named.update(keys)
                    now.append(i)
                else:
                    later.append(i)
            replies = self._run("claim", [self._claim_call(claims[i]) for i in now])
            for i, reply in zip(now, replies, strict=True):
                grants[i] = _grant(claims[i], [part.decode() for part in reply[:11]], reply[11])
                if grants[i].verdict is AdmissionVerdict.PROCEED:
                    claimed.update((key, claims[i]) for key in _keys(claims[i]))
            todo = later
        return [grants[i] for i in range(len(claims))]

    def _claim_call(self, claim: Claim) -> Call:
        if claim.lane is not None:
            raise ValueError("a store on Redis has no lanes: use Unordered or Block")
        keys = [self._key(scope, key) for scope, key in _keys(claim)]
        counts = [claim.redrive_count, claim.retry_count, claim.hold_count]
        args = [claim.owner, claim.fingerprint, *counts, claim.max_attempts, claim.lease_ms]
        return keys, [*args, self._retention, int(claim.old)]

    def complete(self, completions: list[Completion]) -> list[bool]:
        """Makes records SUCCESS; False where a claim is fenced out."""
        steps = []
        for completion in completions:
            check_result(completion)
            lease = completion.lease if completion.lease.owner else None
            owner = completion.lease.owner
            steps.append((lease, [owner, _token(), self._retention, completion.result]))
        return self._steps("complete", steps)

    def settle(self, settlements: list[Settlement]) -> list[Settled]:
        """FAILED or DEAD, once what follows is confirmed elsewhere."""
        steps = []
        for s in settlements:
            if s.retry is not None or s.dead_letter is not None:
                raise ValueError("a store on Redis has no tables: publish what follows first")
            owner = s.lease.owner if s.lease is not None else ""
            counts = max(s.retry_count, s.kept_retry_count), max(s.hold_count, s.kept_hold_count)
            args = [owner, _token(), self._retention, _STATES[s.state], int(s.give_back)]
            steps.append((s.lease, [*args, s.redrive_count, s.position, *counts]))
        written = self._steps("settle", steps)
        return [
            Settled.FENCED if s.held and not done else Settled.WRITTEN
            for s, done in zip(settlements, written, strict=True)
        ]

    def renew(self, renewals: list[Renewal]) -> list[bool]:
        """Extends leases; False where a claim is fenced out."""
        return self._steps(
            "renew",
            [
                (r.lease if r.lease.owner else None, [r.lease.owner, r.lease_ms, self._retention])
                for r in renewals
            ],
        )

    def records(self, scope: str, keys: list[str]) -> list[StoredRecord | None]:
        """Records in the order of keys; None where there is none."""
        pipe = self.client.pipeline(transaction=False)
        for key in keys:
            pipe.hgetall(self._key(scope, key))
        try:
            hashes = pipe.execute()
        except RedisError as error:
            raise StoreError(f"read {len(keys)} records: {error}") from error
        return [_record(scope, key, fields) for key, fields in zip(keys, hashes, strict=True)]

    def forget(self, scope: str, keys: list[str]) -> int:
        """Makes keys new again, and says how many there were. It permits a second effect."""
        calls: list[Call] = [([self._key(scope, key)], [_token(), self._retention]) for key in keys]
        return sum(reply == b"1" for reply in self._run("forget", calls))

    def _key(self, scope: str, key: str) -> str:
        return f"{self.config.prefix}{{{scope}:{key}}}"

    def _steps(self, name: str, steps: list[tuple[Lease | None, list[Any]]]) -> list[bool]:
        """One script for each lease; False where there is none."""
        calls: list[Call] = []
        which = []
        for i, (lease, args) in enumerate(steps):
            if lease is None or not lease.held:
                continue
            keys, fences = [self._key(lease.scope, lease.key)], [lease.fence]
            if lease.previous:
                keys.append(self._key(lease.scope, lease.previous))
                fences.append(lease.previous_fence)
            calls.append((keys, [*args, *fences]))
            which.append(i)
        done = [False] * len(steps)
        for i, reply in zip(which, self._run(name, calls), strict=True):
            done[i] = reply == b"1"
        return done

    def _run(self, name: str, calls: list[Call]) -> list[Any]:
        """Sends calls together. A server that does not know the script yet is given it."""
        text = redis_scripts()[name]
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        replies: list[Any] = []
        try:
            for start in range(0, len(calls), _PIPELINED):
                replies += self._send(text, digest, calls[start : start + _PIPELINED])
        except RedisError as error:
            raise StoreError(f"{name} {len(calls)} keys: {error}") from error
        return replies

    def _send(self, text: str, digest: str, calls: list[Call]) -> list[Any]:
        pipe = self.client.pipeline(transaction=False)
        for keys, args in calls:
            pipe.evalsha(digest, len(keys), *keys, *args)
        replies = pipe.execute(raise_on_error=False)
        missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if missing:
            # EVAL needs nothing from the server: one that was promoted just now has no scripts.
            for i in missing:
                keys, args = calls[i]
                pipe.eval(text, len(keys), *keys, *args)
            for i, reply in zip(missing, pipe.execute(raise_on_error=False), strict=True):
                replies[i] = reply
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies


def _keys(claim: Claim) -> list[tuple[str, str]]:
    keys = [(claim.scope, claim.key)]
    return keys + [(claim.scope, claim.previous)] if claim.dual else keys


def _token() -> str:
    """Of one call: the client may send it again when its reply was lost, and gets the same
    answer."""
    return secrets.token_hex(8)


def _in_progress(claim: Claim, wait_ms: int) -> Grant:
    verdict = AdmissionVerdict.IN_PROGRESS
    return Grant(verdict, claim.retry_count, claim.hold_count, wait_ms=wait_ms)


def _grant(claim: Claim, reply: list[str], result: bytes) -> Grant:
    word, fingerprint = reply[0], reply[10]
    fence, previous_fence, attempts, till, recovered, wait, retries, holds, lives = map(
        int, reply[1:10]
    )
    if word == "TOO_OLD":
        return Grant(None, retries, holds, too_old=True)
    verdict = AdmissionVerdict[word]
    grant = Grant(
        verdict, retries, holds, record_redrive_count=lives, record_fingerprint=fingerprint
    )
    if verdict is AdmissionVerdict.PROCEED:
        grant.lease = Lease(claim.scope, claim.key, fence, claim.owner)
        grant.attempts, grant.lease_until_ms, grant.recovered = attempts, till, recovered == 1
    elif verdict is AdmissionVerdict.CRASH_LOOP:
        grant.lease = Lease(claim.scope, claim.key, fence)
    elif verdict is AdmissionVerdict.IN_PROGRESS:
        grant.wait_ms = wait
    elif verdict is AdmissionVerdict.DUPLICATE:
        grant.result = result
    if grant.lease is not None and claim.dual:
        grant.lease.previous, grant.lease.previous_fence = claim.previous, previous_fence
    return grant


def _record(scope: str, key: str, fields: dict[bytes, bytes]) -> StoredRecord | None:
    """The record of a hash, None where there is none. What is 0 or empty is left out of it."""
    if not fields:
        return None

    def text(name: bytes) -> str:
        return fields.get(name, b"").decode()

    def number(name: bytes) -> int:
        return int(fields.get(name) or 0)

    def moment(name: bytes) -> datetime:
        return _EPOCH + number(name) * _MILLISECOND

    record = Record(
        state=_STATE_OF[text(b"st")],
        fence=number(b"fe"),
        attempts=number(b"at"),
        owner=text(b"ow"),
        redrive_count=number(b"rd"),
        position=number(b"po"),
        lease_until_ms=number(b"lu"),
        result=fields.get(b"re", b""),
        fingerprint=text(b"fp") or None,
    )
    times = moment(b"cr"), moment(b"up"), moment(b"ex")
    return StoredRecord(scope, key, record, *times, number(b"rc"), number(b"hc"))
