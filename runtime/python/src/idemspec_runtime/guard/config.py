"""The settings of deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from idemspec import PolicyValues, resolve

from ..records import DEFAULT_RETENTION


@dataclass(frozen=True)
class GuardConfig:
    """The settings of deliveries."""

    retention: timedelta = DEFAULT_RETENTION
    """How long records are kept, by the store's own setting. A message that was produced before
    cannot be told from new, and is TOO_OLD. (DEDUP-029)"""
    clock_skew: timedelta = timedelta(minutes=5)
    """How far the clocks of producers may be ahead."""
    limits: PolicyValues | None = None
    """The most that the headers of a message can ask for. (RETRY-003)"""
    lease: timedelta = timedelta(seconds=30)
    """How long a claim holds in mode idempotent, renewed at a third. In mode tx it is the handler's
    time limit and ten seconds, and nobody renews it. (DEDUP-028)"""
    handler_timeout: timedelta = timedelta(seconds=30)
    """That of routes which give none."""

    def __post_init__(self) -> None:
        for name in ("retention", "lease", "handler_timeout"):
            if getattr(self, name) <= timedelta(0):
                raise ValueError(f"{name} is {getattr(self, name)}: give a time above 0")
        if self.clock_skew >= self.retention:
            raise ValueError(
                f"clock_skew is {self.clock_skew}, and retention {self.retention}: with no less "
                "every message is TOO_OLD"
            )
        resolve({}, {}, self.limits or {})
