"""What became of deliveries, counted for the table idem_audit: how many duplicates were stopped,
and where, outlives a process and its metrics. `idem audit` reads it. (CONS-040)"""

from __future__ import annotations

import threading
from collections import Counter, deque
from datetime import timedelta

INTERVAL_SECONDS = 10.0
"""How often counts are written. A crash loses those of the last one."""
KEPT = timedelta(days=90)
EVENT_TYPES = 200
"""How many event types are counted by name. (CONS-042)"""
SUPERSEDED = "SUPERSEDED"
"""The outcome where another key had made the transition. (CONS-041)"""

Kind = tuple[str, str, str, str, str]
"""Scope, event type, outcome, action and layer: `store`, `state` or `handler`, or nothing."""
Counts = dict[Kind, int]


class Audit:
    """Counts deliveries, from several threads; nothing is written in a message's way."""

    def __init__(self) -> None:
        self._told: deque[tuple[Kind, int]] = deque()
        self._kept: Counter[Kind] = Counter()
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def add(self, kind: Kind, n: int = 1) -> None:
        self._told.append((kind, n))

    def take(self) -> Counts:
        """What was counted since the last time."""
        with self._lock:
            counts, self._kept = self._kept, Counter()
            for _ in range(len(self._told)):
                kind, n = self._told.popleft()
                counts[self._named(kind)] += n
        return dict(counts)

    def _named(self, kind: Kind) -> Kind:
        scope, name, outcome, action, layer = kind
        if name not in self._names:
            if len(self._names) >= EVENT_TYPES or len(name) > 255 or not name.isprintable():
                return scope, "other", outcome, action, layer
            self._names.add(name)
        return kind

    def give_back(self, counts: Counts) -> None:
        """Keeps what could not be written for the next time."""
        with self._lock:
            self._kept.update(counts)
