"""How long until the next try: the same milliseconds in every service (RETRY-010 to RETRY-014)."""

from __future__ import annotations

from typing import NamedTuple

from .errors import IdemError
from .hashing import hash64
from .policies import MAX_COUNT, MAX_WAIT_MS, Policy, check_range


class Backoff(NamedTuple):
    """A delay and its two parts, in milliseconds."""

    base_ms: int
    jitter_ms: int

    @property
    def delay_ms(self) -> int:
        return self.base_ms + self.jitter_ms


def backoff(key: str, n: int, policy: Policy, retry_after_ms: int = 0) -> Backoff:
    """The delay before retry (or hold) number n + 1, with n from 0.

    `retry_after_ms`, which counts up to seven days, raises the base part and ignores the cap.
    POLICY_RANGE where n is not 0 to 2147483647, then KEY_EMPTY.
    """
    check_range("n", n, 0, MAX_COUNT)
    spread = jitter(key, n, policy)
    return Backoff(max(base_part(n, policy), min(retry_after_ms, MAX_WAIT_MS)), spread)


def base_part(n: int, policy: Policy) -> int:
    """The schedule's entry, or the base doubled n times up to the cap; in milliseconds."""
    schedule = policy.backoff_schedule
    if schedule:
        return schedule[min(n, len(schedule) - 1)]
    base, cap = 1000 * policy.backoff_base, 1000 * policy.backoff_max
    # Shifting the cap down, not the base up: n may be two thousand million.
    return cap if base > cap >> n else base << n


def jitter(key: str, n: int, policy: Policy) -> int:
    """0 to `backoff_jitter` milliseconds, spread over keys and tries; KEY_EMPTY without a key."""
    if not key:
        raise IdemError("KEY_EMPTY", "is a key of no bytes", "key")
    return hash64(f"{key}#{n}") % (policy.backoff_jitter + 1)
