"""Consumers in other languages than Go, each beside a loop with its client and statements."""

from __future__ import annotations

import json
import os

import machine
from figures import Comparison, Contender, Section, Target, ratio

PROJECT = machine.ROOT / "runtime" / "java-kafka"


def java(quick: bool) -> Section:
    """Contenders take turns inside of one process, which warms up first."""
    size = ["10000", "2"] if quick else ["40000", "5"]
    main = "io.github.idemspec.kafka.BareLoop"
    classpath = ":".join(
        (
            str(PROJECT / "target" / "classes"),
            str(PROJECT / "target" / "test-classes"),
            (PROJECT / "target" / "classpath").read_text(),
        )
    )
    comparisons: list[Comparison] = []
    facts: list[str] = []
    if missing := [n for n in ("DATABASE_URL", "KAFKA_BROKERS") if not os.environ.get(n)]:
        facts.append(f"it was not measured: {' and '.join(missing)} not set")
    else:
        log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        made = json.loads(machine.run(["java", log, "-cp", classpath, main, *size]).stdout)
        for c in made["comparisons"]:
            sides = [Contender(**side) for side in c["contenders"]]
            comparisons.append(Comparison(c["title"], c["unit"], sides))
    return Section(
        "Consumer, Java",
        f"java -cp … {main} {' '.join(size)}",
        "From when the group is joined to when it is left, on Kafka and PostgreSQL. The loop "
        "polls, claims, runs 16 handlers at a time, completes and commits: no order, no retries, "
        "no limits.",
        comparisons,
        facts,
    )


def targets(section: Section) -> list[Target]:
    found = []
    for comparison in section.comparisons:
        idem, bare = comparison.contenders
        value = ratio(idem, bare)
        what = comparison.title.partition(",")[0]
        text = f"{section.title}: {what}, at least 0.8 × a bare loop"
        found.append(Target(text, f"{value:.2f}×", value >= 0.8))
    return found
