"""Small changes to a regular expression: a quantifier, a class, an alternative or an optional part."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COUNTED = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])+\]")
_RANGE = re.compile(r"(\w)-(\w)")


def variants(pattern: str) -> Iterator[str]:
    """The changed patterns that still compile and differ, each once."""
    seen = {pattern}
    for changed in _changed(pattern):
        if changed in seen:
            continue
        seen.add(changed)
        try:
            re.compile(changed)
        except re.error:
            continue
        yield changed


def _changed(pattern: str) -> Iterator[str]:
    in_class = {i for m in _CLASS.finditer(pattern) for i in range(m.start(), m.end())}

    def at(start: int, end: int, text: str) -> str:
        return pattern[:start] + text + pattern[end:]

    for found in _COUNTED.finditer(pattern):
        low, comma, high = found[1], found[2] or "", found[3] or ""
        for step in (-1, 1):
            yield at(*found.span(), f"{{{max(int(low) + step, 0)}{comma}{high}}}")
            if high:
                yield at(*found.span(), f"{{{low},{int(high) + step}}}")
    for index, character in enumerate(pattern):
        if index in in_class or (index and pattern[index - 1] == "\\"):
            continue
        if character == "+":
            yield at(index, index + 1, "*")
            yield at(index, index + 1, "")
        elif character == "*":
            yield at(index, index + 1, "+")
        elif character == "?" and pattern[index - 1] not in "(*+":
            yield at(index, index + 1, "")
        elif (
            character.isalnum()
            and pattern[index - 1 : index] != "\\"
            and not _COUNTED.search(pattern[max(0, index - 4) : index + 5])
        ):
            yield at(index, index + 1, "!")
    for found in _CLASS.finditer(pattern):
        for span in _RANGE.finditer(found[0]):
            start = found.start() + span.start()
            for low, high in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                changed = f"{chr(ord(span[1]) + low)}-{chr(ord(span[2]) + high)}"
                yield at(start, start + len(span[0]), changed)
            yield at(start, start + len(span[0]), "")
        for offset, character in enumerate(found[0][1:-1], 1):
            if character not in "-\\^" or offset == len(found[0]) - 2:
                if _RANGE.search(found[0][max(0, offset - 2) : offset + 3]) and character.isalnum():
                    continue
                yield at(found.start() + offset, found.start() + offset + 1, "")
