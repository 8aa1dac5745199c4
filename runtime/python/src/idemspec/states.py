"""State machines: whether a transition applies to a row (STATE-001 to STATE-006)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from graphlib import CycleError, TopologicalSorter

from .errors import IdemError


class StateVerdict(Enum):
    """What a transition is to a row's state."""

    APPLY = "APPLY"
    DUPLICATE = "DUPLICATE"
    EARLY = "EARLY"
    CONFLICT = "CONFLICT"


class StateMachine:
    """States and the transitions between them. A cycle, a self-loop too, is STATE_CYCLE."""

    def __init__(self, transitions: Iterable[tuple[str, str]]) -> None:
        following: dict[str, set[str]] = {}
        for before, after in transitions:
            following.setdefault(before, set()).add(after)
            following.setdefault(after, set())
        try:
            TopologicalSorter(following).prepare()
        except CycleError as error:
            shown = " -> ".join(error.args[1])
            raise IdemError("STATE_CYCLE", "is a cycle of transitions", "", shown) from None
        self._following = following

    def verdict(self, current: str, before: str, after: str) -> StateVerdict:
        """What the transition is to a row in `current`, where `""` is a missing row.

        STATE_UNKNOWN where no transition names one of the three; then TRANSITION_UNDECLARED.
        """
        # A missing row is a state without being in a transition, and stands back here.
        for state in (before, after, current or before):
            if state not in self._following:
                raise IdemError("STATE_UNKNOWN", "is a state of no transition", "", state)
        if after not in self._following[before]:
            shown = f"{before} -> {after}"
            raise IdemError("TRANSITION_UNDECLARED", "is not a declared transition", "", shown)
        if current == before:
            return StateVerdict.APPLY
        if current == after or self._reaches(after, current):
            return StateVerdict.DUPLICATE
        if current not in self._following or self._reaches(current, before):
            return StateVerdict.EARLY
        return StateVerdict.CONFLICT

    def _reaches(self, start: str, goal: str) -> bool:
        """Whether a path of at least one transition leads from start to goal."""
        seen: set[str] = set()
        open_ends = [start]
        while open_ends:
            for state in self._following[open_ends.pop()] - seen:
                seen.add(state)
                open_ends.append(state)
        return goal in seen


@dataclass(frozen=True)
class Transition:
    """The transition that a message stands for: what its schema says."""

    state_machine: str
    """The full name of the enum that declares the machine."""
    before: str
    """The text of the state before, `""` for a creation: `from` in the schema."""
    after: str
    """The text of the state after: `to` in the schema."""
    dead_letter_superseded: bool = False
    """`ON_SUPERSEDED_DEAD_LETTER`: where another key has made the transition, dead-letter."""
