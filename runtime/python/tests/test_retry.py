"""Policies, delays and decisions (RETRY-001 to RETRY-026)."""

from __future__ import annotations

from typing import Any

import pytest
import xxhash
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import Action, Decision, Outcome, Policy, PolicyValues, backoff, decide, resolve
from idemspec.delays import base_part, jitter
from idemspec.policies import BOUNDS

WEEK_MS = 604_800_000
MOST = (1 << 31) - 1

policies = st.builds(
    Policy,
    backoff_base=st.integers(1, 86_400),
    backoff_max=st.integers(1, 604_800),
    backoff_jitter=st.integers(0, 3_600_000),
)


def test_defaults() -> None:
    """A policy that nobody stated has the defaults of chapter 7."""
    assert Policy() == Policy(5, 20, 1, 300, 1000, ())
    assert resolve({}, {}, {}) == Policy()


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_bounds(name: str) -> None:
    """Each value has its least and its most, and an error with its name beyond."""
    least, most = {
        "max_retry": (0, 100),
        "max_hold": (0, 100),
        "backoff_base": (1, 86_400),
        "backoff_max": (1, 604_800),
        "backoff_jitter": (0, 3_600_000),
    }[name]
    for value in (least, most):
        values: Any = {name: value}
        assert getattr(Policy(**values), name) == value
    for value in (least - 1, most + 1):
        bad: Any = {name: value}
        error = fault("POLICY_RANGE", Policy, **bad)
        assert (error.field, error.value) == (name, str(value))
        fault("POLICY_RANGE", resolve, bad, {}, {})
        fault("POLICY_RANGE", resolve, {}, bad, {})
        fault("POLICY_RANGE", resolve, {name: least}, bad, {})
        fault("POLICY_RANGE", resolve, {}, {}, bad)


def test_schedule_bounds() -> None:
    """A schedule has at most 32 delays of at most seven days."""
    assert Policy(backoff_schedule=[0, WEEK_MS] * 16)
    fault("POLICY_RANGE", Policy, backoff_schedule=[0] * 33)
    fault("POLICY_RANGE", Policy, backoff_schedule=[-1])
    fault("POLICY_RANGE", Policy, backoff_schedule=[0, WEEK_MS + 1])
    fault("POLICY_RANGE", resolve, {"backoff_base": 1}, {"backoff_schedule": [-1]}, {})


def test_header_before_schema_before_default() -> None:
    """Each value is the header's, else the schema's, else the default."""
    header: PolicyValues = {"max_retry": 1, "backoff_jitter": 2}
    schema: PolicyValues = {"max_retry": 3, "max_hold": 4, "backoff_jitter": 5, "backoff_base": 6}
    assert resolve(header, schema, {}) == Policy(1, 4, 6, 300, 2)


@pytest.mark.parametrize(
    ("header", "schema", "schedule"),
    [
        ({}, {"backoff_schedule": [7]}, (7,)),
        ({"backoff_schedule": [8, 9]}, {"backoff_schedule": [7]}, (8, 9)),
        ({"backoff_schedule": [8]}, {}, (8,)),
        ({"backoff_schedule": []}, {"backoff_schedule": [7]}, (7,)),
        ({"backoff_base": 1}, {"backoff_schedule": [7]}, ()),
        ({"backoff_max": 1}, {"backoff_schedule": [7]}, ()),
        ({"backoff_max": 1, "backoff_schedule": []}, {"backoff_schedule": [7]}, ()),
        ({"backoff_base": 1, "backoff_schedule": [8]}, {"backoff_schedule": [7]}, (8,)),
        ({"backoff_jitter": 1}, {"backoff_schedule": [7]}, (7,)),
        ({}, {"backoff_schedule": []}, ()),
    ],
)
def test_schedule_in_force(
    header: PolicyValues, schema: PolicyValues, schedule: tuple[int, ...]
) -> None:
    """The header's schedule; else none beside the header's base or cap; else the schema's."""
    assert resolve(header, schema, {}).backoff_schedule == schedule


