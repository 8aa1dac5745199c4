"""Proves the vectors: each small change to the Python core, and each port that is known to be wrong, fails one.

    python conformance-vectors/mutation                 all mutants and all known-wrong ports
    python conformance-vectors/mutation --sample 200    so many mutants, chosen by --seed
    python conformance-vectors/mutation --only dates    the mutants whose name contains that
    python conformance-vectors/mutation --list          name them, run nothing

A mutant that no vector fails is a survivor. survivors.json gives the reason for each that may survive; one
without a reason fails the run, and so does a reason whose mutant is gone or does not survive.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from judge import CORE, Judge  # noqa: E402
from mutants import LEFT_OUT, Mutant, mutants_of  # noqa: E402
from wrong_ports import WRONG_PORTS  # noqa: E402

REASONS = Path(__file__).with_name("survivors.json")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, metavar="N", help="run N of the mutants")
    parser.add_argument("--seed", type=int, default=1, help="which N (default 1)")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="run those whose name contains TEXT"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="at a time (default: cores)",
    )
    parser.add_argument("--list", action="store_true", help="print the names, run nothing")
    options = parser.parse_args()

    mutants = [m for m in all_mutants() if options.only in m.name]
    if options.list:
        print("\n".join(mutant.name for mutant in mutants))
        return 0
    if not mutants:
        print(f"no mutant's name contains {options.only!r}", file=sys.stderr)
        return 2
    whole = options.sample is None and not options.only
    if options.sample is not None and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    judge = Judge(options.jobs)
    if (killer := next(judge.run([("the core", "keys", judge.code["idemspec.keys"])]))[1]) is not None:
        print(f"the core itself fails {killer}: mend that first", file=sys.stderr)
        return 1
    failed = not known_wrong_fail(judge)
    return int(not survivors_explained(judge, mutants, whole) or failed)


def all_mutants() -> list[Mutant]:
    found = []
    for path in sorted(CORE.glob("*.py")):
        if path.stem not in LEFT_OUT:
            found.extend(mutants_of(path.stem, path.read_text()))
    return found


def known_wrong_fail(judge: Judge) -> bool:
    """Every known-wrong port fails a vector."""
    changes = [(wrong.name, wrong.module, wrong.code()) for wrong in WRONG_PORTS]
    results = dict(judge.run(changes))
    passed = [name for name, killer in results.items() if killer is None]
    for name, killer in sorted(results.items()):
        print(f"  {'PASSES' if killer is None else 'fails '}  {name:38} {killer or ''}")
    print(f"{len(results)} known-wrong ports, {len(passed)} of them pass every vector\n")
    return not passed


def survivors_explained(judge: Judge, mutants: list[Mutant], whole: bool) -> bool:
    """Every mutant fails a vector, or survives for a reason that is written down."""
    reasons = {entry["mutant"]: entry["reason"] for entry in json.loads(REASONS.read_text())}
    used = set()
    unexplained = []
    began = time.monotonic()
    changes = ((m.name, m.module, m.code()) for m in mutants)
    survived = 0
    for done, (name, killer) in enumerate(judge.run(changes), 1):
        if sys.stderr.isatty():
            print(
                f"\r{done} of {len(mutants)} mutants, {survived} survived ", end="", file=sys.stderr
            )
        if killer is not None:
            continue
        survived += 1
        pattern = next((p for p in reasons if p == name or fnmatchcase(name, escaped(p))), None)
        if pattern is None:
            unexplained.append(name)
        else:
            used.add(pattern)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for name in sorted(unexplained):
        print(f"SURVIVES {name}")
    stale = sorted(set(reasons) - used) if whole else []
    for pattern in stale:
        print(f"STALE    {pattern}: no mutant of this name survives")
    seconds = time.monotonic() - began
    print(
        f"{len(mutants)} mutants in {seconds:.0f} s: {len(mutants) - survived} fail a vector, "
        f"{survived - len(unexplained)} survive for a reason, {len(unexplained)} without one"
    )
    return not unexplained and not stale


def escaped(pattern: str) -> str:
    """A pattern in which * alone is special: names are full of brackets and question marks."""
    return "".join(f"[{c}]" if c in "[?" else c for c in pattern)


if __name__ == "__main__":
    sys.exit(main())
