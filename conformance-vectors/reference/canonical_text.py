"""Chapter 2: each value has one text."""

import datetime
import re

from .errors import Fault

# --- Decimals

_DECIMAL = re.compile(
    rb"(?P<sign>[+-]?)"
    rb"(?:(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]*))?|\.(?P<bare>[0-9]+))"
    rb"(?:[eE](?P<exponent_sign>[+-]?)(?P<exponent>[0-9]+))?"
)


def decimal(octets: bytes, max_scale: int | None = None) -> str:
    """TXT-001 to TXT-006. The value is digits * 10^power, the digits without zeros around them."""
    match = _DECIMAL.fullmatch(octets)
    if not match:
        raise Fault("DECIMAL_SYNTAX", "not a decimal")

    exponent = (match["exponent"] or b"").lstrip(b"0")
    if len(exponent) > 4:
        raise Fault("DECIMAL_RANGE", "the exponent has more than four digits")

    fraction = match["fraction"] or match["bare"] or b""
    digits = ((match["whole"] or b"") + fraction).lstrip(b"0")
    if not digits:
        return "0"
    power = int(exponent or b"0")
    if match["exponent_sign"] == b"-":
        power = -power
    power -= len(fraction)
    trailing_zeros = len(digits) - len(digits.rstrip(b"0"))
    digits = digits.rstrip(b"0")
    power += trailing_zeros

    scale = max(0, -power)
    if max_scale is not None and scale > max_scale:
        raise Fault("DECIMAL_SCALE", f"{scale} fraction digits, {max_scale} are allowed")

    sign = "-" if match["sign"] == b"-" else ""
    whole_length = max(1, len(digits) + power)
    length = len(sign) + whole_length + (1 + scale if scale else 0)
    if length > 256:
        raise Fault("DECIMAL_RANGE", f"{length} bytes")

    plain = digits.decode() + "0" * max(0, power)
    if scale:
        plain = plain.rjust(scale + 1, "0")
        plain = plain[:-scale] + "." + plain[-scale:]
    return sign + plain


# --- Money


def money(currency: bytes, units: int, nanos: int) -> str:
    """TXT-010 to TXT-012."""
    if not re.fullmatch(rb"[A-Z]{3}", currency):
        raise Fault("MONEY_CURRENCY", "a currency code is three capital letters")
    if not -(2**63) <= units < 2**63:
        raise Fault("MONEY_RANGE", "units are an int64")
    if not -999_999_999 <= nanos <= 999_999_999:
        raise Fault("MONEY_RANGE", "nanos are within 999999999 either way")
    if units * nanos < 0:
        raise Fault("MONEY_RANGE", "units and nanos have different signs")
    billionths = units * 10**9 + nanos
    return currency.decode() + decimal(b"%de-9" % billionths)


# --- Timestamps

# The proleptic Gregorian calendar of `datetime`, counted from 1970.
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_FIRST_SECOND = (datetime.date(1, 1, 1).toordinal() - _EPOCH) * 86_400
_LAST_SECOND = (datetime.date(9999, 12, 31).toordinal() - _EPOCH) * 86_400 + 86_399

