"""Money, durations, dates, UUIDs, integers, booleans and bytes (TXT-010 to TXT-060)."""

from __future__ import annotations

import datetime
import uuid as stdlib_uuid
from decimal import Decimal

import pytest
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import Code, boolean, date, duration, enum_number, hexadecimal, integer, money, uuid
from idemspec.dates import days_in_month, days_since_epoch
from idemspec.scalars import INTEGER_TYPES, IntegerType

NANOS = 999_999_999
INT64 = 1 << 63


def same_sign(pair: tuple[int, int]) -> tuple[int, int]:
    """Nanos with the sign of units that are not zero."""
    units, nanos = pair
    return units, abs(nanos) * (-1 if units < 0 else 1) if units else nanos


amounts = st.tuples(st.integers(-INT64, INT64 - 1), st.integers(-NANOS, NANOS)).map(same_sign)
spans = st.tuples(st.integers(-315_576_000_000, 315_576_000_000), st.integers(-NANOS, NANOS)).map(
    same_sign
)


@given(amounts)
def test_money_same_as_decimal(amount: tuple[int, int]) -> None:
    """The text of an amount is that of units plus nanos by decimal.Decimal."""
    units, nanos = amount
    total = f"{Decimal(units * 10**9 + nanos).scaleb(-9):.9f}" if units or nanos else "0.0"
    assert money("USD", units, nanos) == "USD" + total.rstrip("0").rstrip(".")


@pytest.mark.parametrize(
    ("units", "nanos", "text"),
    [
        (0, 0, "JPY0"),
        (100, 0, "JPY100"),
        (0, 98_400_000, "JPY0.0984"),
        (0, -500_000_000, "JPY-0.5"),
        (-1, -1, "JPY-1.000000001"),
        (-1, 0, "JPY-1"),
        (INT64 - 1, NANOS, "JPY9223372036854775807.999999999"),
        (-INT64, -NANOS, "JPY-9223372036854775808.999999999"),
    ],
)
def test_money(units: int, nanos: int, text: str) -> None:
    """The currency code, then the decimal, with the sign of either part."""
    assert money("JPY", units, nanos) == text


@pytest.mark.parametrize("code", ["", "US", "USDX", "usd", "U5D", "USD\n", "ÜSD", " USD"])
def test_money_currency(code: str) -> None:
    """A code that is not three capital letters comes before the range."""
    fault("MONEY_CURRENCY", money, code, 0, 10**9)


@pytest.mark.parametrize(
    ("units", "nanos"),
    [
        (0, NANOS + 1),
        (0, -NANOS - 1),
        (1, -1),
        (-1, 1),
        (INT64, 0),
        (-INT64 - 1, 0),
        (0, 1 << 40),
    ],
)
def test_money_range(units: int, nanos: int) -> None:
    """Nanos of a unit and more, of another sign, and units beyond int64 are refused."""
    fault("MONEY_RANGE", money, "USD", units, nanos)


@given(spans, st.integers(0, 9))
def test_duration_same_as_decimal(span: tuple[int, int], digits: int) -> None:
    """Digits are cut toward zero, as decimal.Decimal cuts them."""
    total = abs(span[0]) * 10**9 + abs(span[1])
    cut = total // 10 ** (9 - digits)
    minus = "-" if cut and min(span) < 0 else ""
    whole = Decimal(cut).scaleb(-digits)
    assert duration(*span, digits) == f"{minus}{whole:.{digits}f}s"


@pytest.mark.parametrize(
    ("seconds", "nanos", "digits", "text"),
    [
        (1, 500_000_000, 3, "1.500s"),
        (-1, -500_000_000, 0, "-1s"),
        (-1, -500_000_000, 3, "-1.500s"),
        (0, -1, 9, "-0.000000001s"),
        (0, -1, 3, "0.000s"),
        (0, -1, 0, "0s"),
        (0, -500_000_000, 1, "-0.5s"),
        (-10, 0, 3, "-10.000s"),
        (315_576_000_000, NANOS, 9, "315576000000.999999999s"),
        (-315_576_000_000, -NANOS, 9, "-315576000000.999999999s"),
    ],
)
def test_duration(seconds: int, nanos: int, digits: int, text: str) -> None:
    """Digits are cut toward zero, and what is zero then has no sign."""
    assert duration(seconds, nanos, digits) == text


def test_duration_has_three_digits_by_default() -> None:
    """fraction_digits is 3 where it is not stated."""
    assert duration(1, 23_456_789) == "1.023s"


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [
        (315_576_000_001, 0),
        (-315_576_000_001, 0),
        (0, NANOS + 1),
        (0, -NANOS - 1),
        (1, -1),
        (-1, 1),
    ],
)
def test_duration_range(seconds: int, nanos: int) -> None:
    """Beyond ten thousand years, a second of nanos, and mixed signs are refused."""
    fault("DURATION_RANGE", duration, seconds, nanos, 0)


@given(st.dates())
def test_date_same_as_datetime(day: datetime.date) -> None:
    """Every date that datetime has is written as isoformat writes it."""
    assert date(day.year, day.month, day.day) == day.isoformat()


