"""Consumers in other languages than Go, each beside a loop with its client and statements."""

from __future__ import annotations

import json
import os
import sys

import machine
from figures import Comparison, Section, Target, ratio, read_comparisons

PROJECT = machine.ROOT / "runtime" / "java-kafka"


def java(quick: bool) -> Section:
    """Contenders take turns inside of one process, which warms up first."""
    main = "io.github.idemspec.kafka.BareLoop"
    classpath = ":".join(
        (
            str(PROJECT / "target" / "classes"),
            str(PROJECT / "target" / "test-classes"),
            (PROJECT / "target" / "classpath").read_text(),
        )
    )
    log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    size = ["10000", "2"] if quick else ["40000", "5"]
    return section(
        "Consumer, Java", ["java", log, "-cp", classpath, main, *size], f"java -cp … {main}", size
    )


def python(quick: bool) -> Section:
    """Contenders take turns inside of one process."""
    size = ["4000", "2"] if quick else ["20000", "5"]
    path, main = f"PYTHONPATH={machine.ROOT / 'runtime/python/src'}", "bench/python/consume.py"
    command = ["env", path, sys.executable, str(machine.ROOT / main), *size]
    return section("Consumer, Python", command, f"python {main}", size)


def section(title: str, command: list[str], shown: str, size: list[str]) -> Section:
    comparisons: list[Comparison] = []
    facts: list[str] = []
    if missing := [n for n in ("DATABASE_URL", "KAFKA_BROKERS") if not os.environ.get(n)]:
        facts.append(f"it was not measured: {' and '.join(missing)} not set")
    else:
        comparisons = read_comparisons(json.loads(machine.run(command).stdout))
    return Section(
        title,
        f"{shown} {' '.join(size)}",
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
