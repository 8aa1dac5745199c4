"""What becomes of a delivery (RETRY-020 to RETRY-026)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .delays import backoff, jitter
from .errors import IdemError
from .policies import MAX_COUNT, MAX_WAIT_MS, Policy, check_range


class Outcome(Enum):
    """What became of one delivery."""

    OK = "OK"
    DUPLICATE = "DUPLICATE"
    STALE = "STALE"
    RETRYABLE = "RETRYABLE"
    OUT_OF_ORDER = "OUT_OF_ORDER"
    THROTTLED = "THROTTLED"
    NON_RETRYABLE = "NON_RETRYABLE"
    KEY_REUSED = "KEY_REUSED"
    CONFLICT = "CONFLICT"
    MALFORMED = "MALFORMED"
    CRASH_LOOP = "CRASH_LOOP"
    TOO_OLD = "TOO_OLD"
    IN_PROGRESS = "IN_PROGRESS"
    FENCED = "FENCED"


class Action(Enum):
    """What a consumer does with a delivery."""

    ACK = "ACK"
    RETRY = "RETRY"
    HOLD = "HOLD"
    DEFER = "DEFER"
    DEAD_LETTER = "DEAD_LETTER"


@dataclass(frozen=True)
class Decision:
    """An action and what the next delivery's headers say; None where they keep what they have."""

    action: Action
    delay_ms: int | None = None
    """RETRY, HOLD, DEFER: the delay in milliseconds."""
    retry_count: int | None = None
    """All but ACK: retries made, this one included."""
    hold_count: int | None = None
    """All but ACK: holds made, this one included."""
    reject_reason: str | None = None
    """RETRY, HOLD, DEAD_LETTER: the reason that was given, or the outcome's name."""


_DONE = frozenset({Outcome.OK, Outcome.DUPLICATE, Outcome.STALE})
_WAITING = frozenset({Outcome.IN_PROGRESS, Outcome.FENCED})
_TRIED_AGAIN = frozenset({Outcome.RETRYABLE, Outcome.THROTTLED})


def decide(
    outcome: Outcome,
    key: str,
    retry_count: int,
    hold_count: int,
    policy: Policy,
    *,
    reason: str = "",
    retry_after_ms: int = 0,
    wait_ms: int = -1,
) -> Decision:
    """The decision about a delivery that has made so many retries and holds.

    `retry_after_ms` counts with THROTTLED; `wait_ms` with IN_PROGRESS and FENCED, which need it
    (else INPUT_INVALID); both up to seven days. Then, whatever the outcome, POLICY_RANGE where a
    count is not 0 to 2147483647, and KEY_EMPTY.
    """
    waits = outcome in _WAITING
    if waits and wait_ms < 0:
        problem = f"is missing or negative, and {outcome.value} needs it"
        raise IdemError("INPUT_INVALID", problem, "wait_ms")
    check_range("retry_count", retry_count, 0, MAX_COUNT)
    check_range("hold_count", hold_count, 0, MAX_COUNT)
    spread = jitter(key, retry_count, policy)
    if outcome in _DONE:
        return Decision(Action.ACK)
    if waits:
        delay = min(wait_ms, MAX_WAIT_MS) + spread
        return Decision(Action.DEFER, delay, retry_count, hold_count)

    reason = reason or outcome.value
    if outcome in _TRIED_AGAIN and retry_count < policy.max_retry:
        after = retry_after_ms if outcome is Outcome.THROTTLED else 0
        delay = backoff(key, retry_count, policy, after).delay_ms
        return Decision(Action.RETRY, delay, retry_count + 1, hold_count, reason)
    if outcome is Outcome.OUT_OF_ORDER and hold_count < policy.max_hold:
        delay = backoff(key, hold_count, policy).delay_ms
        return Decision(Action.HOLD, delay, retry_count, hold_count + 1, reason)
    return Decision(Action.DEAD_LETTER, None, retry_count, hold_count, reason)
