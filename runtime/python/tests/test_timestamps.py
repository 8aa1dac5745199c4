"""Timestamps (TXT-020 to TXT-025), against datetime."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import timestamp, timestamp_of_epoch, timestamp_of_text
from idemspec.timestamps import FIRST_SECOND, LAST_SECOND, Unit, parse_timestamp

offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))
seconds_in_range = st.integers(FIRST_SECOND, LAST_SECOND)


def civil(seconds: int) -> str:
    """Date and clock by counting days, as a second source beside datetime."""
    days, clock = divmod(seconds, 86_400)
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    month = month + 3 if month < 10 else month - 9
    year += 400 * era + (month < 3)
    hour, minute, second = clock // 3600, clock // 60 % 60, clock % 60
    return f"{year:04d}-{month:02d}-{day + 1:02d}T{hour:02d}:{minute:02d}:{second:02d}"


@given(seconds_in_range, st.integers(0, 999_999_999), st.integers(0, 9))
def test_written_as_counted(seconds: int, nanos: int, digits: int) -> None:
    """Date and clock are those of the proleptic Gregorian calendar, and digits are cut."""
    fraction = f".{nanos:09d}"[: digits + 1] if digits else ""
    assert timestamp(seconds, nanos, digits) == f"{civil(seconds)}{fraction}Z"


@given(st.datetimes(timezones=offsets))
def test_read_as_by_datetime(moment: datetime) -> None:
    """A text with an offset stands for the instant that datetime says."""
    elapsed = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    seconds, nanos = elapsed // timedelta(seconds=1), elapsed.microseconds * 1000
    text = moment.isoformat(timespec="microseconds")
    assert parse_timestamp(text) == (seconds, nanos)
    if FIRST_SECOND <= seconds <= LAST_SECOND:
        assert timestamp_of_text(text, 9) == timestamp(seconds, nanos, 9)
    else:
        fault("TIMESTAMP_RANGE", timestamp_of_text, text, 9)


@given(seconds_in_range, st.integers(0, 999_999_999))
def test_what_is_written_is_read(seconds: int, nanos: int) -> None:
    """Nine digits lose nothing."""
    assert parse_timestamp(timestamp(seconds, nanos, 9)) == (seconds, nanos)


@pytest.mark.parametrize(
    ("seconds", "nanos", "digits", "text"),
    [
        (0, 0, 0, "1970-01-01T00:00:00Z"),
        (0, 0, 9, "1970-01-01T00:00:00.000000000Z"),
        (0, 999_999_999, 0, "1970-01-01T00:00:00Z"),
        (-1, 500_000_000, 3, "1969-12-31T23:59:59.500Z"),
        (-1, 999_999_999, 3, "1969-12-31T23:59:59.999Z"),
        (1_704_067_200, 1, 8, "2024-01-01T00:00:00.00000000Z"),
        (FIRST_SECOND, 0, 0, "0001-01-01T00:00:00Z"),
        (LAST_SECOND, 999_999_999, 6, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_timestamp(seconds: int, nanos: int, digits: int, text: str) -> None:
    """Digits are cut on (seconds, nanos >= 0), which is the floor before 1970 too."""
    assert timestamp(seconds, nanos, digits) == text


def test_three_digits_by_default() -> None:
    """fraction_digits is 3 where it is not stated."""
    expected = "2025-01-01T04:00:00.123Z"
    assert timestamp(1_735_704_000, 123_456_789) == expected
    assert timestamp_of_text("2025-01-01T04:00:00.123456789Z") == expected
    assert timestamp_of_epoch(1_735_704_000_123_456_789, "ns") == expected


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [(FIRST_SECOND - 1, 0), (LAST_SECOND + 1, 0), (0, -1), (0, 1_000_000_000), (1 << 90, 0)],
)
def test_range(seconds: int, nanos: int) -> None:
    """Years before 0001 and after 9999, and nanos that are none, are refused."""
    fault("TIMESTAMP_RANGE", timestamp, seconds, nanos)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2025-01-01T04:00:00Z", "2025-01-01T04:00:00.000000000Z"),
        ("2025-01-01T04:00:00.1Z", "2025-01-01T04:00:00.100000000Z"),
        ("2025-01-01T04:00:00.000000001Z", "2025-01-01T04:00:00.000000001Z"),
        ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00.000000000Z"),
        ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870000000Z"),
        ("2024-01-01T12:00:00.1+05:45", "2024-01-01T06:15:00.100000000Z"),
        ("2024-02-29T23:59:59-23:59", "2024-03-01T23:58:59.000000000Z"),
        ("2000-02-29T00:00:00+23:59", "2000-02-28T00:01:00.000000000Z"),
        ("0000-12-31T23:00:00-02:00", "0001-01-01T01:00:00.000000000Z"),
        ("9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59.000000000Z"),
    ],
)
def test_text(value: str, text: str) -> None:
    """Local time less the offset is the instant."""
    assert timestamp_of_text(value, 9) == text


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-01-01T00:00Z",
        "2024-01-01t00:00:00Z",
        "2024-01-01T00:00:00z",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00.1234567891Z",
        "2024-01-01T00:00:00+05:30Z",
        "2024-01-01T00:00:00+0530",
        "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+23:60",
        "2024-01-01T00:00:00 Z",
        " 2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00Z\n",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:60Z",
        "2024-00-01T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "2024-01-32T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "0000-02-30T00:00:00Z",
        "2024-1-01T00:00:00Z",
        "2024-01-01T0:00:00Z",
        "02024-01-01T00:00:00Z",
        "202٤-01-01T00:00:00Z",
        "2024-W01-1T00:00:00Z",
        "20240101T000000Z",
    ],
)
def test_what_is_no_timestamp(value: str) -> None:
    """Whatever RFC 3339 or a library allows beyond the grammar is refused."""
    error = fault("TIMESTAMP_SYNTAX", timestamp_of_text, value, 3, "at")
    assert (error.field, error.value) == ("at", value)


@pytest.mark.parametrize(
    "value",
    [
        "0000-01-01T00:00:00Z",
        "0000-02-29T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_text_out_of_range(value: str) -> None:
    """The range is looked at after the offset."""
    assert fault("TIMESTAMP_RANGE", timestamp_of_text, value, 3, "at").field == "at"


@given(st.integers(-(10**18), 10**18), st.sampled_from(["s", "ms", "us", "ns"]))
def test_epoch_same_as_seconds(value: int, unit: Unit) -> None:
    """An integer floors to seconds and nanos that are not negative."""
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    nanos = value * (10**9 // scale)
    if FIRST_SECOND <= nanos // 10**9 <= LAST_SECOND:
        expected = timestamp(nanos // 10**9, nanos % 10**9, 9)
        assert timestamp_of_epoch(value, unit, 9) == expected
    else:
        fault("TIMESTAMP_RANGE", timestamp_of_epoch, value, unit, 9)


@pytest.mark.parametrize(
    ("value", "unit", "code"),
    [
        (-(1 << 63) - 1, "ns", "INT_RANGE"),
        (1 << 64, "ns", "INT_RANGE"),
        ((1 << 64) - 1, "s", "TIMESTAMP_RANGE"),
        (-(1 << 63), "s", "TIMESTAMP_RANGE"),
        (253_402_300_800_000, "ms", "TIMESTAMP_RANGE"),
    ],
)
def test_epoch_range(value: int, unit: Unit, code: str) -> None:
    """No int64 and no uint64 is INT_RANGE, an instant too far TIMESTAMP_RANGE."""
    error = fault(code, timestamp_of_epoch, value, unit, 3, "at")  # type: ignore[arg-type]
    assert error.field == "at"


def test_epoch_limits() -> None:
    """The least int64 and the most uint64 are read."""
    assert timestamp_of_epoch(-(1 << 63), "ns", 9) == "1677-09-21T00:12:43.145224192Z"
    assert timestamp_of_epoch((1 << 64) - 1, "ns", 9) == "2554-07-21T23:34:33.709551615Z"
