"""Chapter 7: policy, backoff, decisions."""

from dataclasses import dataclass, field

from .errors import Fault
from .hash import check_key, xxh64

SEVEN_DAYS = 604_800_000

BOUNDS = {
    "max_retry": (0, 100),
    "max_hold": (0, 100),
    "backoff_base": (1, 86_400),
    "backoff_jitter": (0, 3_600_000),
    "backoff_max": (1, 604_800),
}
DEFAULTS = {
    "max_retry": 5,
    "max_hold": 20,
    "backoff_base": 1,
    "backoff_jitter": 1000,
    "backoff_max": 300,
}
LONGEST_SCHEDULE = 32
SCHEDULE_ENTRY = (0, SEVEN_DAYS)
COUNTS = (0, 2**31 - 1)


def check(value: int, bounds: tuple[int, int]) -> None:
    """RETRY-004."""
    lowest, highest = bounds
    if not lowest <= value <= highest:
        raise Fault("POLICY_RANGE", f"{value} is not {lowest} to {highest}")


def check_schedule(schedule: list[int]) -> None:
    if len(schedule) > LONGEST_SCHEDULE:
        raise Fault("POLICY_RANGE", f"a schedule of {len(schedule)} entries")
    for entry in schedule:
        check(entry, SCHEDULE_ENTRY)


# --- Policy


def policy_in_force(
    header: dict[str, int], schema: dict[str, int], limit: dict[str, int],
    header_schedule: list[int], schema_schedule: list[int],
) -> tuple[dict[str, int], list[int]]:  # fmt: skip
    """RETRY-001 to RETRY-004: the five values, and the schedule (empty: there is none)."""
    for values in (header, schema, limit):
        for name, value in values.items():
            check(value, BOUNDS[name])
    check_schedule(header_schedule)
    check_schedule(schema_schedule)

    if header_schedule:
        schedule = header_schedule
    elif "backoff_base" in header or "backoff_max" in header:
        schedule = []
    else:
        schedule = schema_schedule

    values = {**DEFAULTS, **schema, **header}
    values = {name: min(value, limit.get(name, value)) for name, value in values.items()}
    if "backoff_max" in limit:
        schedule = [min(entry, limit["backoff_max"] * 1000) for entry in schedule]
    return values, schedule


# --- Backoff


@dataclass
class Policy:
    """What a delay depends on. `schedule` is empty where there is none."""

    base: int
    max: int
    jitter: int
    schedule: list[int] = field(default_factory=list)

    def check(self) -> None:
        check(self.base, BOUNDS["backoff_base"])
        check(self.max, BOUNDS["backoff_max"])
        check(self.jitter, BOUNDS["backoff_jitter"])
        check_schedule(self.schedule)


def base_part(policy: Policy, n: int, retry_after: int | None = None) -> int:
    """RETRY-010 and RETRY-011."""
    if policy.schedule:
        part = policy.schedule[min(n, len(policy.schedule) - 1)]
    else:
        base, cap = policy.base * 1000, policy.max * 1000
        part = cap if n >= 63 or base > cap >> n else base << n
    if retry_after is not None:
        part = max(part, min(retry_after, SEVEN_DAYS))
    return part


def jitter(policy: Policy, key: bytes, n: int) -> int:
    """RETRY-012."""
    return xxh64(key + b"#%d" % n) % (policy.jitter + 1)


@dataclass
class Delay:
    base_ms: int
    jitter_ms: int

    @property
    def delay_ms(self) -> int:
        """RETRY-013."""
        return self.base_ms + self.jitter_ms


def backoff(policy: Policy, key: bytes, n: int, retry_after: int | None = None) -> Delay:
    """RETRY-014, then the delay."""
    policy.check()
    check(n, COUNTS)
    check_key(key)
    return Delay(base_part(policy, n, retry_after), jitter(policy, key, n))


# --- Outcome to action

ACKNOWLEDGED = ("OK", "DUPLICATE", "STALE")
DEFERRED = ("IN_PROGRESS", "FENCED")
DEAD = ("NON_RETRYABLE", "KEY_REUSED", "CONFLICT", "MALFORMED", "CRASH_LOOP", "TOO_OLD")
OUTCOMES = (*ACKNOWLEDGED, "RETRYABLE", "THROTTLED", "OUT_OF_ORDER", *DEFERRED, *DEAD)


@dataclass
class Decision:
    action: str
    retry_count: int
    hold_count: int
    delay_ms: int | None = None
    reject_reason: str | None = None


def decide(
    outcome: str, key: bytes, policy: Policy, retry_count: int, max_retry: int, hold_count: int,
    max_hold: int, reason: str | None, retry_after: int | None, wait: int | None,
) -> Decision:  # fmt: skip
    """RETRY-020 to RETRY-026."""
    check(max_retry, BOUNDS["max_retry"])
    check(max_hold, BOUNDS["max_hold"])
    check(retry_count, COUNTS)
    check(hold_count, COUNTS)
    policy.check()
    check_key(key)

    reason = reason or outcome  # RETRY-025: an empty one is none

    if outcome in ACKNOWLEDGED:
        return Decision("ACK", retry_count, hold_count)
    if outcome in ("RETRYABLE", "THROTTLED") and retry_count < max_retry:
        after = retry_after if outcome == "THROTTLED" else None
        delay = backoff(policy, key, retry_count, after).delay_ms
        return Decision("RETRY", retry_count + 1, hold_count, delay, reason)
    if outcome == "OUT_OF_ORDER" and hold_count < max_hold:
        delay = backoff(policy, key, hold_count).delay_ms
        return Decision("HOLD", retry_count, hold_count + 1, delay, reason)
    if outcome in DEFERRED:
        assert wait is not None
        delay = min(wait, SEVEN_DAYS) + jitter(policy, key, retry_count)
        return Decision("DEFER", retry_count, hold_count, delay)
    return Decision("DEAD_LETTER", retry_count, hold_count, None, reason)
