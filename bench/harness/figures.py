"""What a benchmark gives: a figure of each contender in each round, and what is made of them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Contender:
    """One side of a comparison."""

    name: str
    rounds: list[float]
    extra: str = ""
    """What else is said of it: allocations, bytes."""


@dataclass
class Comparison:
    """Contenders that were measured in turns; the first is idem."""

    title: str
    unit: str
    contenders: list[Contender]


@dataclass
class Section:
    """What one command measured."""

    title: str
    command: str
    note: str
    comparisons: list[Comparison]
    facts: list[str] = field(default_factory=list)


@dataclass
class Target:
    """What was promised, and whether it is kept."""

    text: str
    measured: str
    met: bool


def read_comparisons(made: dict[str, Any]) -> list[Comparison]:
    """What a program in another language measured, from its JSON."""
    return [
        Comparison(c["title"], c["unit"], [Contender(**side) for side in c["contenders"]])
        for c in made["comparisons"]
    ]


def median(rounds: list[float]) -> float:
    return statistics.median(rounds)


def spread(rounds: list[float]) -> tuple[float, float]:
    """Between these lies the middle half of the rounds."""
    if len(rounds) < 3:
        return min(rounds), max(rounds)
    lower, _, upper = statistics.quantiles(rounds, n=4, method="inclusive")
    return lower, upper


def ratio(a: Contender, b: Contender) -> float:
    """The median of a round's a to its b: what disturbed a round disturbed both."""
    return median([x / y for x, y in zip(a.rounds, b.rounds, strict=True)])