def test_limits() -> None:
    """A consumer's limits clamp values, and the schedule by the limit of the cap."""
    asked: PolicyValues = {
        "max_retry": 50,
        "max_hold": 50,
        "backoff_base": 50,
        "backoff_max": 50,
        "backoff_jitter": 50,
        "backoff_schedule": [1, 9_000, 9_001],
    }
    limit: PolicyValues = {
        "max_retry": 10,
        "max_hold": 11,
        "backoff_base": 12,
        "backoff_max": 9,
        "backoff_jitter": 14,
    }
    assert resolve(asked, {}, limit) == Policy(10, 11, 12, 9, 14, (1, 9_000, 9_000))
    assert resolve({}, asked, limit) == Policy(10, 11, 12, 9, 14, (1, 9_000, 9_000))
    generous: Any = {name: most for name, (_, most) in BOUNDS.items()}
    assert resolve(asked, {}, generous) == Policy(50, 50, 50, 50, 50, (1, 9_000, 9_001))
    assert resolve({"backoff_schedule": [WEEK_MS]}, {}, {}).backoff_schedule == (WEEK_MS,)
    assert resolve({"max_retry": 100, "max_hold": 100}, {}, {}) == Policy(100, 100)
    assert resolve({"backoff_base": 86_400}, {}, {}) == Policy(backoff_base=86_400)
    assert resolve({"backoff_max": 604_800}, {}, {}) == Policy(backoff_max=604_800)
    assert resolve({"backoff_jitter": 3_600_000}, {}, {}) == Policy(backoff_jitter=3_600_000)


@given(st.text("ab", min_size=1), st.integers(0, 200), policies, st.integers(0, WEEK_MS))
def test_backoff_same_as_arithmetic(key: str, n: int, policy: Policy, after: int) -> None:
    """The delay is the doubled base up to the cap, or Retry-After, and the jitter."""
    found = backoff(key, n, policy, after)
    doubled = min(policy.backoff_max, policy.backoff_base * 2**n) * 1000
    number = xxhash.xxh64_intdigest(f"{key}#{n}".encode())
    assert found.base_ms == max(doubled, after)
    assert found.jitter_ms == number % (policy.backoff_jitter + 1)
    assert found.delay_ms == found.base_ms + found.jitter_ms


def test_backoff_example() -> None:
    """The example of chapter 7."""
    found = backoff("order-8317", 1, Policy(backoff_max=60, backoff_jitter=20))
    assert (found.base_ms, found.jitter_ms, found.delay_ms) == (2000, 17, 2017)


@pytest.mark.parametrize(
    ("n", "cap", "base_ms"), [(10, 1024, 1_024_000), (10, 1025, 1_024_000), (11, 1025, 1_025_000)]
)
def test_backoff_at_the_cap(n: int, cap: int, base_ms: int) -> None:
    """A doubled base just below the cap is not the cap."""
    assert base_part(n, Policy(backoff_max=cap)) == base_ms


def test_backoff_bounds() -> None:
    """n is looked at before the key; two thousand million retries cost nothing."""
    fault("POLICY_RANGE", backoff, "", -1, Policy())
    fault("POLICY_RANGE", backoff, "", MOST + 1, Policy())
    fault("KEY_EMPTY", backoff, "", 0, Policy())
    fault("STRING_UTF8", backoff, "\ud800", 0, Policy())
    assert backoff("k", MOST, Policy(backoff_jitter=0)).delay_ms == 300_000


@pytest.mark.parametrize(("n", "base"), [(0, 5), (1, 6), (2, 0), (3, 0), (MOST, 0)])
def test_schedule(n: int, base: int) -> None:
    """The n-th entry of the schedule, the last one for ever."""
    assert base_part(n, Policy(backoff_schedule=[5, 6, 0])) == base


def test_retry_after() -> None:
    """Retry-After is a least base part, ignores the cap and counts up to seven days."""
    policy = Policy(backoff_base=2, backoff_max=2, backoff_jitter=0)
    assert backoff("k", 0, policy, 1999).base_ms == 2000
    assert backoff("k", 0, policy, 5000).base_ms == 5000
    assert backoff("k", 0, policy, WEEK_MS + 1).base_ms == WEEK_MS


KEY = "order-1"
POLICY = Policy(max_retry=3, max_hold=2, backoff_jitter=500)


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.DUPLICATE, Outcome.STALE])
def test_acknowledged(outcome: Outcome) -> None:
    """What is done, now or before, is acknowledged."""
    assert decide(outcome, KEY, 9, 9, POLICY, reason="x") == Decision(Action.ACK)


