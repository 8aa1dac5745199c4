"""Dates of the proleptic Gregorian calendar (TXT-040)."""

from __future__ import annotations

from .errors import IdemError

_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def date(year: int, month: int, day: int, field: str = "") -> str:
    """The text of a `google.type.Date`: `2025-01-01`.

    DATE_RANGE where it is partial, impossible, or outside the years 1 to 9999.
    """
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days_in_month(year, month)):
        problem = "is not a date of the years 1 to 9999"
        raise IdemError("DATE_RANGE", problem, field, f"{year}-{month}-{day}")
    return f"{year:04d}-{month:02d}-{day:02d}"


def days_in_month(year: int, month: int) -> int:
    """The days of a month, 1 to 12."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap and month == 2 else _MONTHS[month - 1]


def days_since_epoch(year: int, month: int, day: int) -> int:
    """The days from 1970-01-01 to a date."""
    # A year that begins in March has its leap day at the end, and its months' lengths in a line.
    years = year - (month < 3)
    days = 365 * years + years // 4 - years // 100 + years // 400
    return days + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
