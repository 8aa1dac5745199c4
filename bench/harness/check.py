"""`idem check` beside plain decoding of the same files: bench/lint, one process."""

from __future__ import annotations

import json

import machine
from figures import Comparison, Contender, Section, Target, ratio

BINARY = "binary messages in a length-delimited file"
LINES = "lines of payloads in JSON"


def check(quick: bool) -> Section:
    """Contenders take turns inside of the process."""
    command = [str(machine.OUT / "lint")] + (["-quick"] if quick else [])
    made = json.loads(machine.run(command).stdout)
    comparisons = []
    for c in made["comparisons"]:
        sides = [Contender(**side) for side in c["contenders"]]
        comparisons.append(Comparison(c["title"], c["unit"], sides))
    return Section(
        "Check",
        f"bench/out/lint{' -quick' if quick else ''}",
        "A file of the shop's PaymentSucceeded, read from its beginning in each round. idem check "
        "runs all rules, renders keys and fingerprints, and counts duplicates; the others decode "
        "each message into one that they have at hand, on one goroutine, and do nothing with it.",
        comparisons,
        made["facts"],
    )


def targets(section: Section) -> list[Target]:
    found = []
    for text, title, peer in (
        ("binary messages, at most 2 × proto.Unmarshal", BINARY, "proto.Unmarshal, generated"),
        ("lines of JSON, at most 2 × protojson", LINES, "protojson.Unmarshal, generated"),
    ):
        for comparison in section.comparisons:
            for of in ("time on the wall", "processor time"):
                if comparison.title == f"{title}, {of}":
                    sides = comparison.contenders
                    other = next(c for c in sides if c.name.startswith(peer))
                    value = ratio(sides[0], other)
                    found.append(Target(f"Check: {text}, {of}", f"{value:.2f}×", value <= 2.0))
    return found
