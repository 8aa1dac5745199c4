"""Proves the vectors: each small change to the Python core, and each known-wrong port, fails one.

    scripts/mutation                 all mutants and all known-wrong ports
    scripts/mutation --sample 400    so many mutants, chosen by --seed
    scripts/mutation --only dates    those mutants and ports whose name contains that
    scripts/mutation --list          names the mutants and runs nothing
    scripts/mutation --redundant     names the vectors that could be left out of their group

A mutant that no vector fails is a survivor. survivors.json gives the reason for each that may
survive: why it is the core by another name, or why the protocol cannot reach it, with the test of
runtime/python/tests that does. `*` in a name stands for any text. A survivor without a reason fails
the run, and so does a reason whose mutant is gone, or fails a vector by now.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import CodeType

from judge import CORE, Change, Judge
from mutants import LEFT_OUT, Mutant, enums_of, mutants_of
from wrong_ports import WRONG_PORTS

REASONS = Path(__file__).with_name("survivors.json")


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    everything = all_mutants()
    mutants = [mutant for mutant in everything if options.only in mutant.name]
    wrong = [port for port in WRONG_PORTS if options.only in port.name]
    if options.list:
        print("\n".join(mutant.name for mutant in mutants))
        return 0
    if not mutants and not wrong:
        print(f"no name contains {options.only!r}", file=sys.stderr)
        return 2
    if options.sample is not None and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)

    judge = Judge(options.jobs, every=options.redundant)
    core = Change("the core", "keys", lambda: judge.code["idemspec.keys"])
    if failed := next(judge.run([core]))[1]:
        print(f"the core itself fails {failed[0]}: mend that first", file=sys.stderr)
        return 1
    if options.redundant:
        redundant(judge, mutants)
        return 0
    reasons = [name for entry in json.loads(REASONS.read_text()) for name in entry["mutants"]]
    passed = known_wrong(judge, [Change(p.name, p.module, constant(p.code())) for p in wrong])
    problems = stale(everything, reasons) + judged(judge, mutants, reasons)
    return 1 if passed or problems else 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, metavar="N", help="run N of the mutants")
    parser.add_argument("--seed", default="1", help="which N: any text (1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name contains TEXT")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="at a time (all cores)"
    )
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    parser.add_argument("--redundant", action="store_true", help="ask every vector of every mutant")
    return parser.parse_args(arguments)


def all_mutants() -> list[Mutant]:
    sources = {path.stem: path.read_text() for path in sorted(CORE.glob("*.py"))}
    enums = {name: of for source in sources.values() for name, of in enums_of(source).items()}
    return [
        mutant
        for module, source in sources.items()
        if module not in LEFT_OUT
        for mutant in mutants_of(module, source, enums)
    ]


def known_wrong(judge: Judge, ports: list[Change]) -> int:
    """How many known-wrong ports pass every vector."""
    results = {change.name: failed for change, failed in judge.run(ports)}
    for name, failed in results.items():
        print(f"  {'fails ' if failed else 'PASSES'} {name:42} {failed[0] if failed else ''}")
    passed = sum(not failed for failed in results.values())
    print(f"{len(results)} known-wrong ports, {passed} of them pass every vector\n", flush=True)
    return passed


def judged(judge: Judge, mutants: list[Mutant], reasons: list[str]) -> int:
    """How many mutants survive without a reason, or have one and do not survive."""
    began = time.monotonic()
    explained = killed = problems = 0
    for change, failed in shown(judge.run(changes(mutants)), len(mutants)):
        reason = next((name for name in reasons if matches(name, change.name)), None)
        if failed:
            killed += 1
            if reason is not None:
                problems += problem(f"DIES     {change.name}: {failed[0]}; its reason: {reason}")
        elif reason is not None:
            explained += 1
        else:
            problems += problem(f"SURVIVES {change.name}")
    seconds = time.monotonic() - began
    print(
        f"{len(mutants)} mutants in {seconds:.0f} s: {killed} fail a vector, {explained} survive "
        f"for a reason, {len(mutants) - killed - explained} without one"
    )
    return problems


def stale(mutants: list[Mutant], reasons: list[str]) -> int:
    """How many reasons are for mutants that there are not."""
    return sum(
        problem(f"STALE    {name}: no mutant has this name")
        for name in reasons
        if not any(matches(name, mutant.name) for mutant in mutants)
    )


def problem(words: str) -> int:
    print(words, flush=True)
    return 1


def redundant(judge: Judge, mutants: list[Mutant]) -> None:
    """Prints the vectors that kill no mutant that others of their group do not kill: how many they
    kill, and a vector before them that kills the same."""
    kills: dict[str, set[str]] = {vector.id: set() for vector in judge.vectors}
    killers: Counter[tuple[str, str]] = Counter()
    for change, failed in shown(judge.run(changes(mutants)), len(mutants)):
        for id in failed:
            if id in kills:
                kills[id].add(change.name)
                killers[judge.by_id[id].group, change.name] += 1
    before: dict[tuple[str, frozenset[str]], str] = {}
    for vector in judge.vectors:
        killed = kills[vector.id]
        same = before.setdefault((vector.group, frozenset(killed)), vector.id)
        if all(killers[vector.group, name] > 1 for name in killed):
            words = f"  as {same}" if killed and same != vector.id else ""
            print(f"{len(killed):5} {vector.id}{words}")


def constant(code: CodeType) -> Callable[[], CodeType]:
    return lambda: code


def changes(mutants: Iterable[Mutant]) -> Iterator[Change]:
    return (Change(mutant.name, mutant.module, mutant.code) for mutant in mutants)


def shown(
    results: Iterator[tuple[Change, list[str]]], count: int
) -> Iterator[tuple[Change, list[str]]]:
    """The results, counted on a terminal."""
    for done, result in enumerate(results, 1):
        if sys.stderr.isatty():
            print(f"\r{done} of {count} mutants", end="", file=sys.stderr)
        yield result
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def matches(pattern: str, name: str) -> bool:
    """Whether a name is the pattern, in which * alone is special: names are full of brackets."""
    return pattern == name or fnmatchcase(
        name, "".join(f"[{c}]" if c in "[?" else c for c in pattern)
    )
