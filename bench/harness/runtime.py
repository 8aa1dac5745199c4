"""The Go runtime beside routers, queues and statements by hand: bench/runtime, a process a part."""

from __future__ import annotations

import json
import os

import machine
from figures import Comparison, Section, Target, ratio, read_comparisons

PARTS = {
    "pipeline": (),
    "claim": ("DATABASE_URL",),
    "tx": ("DATABASE_URL",),
    "latency": ("DATABASE_URL",),
    "kafka": ("DATABASE_URL", "KAFKA_BROKERS"),
}
PIPELINE = "in-memory pipeline, messages a second"
CLAIM = "claim and completion on PostgreSQL, keys a second"
TRANSACTION = "one transaction a message, messages a second"


def runtime(quick: bool) -> Section:
    """Contenders take turns inside of each process; those that need a server name its variable."""
    command = [str(machine.OUT / "runtime")] + (["-quick"] if quick else [])
    parts = dict(PARTS)
    if os.environ.get("BENCH_GROWTH", "") not in ("", "0"):
        parts["growth"] = ("DATABASE_URL",)
    comparisons: list[Comparison] = []
    facts: list[str] = []
    for part, needs in parts.items():
        missing = [name for name in needs if not os.environ.get(name)]
        if missing:
            facts.append(f"{part} was not measured: {' and '.join(missing)} not set")
            continue
        made = json.loads(machine.run([*command, part]).stdout)
        comparisons += read_comparisons(made)
        facts += made["facts"] or []
    if "growth" not in parts:
        facts.append("`BENCH_GROWTH=1` measures a table of ten million keys too, some minutes")
    return Section(
        "Runtime",
        f"bench/out/runtime{' -quick' if quick else ''} " + "; … ".join(parts),
        "Rounds in turns. Processor time is that of the process and of PostgreSQL's server, not of "
        "Kafka's; allocations are a message's, those of whoever published it included.",
        comparisons,
        facts,
    )


def targets(section: Section) -> list[Target]:
    found = []
    for text, title, peer, bound in (
        ("in-memory pipeline, at least 3 × Watermill's router", PIPELINE, "Watermill", 3.0),
        ("claim and completion, at least 2 × River's jobs", CLAIM, "River", 2.0),
        ("claim and completion, at least 0.5 × a bare INSERT", CLAIM, "bare: one", 0.5),
        ("the same, at least 0.5 × a bare INSERT and UPDATE", CLAIM, "bare: that", 0.5),
        ("a transaction a message, at least 0.9 × by hand", TRANSACTION, "by hand: the same", 0.9),
    ):
        for comparison in section.comparisons:
            if comparison.title != title:
                continue
            other = next(c for c in comparison.contenders if c.name.startswith(peer))
            value = ratio(comparison.contenders[0], other)
            found.append(Target(f"Runtime: {text}", f"{value:.2f}×", value >= bound))
    return found
