"""Shows what several services made of the same events, side by side; fails where they differ."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest
from pathlib import Path

GREEN, RED, BOLD, PLAIN = "\033[32m", "\033[31m", "\033[1m", "\033[0m"


def main(arguments: list[str]) -> int:
    quiet = "--quiet" in arguments
    named = [argument.partition("=")[::2] for argument in arguments if argument != "--quiet"]
    names = [name for name, _ in named]
    languages = [name.partition("(")[2].rstrip(")") or name for name in names]
    outputs = [Path(path).read_text(encoding="utf-8").splitlines() for _, path in named]
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    lines = differ = events = 0
    for row in zip_longest(*outputs, fillvalue="(nothing)"):
        lines += 1
        same = len(set(row)) == 1
        differ += not same
        is_event = row[0].startswith("event")
        events += is_event
        if not same:
            for name, line in zip(names, row, strict=True):
                print(f"{paint('x', RED, colour)} {name:24} {line}")
        elif quiet:
            continue
        elif is_event:
            print(paint(f"\n{row[0]}", BOLD, colour))
        else:
            print(f"{paint(' = '.join(languages), GREEN, colour)} |{row[0]}")
    if not lines:
        print("compare.py: no service printed anything", file=sys.stderr)
        return 1
    if not quiet:
        print()
    equal = f"{lines - differ} of {lines} lines"
    verdict = f"{events} events, {equal} the same in {len(names)} languages"
    print(paint(verdict, RED if differ else GREEN, colour))
    return 1 if differ else 0


def paint(text: str, code: str, colour: bool) -> str:
    return f"{code}{text}{PLAIN}" if colour else text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