@pytest.mark.parametrize("outcome", [Outcome.RETRYABLE, Outcome.THROTTLED])
def test_retried(outcome: Outcome) -> None:
    """A failure is tried again while retries are left, and then dead-lettered."""
    delay = backoff(KEY, 2, POLICY).delay_ms
    name = outcome.value
    assert decide(outcome, KEY, 2, 9, POLICY) == Decision(Action.RETRY, delay, 3, 9, name)
    assert decide(outcome, KEY, 3, 9, POLICY) == Decision(Action.DEAD_LETTER, None, 3, 9, name)
    assert decide(outcome, KEY, 4, 9, POLICY) == Decision(Action.DEAD_LETTER, None, 4, 9, name)


def test_retry_after_counts_with_throttled_alone() -> None:
    """Retry-After is ignored with every other outcome."""
    spread = jitter(KEY, 0, POLICY)
    throttled = decide(Outcome.THROTTLED, KEY, 0, 0, POLICY, retry_after_ms=9_000)
    assert throttled.delay_ms == 9_000 + spread
    retryable = decide(Outcome.RETRYABLE, KEY, 0, 0, POLICY, retry_after_ms=9_000)
    assert retryable.delay_ms == 1_000 + spread
    held = decide(Outcome.OUT_OF_ORDER, KEY, 0, 0, POLICY, retry_after_ms=9_000)
    assert held.delay_ms == 1_000 + spread


def test_held() -> None:
    """What is out of order is held, which costs no retry, while holds are left."""
    delay = backoff(KEY, 1, POLICY).delay_ms
    held = decide(Outcome.OUT_OF_ORDER, KEY, 9, 1, POLICY)
    assert held == Decision(Action.HOLD, delay, 9, 2, "OUT_OF_ORDER")
    used_up = decide(Outcome.OUT_OF_ORDER, KEY, 9, 2, POLICY)
    assert used_up == Decision(Action.DEAD_LETTER, None, 9, 2, "OUT_OF_ORDER")


@pytest.mark.parametrize("outcome", [Outcome.IN_PROGRESS, Outcome.FENCED])
def test_deferred(outcome: Outcome) -> None:
    """Another claim's work is waited for, which costs nothing, up to seven days."""
    spread = jitter(KEY, 7, POLICY)
    for wait, delay in ((0, 0), (250, 250), (WEEK_MS, WEEK_MS), (WEEK_MS + 1, WEEK_MS)):
        found = decide(outcome, KEY, 7, 8, POLICY, reason="x", wait_ms=wait)
        assert found == Decision(Action.DEFER, delay + spread, 7, 8)
    fault("INPUT_INVALID", decide, outcome, "", -1, 0, POLICY)
    fault("INPUT_INVALID", decide, outcome, KEY, 0, 0, POLICY, wait_ms=-1)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.NON_RETRYABLE,
        Outcome.KEY_REUSED,
        Outcome.CONFLICT,
        Outcome.MALFORMED,
        Outcome.CRASH_LOOP,
        Outcome.TOO_OLD,
    ],
)
def test_dead_lettered(outcome: Outcome) -> None:
    """What cannot succeed is dead-lettered, retries left or not."""
    expected = Decision(Action.DEAD_LETTER, None, 0, 1, outcome.value)
    assert decide(outcome, KEY, 0, 1, POLICY) == expected


def test_reasons() -> None:
    """A reason is kept as it is; an empty one is the outcome's name."""
    for reason, kept in (("busy: db\n", "busy: db\n"), ("", "RETRYABLE")):
        for count in (0, 3):
            found = decide(Outcome.RETRYABLE, KEY, count, 0, POLICY, reason=reason)
            assert found.reject_reason == kept


@pytest.mark.parametrize("outcome", list(Outcome))
def test_decide_bounds(outcome: Outcome) -> None:
    """Counts are looked at before the key, and both whatever the outcome."""
    for counts in ((-1, 0), (MOST + 1, 0), (0, -1), (0, MOST + 1)):
        fault("POLICY_RANGE", decide, outcome, "", *counts, POLICY, wait_ms=0)
    fault("KEY_EMPTY", decide, outcome, "", 0, 0, POLICY, wait_ms=0)
    assert decide(outcome, KEY, MOST, MOST, POLICY, wait_ms=0)
