"""Decimals in plain notation (TXT-001 to TXT-008)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .errors import IdemError

MAX_EXPONENT_DIGITS = 4
MAX_BYTES = 256

# The look-ahead wants a digit on one side of the point, so that one group each is enough.
_parse = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]+))?").fullmatch
_begins = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?").match


@cache
def _is_canonical(max_scale: int | None) -> Callable[[str], re.Match[str] | None]:
    """Matches texts that are their own canonical text, which nearly all values are; those of more
    than a hundred digits are left to the long way."""
    scale = 100 if max_scale is None else min(max_scale, 100)
    fraction = rf"(?:\.[0-9]{{0,{scale - 1}}}[1-9])?" if scale else ""
    return re.compile(rf"(?:-(?!0\Z))?(?:0|[1-9][0-9]{{0,99}}){fraction}").fullmatch


def decimal(value: str, max_scale: int | None = None, field: str = "") -> str:
    """The text of a decimal: no `+`, no exponent, no zeros that could be left out, never `-0`.

    DECIMAL_SYNTAX where it is none; DECIMAL_SCALE with more fraction digits than `max_scale`, never
    rounded; DECIMAL_RANGE with more than four exponent digits or 256 bytes of text. The `value` of
    a `google.type.Decimal`, which may be empty (TXT-008), is `decimal(value or "0")`.
    """
    if _is_canonical(max_scale)(value):
        return value
    parsed = _parse(value)
    if parsed is None:
        raise IdemError("DECIMAL_SYNTAX", "is not a decimal", field, value, _fault(value))
    sign, whole, fraction, exponent_sign, exponent = parsed.groups("")

    # Where the point stands: so many digits after (or, below zero, before) the last one.
    point = -len(fraction)
    if exponent:
        magnitude = exponent.lstrip("0")
        if len(magnitude) > MAX_EXPONENT_DIGITS:
            problem = f"has an exponent of more than {MAX_EXPONENT_DIGITS} digits"
            raise IdemError("DECIMAL_RANGE", problem, field, value)
        point += int(f"{exponent_sign}0{magnitude}")

    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0"
    # From here on, so many digits after the start.
    point += len(digits)
    digits = digits.rstrip("0")

    scale = max(len(digits) - point, 0)
    if max_scale is not None and scale > max_scale:
        problem = f"has {scale} fraction digits, more than {max_scale}"
        raise IdemError("DECIMAL_SCALE", problem, field, value)
    minus = "-" if sign == "-" else ""
    length = len(minus) + max(point, 1) + (scale + 1 if scale else 0)
    if length > MAX_BYTES:
        problem = f"is {length} bytes long in plain notation, more than {MAX_BYTES}"
        raise IdemError("DECIMAL_RANGE", problem, field, value)

    if point < 1:
        return f"{minus}0.{'0' * -point}{digits}"
    if scale:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    return f"{minus}{digits.ljust(point, '0')}"


def _fault(value: str) -> int:
    """Where the longest beginning of a decimal ends."""
    begun = _begins(value)
    assert begun  # every text begins with nothing
    return begun.end()
