"""What the modules inputs_*.py fill: a group of inputs, each with its id and what it proves."""

import re
from dataclasses import dataclass, field
from typing import Any

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass
class Case:
    """A vector without its answer. `want` is the answer where the author knows it: a text is an
    error code. It counts as one more opinion."""

    id: str
    op: str
    spec: list[str]
    input: dict[str, Any]
    want: dict[str, Any] | str | None = None
    note: str = ""


@dataclass
class Group:
    name: str
    cases: list[Case] = field(default_factory=list)

    def add(
        self,
        slug: str,
        value: dict[str, Any],
        spec: str,
        want: dict[str, Any] | str | None = None,
        note: str = "",
    ) -> None:
        """Adds a case. `spec` is one requirement or several, joined by blanks."""
        prefix = self.name.replace("_", "-")
        assert SLUG.fullmatch(slug), slug
        self.cases.append(Case(f"{prefix}-{slug}", self.name, spec.split(), value, want, note))

    def faults(self, spec: str, inputs: dict[str, dict[str, Any]]) -> None:
        """Inputs of no known shape, each with one fault."""
        for slug, value in inputs.items():
            self.add(slug, value, spec, "INPUT_INVALID")


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if name not in names}


# The characters beside the ranges that a scanner may compare with.
BESIDE_DIGITS = {"slash-below-0": "/", "colon-above-9": ":"}
BESIDE_LETTERS = {
    "at-sign-below-a": "@",
    "bracket-above-z": "[",
    "backtick-below-a": "`",
    "brace-above-z": "{",
}


def slugged(number: int) -> str:
    """A number as part of an id."""
    return f"minus-{-number}" if number < 0 else str(number)
