"""Small changes to a regular expression: a quantifier, a class, a literal or a look-ahead each."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What a pattern is read as: no more syntax than the core has.
_TOKEN = re.compile(
    r"""
      (?P<ahead>\(\?[=!](?:[^()\\]|\\.)*\))
    | (?P<open>\(\?:|\()
    | (?P<class>\[\^?(?:\\.|[^\]\\])+\])
    | (?P<counted>\{[0-9]+(?:,[0-9]*)?\})
    | (?P<quantifier>[*+?])
    | (?P<escaped>\\.)
    | (?P<other>[|)^$])
    | (?P<literal>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A character or a range of a class.
_ITEM = re.compile(r"(\\.|.)(?:-(\\.|.))?", re.DOTALL)


def variants(pattern: str) -> Iterator[tuple[str, str]]:
    """The changed patterns that still compile and differ, each once, with what was changed."""
    seen = {pattern}
    tokens = list(_TOKEN.finditer(pattern))
    for number, (token, after) in enumerate(zip(tokens, [*tokens[1:], None], strict=True), 1):
        quantified = after is not None and after.lastgroup in {"counted", "quantifier"}
        for other in _others(token[0], str(token.lastgroup), quantified):
            changed = pattern[: token.start()] + other + pattern[token.end() :]
            if changed not in seen and _compiles(changed):
                seen.add(changed)
                yield f"token {number}, {token[0]} -> {other or '(left out)'}", changed


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _others(text: str, kind: str, quantified: bool) -> Iterator[str]:
    match kind:
        case "ahead":
            yield ""
        case "counted":
            low, comma, high = text[1:-1].partition(",")
            for step in (-1, 1):
                yield f"{{{max(int(low) + step, 0)}{comma}{high}}}"
                if high:
                    yield f"{{{low},{int(high) + step}}}"
        case "quantifier":
            yield ""
            yield {"+": "*", "*": "+", "?": "*"}[text]
        case "escaped":
            if not quantified:
                yield f"{text}?"
            if text[1] in ".+*?":
                yield text[1]
        case "literal":
            if not quantified:
                yield f"{text}?"
            yield ""
        case "class":
            if not quantified:
                yield f"{text}?"
            yield from _other_classes(text)


def _other_classes(text: str) -> Iterator[str]:
    begin = "[^" if text.startswith("[^") else "["
    items = [(found[1], found[2]) for found in _ITEM.finditer(text[len(begin) : -1])]
    for index, (first, last) in enumerate(items):
        others = [""] if len(items) > 1 else []
        if last:
            low, high = ord(first[-1]), ord(last[-1])
            for start, end in ((low + 1, high), (low - 1, high), (low, high + 1), (low, high - 1)):
                others.append(f"{_escaped(start)}-{_escaped(end)}")
        for other in others:
            before, after = (
                "".join(map(_item, some)) for some in (items[:index], items[index + 1 :])
            )
            yield f"{begin}{before}{other}{after}]"


def _item(item: tuple[str, str | None]) -> str:
    return item[0] if item[1] is None else f"{item[0]}-{item[1]}"


def _escaped(code: int) -> str:
    return f"\\{chr(code)}" if chr(code) in "\\]^-" else chr(code)