_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
    r"(?:\.(?P<fraction>[0-9]{1,9}))?"
    r"(?:Z|(?P<sign>[+-])(?P<offset_hour>[0-9]{2}):(?P<offset_minute>[0-9]{2}))"
)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def day_number(year: int, month: int, day: int) -> int | None:
    """Days since 1970-01-01, None where there is no such day. Year 0 is one (TXT-024)."""
    # 400 years are 146097 days exactly, and year 400 has the calendar of year 0.
    moved = year + 400 if year == 0 else year
    try:
        ordinal = datetime.date(moved, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - _EPOCH - (146_097 if moved != year else 0)


def timestamp(seconds: int, nanos: int, fraction_digits: int) -> str:
    """TXT-020 to TXT-022."""
    if not 0 <= nanos <= 999_999_999:
        raise Fault("TIMESTAMP_RANGE", "nanos are 0 to 999999999")
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise Fault("TIMESTAMP_RANGE", "the year is 0001 to 9999")
    days, clock = divmod(seconds, 86_400)
    date = datetime.date.fromordinal(days + _EPOCH)
    minutes, second = divmod(clock, 60)
    hour, minute = divmod(minutes, 60)
    return (
        f"{date.year:04}-{date.month:02}-{date.day:02}"
        f"T{hour:02}:{minute:02}:{second:02}{_fraction(nanos, fraction_digits)}Z"
    )


def timestamp_of_epoch(value: int, unit: str, fraction_digits: int) -> str:
    """TXT-023."""
    if not -(2**63) <= value < 2**64:
        raise Fault("INT_RANGE", "an epoch is -2^63 to 2^64-1")
    parts = UNITS[unit]
    seconds, rest = divmod(value, parts)  # rounds down, so the rest is never negative
    return timestamp(seconds, rest * (10**9 // parts), fraction_digits)


def timestamp_of_text(text: str, fraction_digits: int) -> str:
    """TXT-024 and TXT-025."""
    seconds, nanos, offset = parse_timestamp(text)
    return timestamp(seconds - offset, nanos, fraction_digits)


def parse_timestamp(text: str) -> tuple[int, int, int]:
    """The local time of a text as seconds since 1970 and nanos, and its offset in seconds."""
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        raise Fault("TIMESTAMP_SYNTAX", "not a timestamp")
    days = day_number(int(match["year"]), int(match["month"]), int(match["day"]))
    if days is None:
        raise Fault("TIMESTAMP_SYNTAX", "no such day")
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    if hour > 23 or minute > 59 or second > 59:
        raise Fault("TIMESTAMP_SYNTAX", "no such time of day")
    offset = 0
    if match["sign"]:
        offset_hour, offset_minute = int(match["offset_hour"]), int(match["offset_minute"])
        if offset_hour > 23 or offset_minute > 59:
            raise Fault("TIMESTAMP_SYNTAX", "no such offset")
        offset = offset_hour * 3600 + offset_minute * 60
        if match["sign"] == "-":
            offset = -offset
    nanos = int((match["fraction"] or "").ljust(9, "0"))
    return days * 86_400 + hour * 3600 + minute * 60 + second, nanos, offset


def _fraction(nanos: int, fraction_digits: int) -> str:
    return f".{nanos:09}"[: fraction_digits + 1] if fraction_digits else ""


# --- Durations


def duration(seconds: int, nanos: int, fraction_digits: int) -> str:
    """TXT-030 to TXT-032."""
    if not -315_576_000_000 <= seconds <= 315_576_000_000:
        raise Fault("DURATION_RANGE", "seconds are within 315576000000 either way")
    if not -999_999_999 <= nanos <= 999_999_999:
        raise Fault("DURATION_RANGE", "nanos are within 999999999 either way")
    if seconds * nanos < 0:
        raise Fault("DURATION_RANGE", "seconds and nanos have different signs")
    text = f"{abs(seconds)}{_fraction(abs(nanos), fraction_digits)}"
    negative = (seconds < 0 or nanos < 0) and text.strip("0.")
    return f"{'-' if negative else ''}{text}s"


# --- Dates


def date(year: int, month: int, day: int) -> str:
    """TXT-040."""
    fits = 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31
    if not fits or day_number(year, month, day) is None:
        raise Fault("DATE_RANGE", "a partial or impossible date")
    return f"{year:04}-{month:02}-{day:02}"


# --- Integers, booleans, enums, bytes

INTEGER_TYPES = {
    "int32": (-(2**31), 2**31 - 1),
    "sint32": (-(2**31), 2**31 - 1),
    "sfixed32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "fixed32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "sint64": (-(2**63), 2**63 - 1),
    "sfixed64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "fixed64": (0, 2**64 - 1),
}


def integer(type_name: str, value: int) -> str:
    """TXT-050 and TXT-051."""
    lowest, highest = INTEGER_TYPES[type_name]
    if not lowest <= value <= highest:
        raise Fault("INT_RANGE", f"outside {type_name}")
    return str(value)


def boolean(value: bool) -> str:
    """TXT-052."""
    return "true" if value else "false"


def enum(number: int) -> str:
    """TXT-053."""
    if not -(2**31) <= number <= 2**31 - 1:
        raise Fault("INT_RANGE", "an enum is an int32")
    return str(number)


def octets(value: bytes) -> str:
    """TXT-054."""
    return value.hex()


# --- UUIDs


def uuid(text: str) -> str:
    """TXT-060."""
    if not re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text):
        raise Fault("UUID_SYNTAX", "not 8-4-4-4-12 hex digits")
    return text.lower()


# --- Strings


def utf8(value: bytes) -> bytes:
    """GEN-004 and TXT-070: well-formed UTF-8, as it is."""
    # Python's decoder is strict: surrogates, overlong forms and what is above U+10FFFF fail.
    try:
        value.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Fault("STRING_UTF8", f"offset {error.start}") from None
    return value


def utf8_of_utf16(units: list[int]) -> bytes:
    """GEN-004: well-formed UTF-16, as UTF-8."""
    raw = b"".join(unit.to_bytes(2, "big") for unit in units)
    try:
        return raw.decode("utf-16-be", "strict").encode()
    except UnicodeDecodeError as error:
        raise Fault("STRING_UTF8", f"code unit {error.start // 2}") from None
