"""Inputs as they come, and INPUT_INVALID for what has no known shape (CONF-020, CONF-021)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from idemspec import IdemError

# Integers are read whole, however long; from 3.11 on Python would stop at 4,300 digits.
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

Object = dict[str, Any]

MAX_INT63 = (1 << 63) - 1

_is_integer = re.compile(r"0|-?[1-9][0-9]*").fullmatch
_is_hex = re.compile(r"(?:[0-9a-f]{2})*").fullmatch


def invalid(what: str, value: object = None) -> NoReturn:
    raise IdemError("INPUT_INVALID", f"is no {what}", "input", value)


class Members:
    """The names that an object must have and may have."""

    def __init__(self, required: str, optional: str = "") -> None:
        self.required = frozenset(required.split())
        self.all = self.required | frozenset(optional.split())

    def of(self, value: object) -> Object:
        if type(value) is not dict or not self.required <= value.keys() <= self.all:
            invalid(f"object of {', '.join(sorted(self.all))}", value)
        return value


def text(value: object) -> str:
    if type(value) is not str:
        invalid("text", value)
    return value


def integer(value: object) -> int:
    if type(value) is not str or not _is_integer(value):
        invalid("integer in base 10", value)
    return int(value)


def integer_from(value: object, least: int, most: int) -> int:
    number = integer(value)
    if not least <= number <= most:
        invalid(f"integer from {least} to {most}", value)
    return number


def count(value: object) -> int:
    """An integer that is not negative, without a bound."""
    number = integer(value)
    if number < 0:
        invalid("integer from 0", value)
    return number


def hexadecimal(value: object) -> bytes:
    if type(value) is not str or not _is_hex(value):
        invalid("lower-case hex", value)
    return bytes.fromhex(value)


def matching(value: object, grammar: re.Pattern[str], what: str) -> str:
    if type(value) is not str or not grammar.fullmatch(value):
        invalid(what, value)
    return value


def boolean(value: object) -> bool:
    if type(value) is not bool:
        invalid("boolean", value)
    return value


def true(value: object) -> None:
    if value is not True:
        invalid("true", value)


def items(value: object) -> Iterable[Any]:
    if type(value) is not list:
        invalid("list", value)
    return value


def one_of(value: object, names: Iterable[str]) -> Any:
    """A word of a list, whose type the caller knows."""
    if type(value) is not str or value not in names:
        invalid("known word", value)
    return value
