"""Retry policies (RETRY-001 to RETRY-004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from .errors import IdemError

MAX_COUNT = (1 << 31) - 1
MAX_WAIT_MS = 604_800_000  # seven days
MAX_SCHEDULE = 32

BOUNDS = {
    "max_retry": (0, 100),
    "max_hold": (0, 100),
    "backoff_base": (1, 86_400),
    "backoff_max": (1, 604_800),
    "backoff_jitter": (0, 3_600_000),
}


class PolicyValues(TypedDict, total=False):
    """What headers, a schema or a consumer say about a policy: any of its values."""

    max_retry: int
    max_hold: int
    backoff_base: int
    backoff_max: int
    backoff_jitter: int
    backoff_schedule: Sequence[int]


@dataclass(frozen=True)
class Policy:
    """How often, and how late, a message is tried again. A value out of bounds is POLICY_RANGE."""

    max_retry: int = 5
    """Retries, 0 to 100."""
    max_hold: int = 20
    """Holds of what is out of order, 0 to 100."""
    backoff_base: int = 1
    """The first delay in seconds, 1 to 86400."""
    backoff_max: int = 300
    """The cap of the exponential part in seconds, 1 to 604800."""
    backoff_jitter: int = 1000
    """The largest jitter in milliseconds, 0 to 3600000."""
    backoff_schedule: Sequence[int] = ()
    """At most 32 delays of 0 to 604800000 milliseconds, in place of base and cap; empty is none."""

    def __post_init__(self) -> None:
        for name, (least, most) in BOUNDS.items():
            check_range(name, getattr(self, name), least, most)
        check_range("length of backoff_schedule", len(self.backoff_schedule), 0, MAX_SCHEDULE)
        for delay in self.backoff_schedule:
            check_range("backoff_schedule", delay, 0, MAX_WAIT_MS)


def check_range(name: str, value: int, least: int, most: int) -> None:
    """Raises POLICY_RANGE where a value is outside least to most."""
    if not least <= value <= most:
        raise IdemError("POLICY_RANGE", f"is not from {least} to {most}", name, value)


LARGEST = Policy(100, 100, 86_400, 604_800, 3_600_000)
"""A consumer's limits where it has none."""


def resolve(header: PolicyValues, schema: PolicyValues, limit: PolicyValues) -> Policy:
    """The policy in force: each value the header's, else the schema's, else the default, and at
    most the consumer's limit.

    A header's base or cap turns off the schema's schedule; entries of the schedule in force are
    limited by the limit of `backoff_max`. A value out of bounds, of any of the three, is
    POLICY_RANGE.
    """
    asked = replace(Policy(**schema), **header)
    most = replace(LARGEST, **limit)
    schedule = header.get("backoff_schedule")
    if not schedule and "backoff_base" not in header and "backoff_max" not in header:
        schedule = schema.get("backoff_schedule")
    return Policy(
        max_retry=min(asked.max_retry, most.max_retry),
        max_hold=min(asked.max_hold, most.max_hold),
        backoff_base=min(asked.backoff_base, most.backoff_base),
        backoff_max=min(asked.backoff_max, most.backoff_max),
        backoff_jitter=min(asked.backoff_jitter, most.backoff_jitter),
        backoff_schedule=tuple(min(delay, 1000 * most.backoff_max) for delay in schedule or ()),
    )
