"""Claims: which of a batch may run."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable

from idemspec import Outcome, max_attempts, timestamp_of_epoch
from idemspec.timestamps import parse_timestamp

from ..delivery import Delivery, New, Status
from ..failures import Result
from ..records import Claim, Grant, NewKeys
from .config import GuardConfig
from .leases import MILLISECOND, Leases


class Claims:
    def __init__(self, leases: Leases, config: GuardConfig) -> None:
        self._leases = leases
        self._scope = leases.scope
        self._retention = config.retention
        self._retention_ms = config.retention // MILLISECOND
        self._skew_ms = max(config.clock_skew // MILLISECOND, 0)

    def claim(self, deliveries: Iterable[Delivery]) -> None:
        """Asks the store which of the opened deliveries may run. They are READY, ENDED or PARKED
        then. Where it raises some of them are still OPENED: call it again with the same ones, which
        then claim by the same owner. (DEDUP-013)"""
        prefix, now = secrets.token_urlsafe(12), time.monotonic()
        oldest_ms = time.time_ns() // 1_000_000 + self._skew_ms - self._retention_ms
        oldest = timestamp_of_epoch(max(oldest_ms, 0), "ms", 3, "now")[:19] + "~"  # of that second
        new: dict[str, Delivery] = {}
        others: list[Delivery] = []
        for d in deliveries:
            if d.status is not Status.OPENED:
                continue
            key = d.key
            if not key:
                d.status = Status.READY
            elif (
                d.owner  # its reply was lost
                or d.retry_count
                or d.hold_count
                or d.redrive_count
                or d.key_previous
                or d.lane is not None
                or key in new
                or (d.produced_at <= oldest and _is_old(d, oldest_ms))
            ):
                others.append(d)
            else:
                new[key] = d
        for n, d in enumerate(others):
            if not d.owner:
                d.owner, d.claimed = f"{prefix}-{n}", now
        if new:
            others += self._claim_new(list(new.values()), prefix, now)
        if others:
            self._claim_any(others, oldest_ms)

    def _claim_new(self, batch: list[Delivery], prefix: str, now: float) -> list[Delivery]:
        """Returns those whose key was not new after all."""
        owners = [f"{prefix}.{n}" for n in range(len(batch))]
        for d, owner in zip(batch, owners, strict=True):
            d.owner, d.claimed = owner, now
        keys, fingerprints = [d.key for d in batch], [d.fingerprint for d in batch]
        leases_ms = [self._leases.milliseconds(d.rules) for d in batch]
        claims = NewKeys(self._scope, keys, owners, fingerprints, leases_ms)
        made = self._leases.call(self._leases.store.claim_new, claims)
        ready, others = Status.READY, []
        new, lease_ms = New(self._scope, made.now_ms, leases_ms[0]), leases_ms[0]
        for d, own_ms in zip(batch, leases_ms, strict=True):
            if made.keys is not None and d.key not in made.keys:
                others.append(d)
                continue
            if own_ms != lease_ms:
                new, lease_ms = New(self._scope, made.now_ms, own_ms), own_ms
            d.status, d.new = ready, new
        return others

    def _claim_any(self, batch: list[Delivery], oldest_ms: int) -> None:
        claims = [self._claim_of(d, _is_old(d, oldest_ms)) for d in batch]
        grants = self._leases.call(self._leases.store.claim, claims)
        for d, grant in zip(batch, grants, strict=True):
            self._granted(d, grant)

    def _claim_of(self, d: Delivery, old: bool) -> Claim:
        return Claim(
            self._scope,
            d.key,
            d.owner,
            self._leases.milliseconds(d.rules),
            max_attempts(d.policy.max_retry),
            d.fingerprint,
            d.key_previous,
            d.redrive_count,
            d.header_retries,
            d.header_holds,
            old,
            d.lane,
        )

    def _granted(self, d: Delivery, grant: Grant) -> None:
        d.grant = grant
        d.retry_count = max(d.retry_count, grant.retry_count)
        d.hold_count = max(d.hold_count, grant.hold_count)
        if grant.parked:
            d.status = Status.PARKED
            return
        outcome = grant.outcome()
        d.layer = "" if outcome is None else "store"
        if outcome is None:
            d.status = Status.READY
            d.alone = grant.recovered and grant.attempts >= 2
            return
        reason, after = "", 0
        if outcome is Outcome.DUPLICATE:
            d.value = grant.result
        elif outcome is Outcome.IN_PROGRESS:
            after = grant.wait_ms
        elif outcome is Outcome.KEY_REUSED:
            reason = f"KEY_REUSED: its fingerprint is {d.fingerprint}, and the key was used with "
            reason += grant.record_fingerprint
        elif outcome is Outcome.CRASH_LOOP:
            most = max_attempts(d.policy.max_retry)
            reason = f"CRASH_LOOP: {most} attempts are used up"
        elif outcome is Outcome.TOO_OLD:
            produced = d.produced_at or f"{d.fetched.time_ms} ms since 1970"
            reason = f"TOO_OLD: it was produced at {produced}, and records are kept for "
            reason += str(self._retention)
        d.end(Result(outcome, reason, after))


def _is_old(d: Delivery, oldest_ms: int) -> bool:
    """Whether a message was produced before a time in milliseconds, by its produced_at, else by the
    broker. (DEDUP-029)"""
    if not d.produced_at:
        return 0 < d.fetched.time_ms < oldest_ms
    seconds, nanos = parse_timestamp(d.produced_at)
    return seconds * 1000 + nanos // 1_000_000 < oldest_ms