@given(st.integers(-5, 10_005), st.integers(-2, 15), st.integers(-2, 34))
def test_date_refused_as_by_datetime(year: int, month: int, day: int) -> None:
    """What datetime refuses is refused, partial dates among it."""
    try:
        datetime.date(year, month, day)
    except ValueError:
        fault("DATE_RANGE", date, year, month, day)
    else:
        assert date(year, month, day)


@pytest.mark.parametrize(
    "day",
    [
        (0, 1, 1),
        (10_000, 1, 1),
        (2025, 0, 1),
        (2025, 13, 1),
        (2025, 1, 0),
        (2025, 1, 32),
        (2025, 4, 31),
        (2025, 2, 29),
        (1900, 2, 29),
        (1 << 80, 1, 1),
    ],
)
def test_date_range(day: tuple[int, int, int]) -> None:
    """A partial or impossible date is refused."""
    fault("DATE_RANGE", date, *day)


@given(st.dates())
def test_days_same_as_datetime(day: datetime.date) -> None:
    """Days are counted as datetime counts them."""
    assert days_since_epoch(day.year, day.month, day.day) == day.toordinal() - 719_163


def test_days_of_the_year_zero() -> None:
    """Year 0 is a leap year, and its last day is before the first that datetime has."""
    assert days_in_month(0, 2) == 29
    assert days_since_epoch(0, 12, 31) == -719_163
    assert days_since_epoch(0, 1, 1) == -719_163 - 365
    assert days_since_epoch(0, 3, 1) - days_since_epoch(0, 2, 28) == 2


@given(st.uuids())
def test_uuid_same_as_stdlib(value: stdlib_uuid.UUID) -> None:
    """Case is lowered; version and variant do not matter."""
    assert uuid(str(value).upper()) == str(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "f81d4fae7dec11d0a76500a0c91e6bf6",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf66",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n",
        "f81d4fae-7dec-11d0-a76-500a0c91e6bf6",
        "f81d4fag-7dec-11d0-a765-00a0c91e6bf6",
        "f81d4fa１-7dec-11d0-a765-00a0c91e6bf6",
        "00000000-0000-0000-00000000000000000",
    ],
)
def test_what_is_no_uuid(value: str) -> None:
    """Braces, URNs, bare digits and other lengths are refused."""
    fault("UUID_SYNTAX", uuid, value)


@pytest.mark.parametrize("of", sorted(INTEGER_TYPES))
def test_integer_bounds(of: IntegerType) -> None:
    """A type holds its least and its most and nothing beyond."""
    bits = int(of[-2:])
    signed = not of.startswith(("u", "fixed"))
    least = -(1 << bits - 1) if signed else 0
    most = (1 << bits - signed) - 1
    assert integer(least, of) == f"{least}"
    assert integer(most, of) == f"{most}"
    fault("INT_RANGE", integer, least - 1, of)
    fault("INT_RANGE", integer, most + 1, of)


def test_enum_is_its_number() -> None:
    """An enum is its number, declared or not, and an int32."""
    assert enum_number(-1) == "-1"
    assert enum_number((1 << 31) - 1) == "2147483647"
    assert enum_number(-(1 << 31)) == "-2147483648"
    fault("INT_RANGE", enum_number, 1 << 31)
    fault("INT_RANGE", enum_number, -(1 << 31) - 1)


def test_boolean() -> None:
    """Booleans are written in lower case."""
    assert (boolean(True), boolean(False)) == ("true", "false")


def test_bytes_are_hex() -> None:
    """Two lower-case digits a byte, and no more bytes than a key could hold."""
    assert hexadecimal(b"") == ""
    assert hexadecimal(b"\x00\xff\x0a") == "00ff0a"
    assert len(hexadecimal(bytes(512))) == 1024
    assert len(hexadecimal(bytes(10_000))) == 1026
    assert len(hexadecimal(bytes(10_000), None)) == 20_000


@pytest.mark.parametrize(
    ("call", "code", "shown"),
    [
        (lambda: money("usd", 1, 0, "price"), "MONEY_CURRENCY", "usd"),
        (lambda: money("USD", 1, -1, "price"), "MONEY_RANGE", "1 units and -1 nanos"),
        (lambda: duration(1, -1, 3, "price"), "DURATION_RANGE", "1 s and -1 ns"),
        (lambda: date(2025, 0, 1, "price"), "DATE_RANGE", "2025-0-1"),
        (lambda: uuid("x", "price"), "UUID_SYNTAX", "x"),
        (lambda: integer(-1, "uint32", "price"), "INT_RANGE", "-1"),
        (lambda: enum_number(1 << 31, "price"), "INT_RANGE", "2147483648"),
    ],
)
def test_errors_name_field_and_value(call: object, code: Code, shown: str) -> None:
    """An error says which field had which value."""
    error = fault(code, call)  # type: ignore[arg-type]
    assert (error.field, error.value) == ("price", shown)
