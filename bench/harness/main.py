"""Runs the benchmarks and writes bench/RESULTS.md. scripts/bench builds what they need, then this.

python bench/harness/main.py            all of it
python bench/harness/main.py go plugin  some of it, on standard output alone
BENCH_QUICK=1                           fewer rounds, for a look
BENCH_GROWTH=1                          the runtime's part with ten million keys, some minutes more
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone

import check
import consumers
import keys
import lint
import machine
import operators
import processes
from figures import Comparison, Contender, Section, Target, median, ratio, spread

import runtime

SECTIONS: dict[str, Callable[[bool], Section]] = {
    "go": keys.go,
    "java": keys.java,
    "python": keys.python,
    "plugin": processes.plugin,
    "runner": processes.runner,
    "runtime": runtime.runtime,
    "java-consumer": consumers.java,
    "python-consumer": consumers.python,
    "lint": lint.lint,
    "check": check.check,
    "operators": operators.operators,
}


def number(value: float) -> str:
    """Three digits are more than a round is good for."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(comparison: Comparison) -> list[str]:
    first = comparison.contenders[0]
    against = first.name.startswith("idem") and len(comparison.contenders) > 1
    unit = comparison.unit
    column, rule = (" of idem's |", " ---: |") if against else ("", "")
    lines = [
        f"| {comparison.title} | median, {unit} | middle half, {unit} |{column} |",
        f"| --- | ---: | ---: |{rule} --- |",
    ]
    for c in comparison.contenders:
        lower, upper = spread(c.rounds)
        line = f"| {c.name} | {number(median(c.rounds))} | {number(lower)} – {number(upper)} |"
        if against:
            line += f" {number(ratio(c, first))}× |" if c is not first else " |"
        lines.append(f"{line} {c.extra} |")
    return lines


def single(comparisons: list[Comparison]) -> list[str]:
    """Comparisons of nobody but idem share one table."""
    lines = ["| idem alone | median, ns | middle half, ns | |", "| --- | ---: | ---: | --- |"]
    for comparison in comparisons:
        c = comparison.contenders[0]
        lower, upper = spread(c.rounds)
        lines.append(
            f"| {comparison.title} | {number(median(c.rounds))} "
            f"| {number(lower)} – {number(upper)} | {c.extra} |"
        )
    return lines


def section_text(section: Section) -> list[str]:
    lines = [f"## {section.title}", "", f"`{section.command}`", "", section.note, ""]
    lines += [line for fact in section.facts for line in (fact[0].upper() + fact[1:] + ".", "")]
    alone = [c for c in section.comparisons if len(c.contenders) == 1]
    for comparison in section.comparisons:
        if comparison not in alone:
            lines += [*table(comparison), ""]
    if alone:
        lines += [*single(alone), ""]
    return lines


def find(section: Section, title: str, start: str) -> tuple[Contender, Contender]:
    """idem and the contender whose name starts so, of a comparison."""
    for comparison in section.comparisons:
        if comparison.title == title:
            other = next(c for c in comparison.contenders if c.name.startswith(start))
            return comparison.contenders[0], other
    raise KeyError(title)


def at_most(text: str, section: Section, title: str, start: str, bound: float) -> Target:
    value = ratio(*find(section, title, start))
    return Target(text, f"{value:.2f}×", value <= bound)


def at_least(text: str, section: Section, title: str, start: str, bound: float) -> Target:
    idem, other = find(section, title, start)
    value = ratio(other, idem)
    return Target(text, f"{value:.1f}×", value >= bound)


def targets(made: dict[str, Section]) -> list[Target]:
    one, four = keys.TITLES["KeyOf1"], keys.TITLES["KeyOf4"]
    found = []
    if s := made.get("go"):
        found.append(at_most("Go: key of 4 components, at most 1.3 × limit", s, four, "limit", 1.3))
        idem, _ = find(s, four, "limit")
        allocations = idem.extra.split()[0]
        found.append(Target("Go: its allocations, none", allocations, allocations == "0"))
    for name, peer, times, start in (
        ("java", "Jackson + SHA-256", 3.0, "Jackson"),
        ("python", "JSON + MD5", 1.5, "MessageToDict"),
    ):
        if s := made.get(name):
            language = s.title
            for title, what in ((one, "1 component"), (four, "4 components")):
                text = f"{language}: key of {what}, at most 1.3 × limit"
                found.append(at_most(text, s, title, "limit", 1.3))
            text = f"{language}: key of 4 components, at least {times:g} × as fast as {peer}"
            found.append(at_least(text, s, four, start, times))
    if s := made.get("python"):
        text = "Python: the same where the dict is at hand already"
        found.append(at_least(text, s, four, "JSON + MD5 of a dict", 1.5))
    if s := made.get("plugin"):
        text = "Plugin: no slower than protoc-gen-go"
        found.append(at_most(text, s, "time on the wall", "protoc-gen-go", 1.0))
    if s := made.get("runner"):
        for c in s.comparisons[0].contenders:
            bound = 50 if c.name.startswith("go ") else 10
            value = median(c.rounds)
            text = f"Runner: {c.name}, at least {bound},000 cases a second"
            found.append(Target(text, f"{value:.0f} k/s", value >= bound))
    if s := made.get("runtime"):
        found += runtime.targets(s)
    for name in ("java-consumer", "python-consumer"):
        if s := made.get(name):
            found += consumers.targets(s)
    if s := made.get("lint"):
        found += lint.targets(s)
    if s := made.get("check"):
        found += check.targets(s)
    if s := made.get("operators"):
        found += operators.targets(s)
    return found


def target_table(found: list[Target]) -> list[str]:
    lines = ["| target | measured | |", "| --- | ---: | --- |"]
    return lines + [
        f"| {t.text} | {t.measured} | {'met' if t.met else '**missed**'} |" for t in found
    ]


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> None:
    quick = os.environ.get("BENCH_QUICK", "") not in ("", "0")
    names = sys.argv[1:] or list(SECTIONS)
    began, load_before = time.time(), load()
    made = {}
    for name in names:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        made[name] = SECTIONS[name](quick)
    date = datetime.fromtimestamp(began, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    mode = "`BENCH_QUICK=1 make bench`, a look with few rounds" if quick else "`make bench`"
    lines = [
        "# Results",
        "",
        f"Written by {mode} on {date}, in {time.time() - began:.0f} s. Load average {load_before} "
        f"at its start, {load()} at its end. [README.md](README.md) says what is measured.",
        "",
        *[f"- {line}" for line in machine.describe()],
        "",
        "## Targets",
        "",
        *target_table(targets(made)),
        "",
    ]
    for section in made.values():
        lines += section_text(section)
    text = "\n".join(lines).rstrip("\n") + "\n"
    if len(names) == len(SECTIONS):
        (machine.BENCH / "RESULTS.md").write_text(text)
        print("wrote bench/RESULTS.md", file=sys.stderr)
    print(text)


if __name__ == "__main__":
    main()
