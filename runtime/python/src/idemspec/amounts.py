"""Amounts of money (TXT-010 to TXT-012)."""

from __future__ import annotations

import re

from .errors import IdemError

_is_currency = re.compile(r"[A-Z]{3}").fullmatch


def money(currency_code: str, units: int, nanos: int, field: str = "") -> str:
    """The text of a `google.type.Money`: `USD100.5`, `USD-0.5`, `JPY0`.

    MONEY_CURRENCY where the code is not three capital letters; then MONEY_RANGE where units are no
    int64, or nanos are a whole unit or more, or of another sign than units that are not zero.
    """
    if not _is_currency(currency_code):
        problem = "is not a currency code of three capital letters"
        raise IdemError("MONEY_CURRENCY", problem, field, currency_code)
    if not (
        -(1 << 63) <= units < 1 << 63
        and -999_999_999 <= nanos <= 999_999_999
        and units * nanos >= 0
    ):
        problem = "has units or nanos out of range, or of different signs"
        raise IdemError("MONEY_RANGE", problem, field, f"{units} units and {nanos} nanos")
    minus = "-" if units < 0 or nanos < 0 else ""
    fraction = f".{abs(nanos):09d}".rstrip(".0")
    return f"{currency_code}{minus}{abs(units)}{fraction}"
