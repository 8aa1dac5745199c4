"""Spans of time (TXT-030 to TXT-032)."""

from __future__ import annotations

from .errors import IdemError

MAX_SECONDS = 315_576_000_000  # 10,000 years


def duration(seconds: int, nanos: int, fraction_digits: int = 3, field: str = "") -> str:
    """The text of a `google.protobuf.Duration`: `-1.500s`.

    Digits beyond `fraction_digits` (0 to 9) are cut toward zero, and zero has no sign.
    DURATION_RANGE beyond 315576000000 seconds, and where nanos are a second or more or of another
    sign.
    """
    if not (
        -MAX_SECONDS <= seconds <= MAX_SECONDS
        and -999_999_999 <= nanos <= 999_999_999
        and seconds * nanos >= 0
    ):
        problem = "is beyond 315576000000 seconds, or has nanos out of range or of another sign"
        raise IdemError("DURATION_RANGE", problem, field, f"{seconds} s and {nanos} ns")
    fraction = f"{abs(nanos):09d}"[:fraction_digits]
    nothing = seconds == 0 and fraction.strip("0") == ""
    minus = "-" if not nothing and (seconds < 0 or nanos < 0) else ""
    point = "." if fraction else ""
    return f"{minus}{abs(seconds)}{point}{fraction}s"
