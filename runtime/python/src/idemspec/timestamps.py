"""Instants in UTC (TXT-020 to TXT-025)."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from .dates import days_in_month, days_since_epoch
from .errors import IdemError

Unit = Literal["s", "ms", "us", "ns"]

FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z

_EPOCH = date(1970, 1, 1)
_TWO = [f"{number:02d}" for number in range(60)]
_THREE = [f"{number:03d}" for number in range(1000)]
_UNITS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
_parse = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
).fullmatch


def timestamp(seconds: int, nanos: int, fraction_digits: int = 3, field: str = "") -> str:
    """The text of a `google.protobuf.Timestamp`: `2025-01-01T04:00:00.000Z`.

    Digits beyond `fraction_digits` (0 to 9) are cut. TIMESTAMP_RANGE outside the years 0001 to 9999
    and where nanos are not 0 to 999999999.
    """
    if not (FIRST_SECOND <= seconds <= LAST_SECOND and 0 <= nanos <= 999_999_999):
        problem = "is not a time of the years 0001 to 9999"
        raise IdemError("TIMESTAMP_RANGE", problem, field, f"{seconds} s and {nanos} ns")
    second = seconds % 86_400
    hours, minutes, rest = _TWO[second // 3600], _TWO[second // 60 % 60], _TWO[second % 60]
    if fraction_digits == 3:
        milliseconds = _THREE[nanos // 1_000_000]
        return f"{_date(seconds // 86_400)}T{hours}:{minutes}:{rest}.{milliseconds}Z"
    fraction = f".{f'{nanos:09d}'[:fraction_digits]}" if fraction_digits else ""
    return f"{_date(seconds // 86_400)}T{hours}:{minutes}:{rest}{fraction}Z"


@lru_cache(maxsize=64)
def _date(days: int) -> str:
    """The date of a day, counted from 1970. The messages of an hour are of a few days, and printing
    a date is more than half of what a timestamp costs."""
    return (_EPOCH + timedelta(days)).isoformat()


def timestamp_of_text(value: str, fraction_digits: int = 3, field: str = "") -> str:
    """The text of an instant given as RFC 3339, restricted to TXT-024.

    TIMESTAMP_SYNTAX where it is none, then TIMESTAMP_RANGE as for `timestamp`.
    """
    seconds, nanos = parse_timestamp(value, field)
    return timestamp(seconds, nanos, fraction_digits, field)


def timestamp_of_epoch(value: int, unit: Unit, fraction_digits: int = 3, field: str = "") -> str:
    """The text of an instant given as an integer since 1970 in `s`, `ms`, `us` or `ns`.

    INT_RANGE where it is neither an int64 nor a uint64, then TIMESTAMP_RANGE as for `timestamp`.
    """
    if not -(1 << 63) <= value < 1 << 64:
        raise IdemError("INT_RANGE", "is neither an int64 nor a uint64", field, value)
    seconds, rest = divmod(value, _UNITS[unit])
    return timestamp(seconds, rest * (1_000_000_000 // _UNITS[unit]), fraction_digits, field)


def parse_timestamp(value: str, field: str = "") -> tuple[int, int]:
    """Seconds since 1970 and nanos (0 to 999999999) of RFC 3339 text, years 0000 to 9999 before its
    offset; TIMESTAMP_SYNTAX where it is none."""
    parsed = _parse(value)
    if parsed is not None:
        year, month, day, hour, minute, second, fraction, sign, hours, minutes = parsed.groups("")
        y, m, d = int(year), int(month), int(day)
        if d <= days_in_month(y, m):
            clock = 3600 * int(hour) + 60 * int(minute) + int(second)
            seconds = 86_400 * days_since_epoch(y, m, d) + clock
            if sign:
                offset = 3600 * int(hours) + 60 * int(minutes)
                seconds += offset if sign == "-" else -offset
            return seconds, int(fraction.ljust(9, "0"))
    raise IdemError("TIMESTAMP_SYNTAX", "is not a timestamp of RFC 3339", field, value)
