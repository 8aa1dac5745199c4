"""Timestamps: TXT-020 to TXT-025."""

from group import BESIDE_DIGITS, Group, without

SYNTAX, RANGE = "TIMESTAMP_SYNTAX", "TIMESTAMP_RANGE"
FIRST, LAST = -62_135_596_800, 253_402_300_799


def instant(seconds, nanos, digits):
    return {"seconds": str(seconds), "nanos": str(nanos), "fraction_digits": str(digits)}


def written(text, digits=0):
    return {"rfc3339": text, "fraction_digits": str(digits)}


def epoch(value, unit, digits):
    return {"epoch": str(value), "unit": unit, "fraction_digits": str(digits)}


def fill(g: Group) -> None:
    def at(slug, seconds, nanos, digits, want, spec="TXT-020"):
        want = want if want == RANGE else {"text": want}
        g.add(slug, instant(seconds, nanos, digits), spec, want)

    # --- seconds and nanos
    at("epoch-instant", 0, 0, 0, "1970-01-01T00:00:00Z")
    at("epoch-instant-three-digits", 0, 0, 3, "1970-01-01T00:00:00.000Z")
    at("plain", 1_735_704_000, 0, 3, "2025-01-01T04:00:00.000Z")
    at("one-second-before-the-epoch", -1, 0, 0, "1969-12-31T23:59:59Z")
    at("last-second-of-a-day", 86_399, 0, 0, "1970-01-01T23:59:59Z")
    at("first-second-of-the-next-day", 86_400, 0, 0, "1970-01-02T00:00:00Z")
    at("first-second-of-the-day-before", -86_400, 0, 0, "1969-12-31T00:00:00Z")
    at("last-second-two-days-before", -86_401, 0, 0, "1969-12-30T23:59:59Z")
    at("largest-int32", 2**31 - 1, 0, 0, "2038-01-19T03:14:07Z")
    at("above-int32", 2**31, 0, 0, "2038-01-19T03:14:08Z")
    at("below-int32", -(2**31) - 1, 0, 0, "1901-12-13T20:45:51Z")
    at("above-uint32", 2**32, 0, 0, "2106-02-07T06:28:16Z")
    at("above-int64-nanoseconds", 9_223_372_037, 0, 0, "2262-04-11T23:47:17Z")
    at("below-int64-nanoseconds", -9_223_372_037, 0, 0, "1677-09-21T00:12:43Z")
    at("day-before-the-reform", -12_219_292_801, 0, 0, "1582-10-14T23:59:59Z")
    at("leap-day-of-year-four", -62_035_891_200, 0, 0, "0004-02-29T00:00:00Z")
    for year, seconds in (
        ("2000", 951_782_400),
        ("2024", 1_709_164_800),
        ("1600", -11_670_998_400),
    ):
        at(f"leap-day-of-{year}", seconds, 0, 0, f"{year}-02-29T00:00:00Z")
    for year, seconds in (("1900", -2_203_891_200), ("2100", 4_107_542_400)):
        at(f"march-follows-february-28-in-{year}", seconds, 0, 0, f"{year}-03-01T00:00:00Z")
    at("last-day-of-a-leap-year", 1_735_603_200, 0, 0, "2024-12-31T00:00:00Z")
    at("last-day-of-a-400-year-cycle", 978_220_800, 0, 0, "2000-12-31T00:00:00Z")
    at("first-day-of-a-400-year-cycle", 951_868_800, 0, 0, "2000-03-01T00:00:00Z")
    at("hour-and-minute-padded", 3_661, 0, 0, "1970-01-01T01:01:01Z")
    at("nanos-padded-on-the-left", 0, 1, 9, "1970-01-01T00:00:00.000000001Z")
    at("no-leap-second-in-2016", 1_483_228_800, 0, 0, "2017-01-01T00:00:00Z")
    for digits in range(10):
        cut = "987654321"[:digits]
        fraction = f".{cut}" if cut else ""
        at(f"cut-to-{digits}-digits", 1_735_704_000, 987_654_321, digits,
           f"2025-01-01T04:00:00{fraction}Z", "TXT-020 TXT-021")  # fmt: skip
        at(f"cut-to-{digits}-digits-before-the-epoch", -1_735_704_000, 987_654_321, digits,
           f"1914-12-31T20:00:00{fraction}Z", "TXT-021")  # fmt: skip
    at(
        "cut-is-not-rounded-into-a-minute",
        59,
        999_999_999,
        3,
        "1970-01-01T00:00:59.999Z",
        "TXT-021",
    )
    at("cut-half", 0, 500_000_000, 0, "1970-01-01T00:00:00Z", "TXT-021")

    # --- range
    at("last-second-before-year-one", FIRST - 1, 0, 0, RANGE, "TXT-022")
    at("last-nanosecond-before-year-one", FIRST - 1, 999_999_999, 9, RANGE, "TXT-022")
    at("first-nanosecond-of-year-one", FIRST, 1, 9, "0001-01-01T00:00:00.000000001Z", "TXT-022")
    at("last-second-of-year-9999", LAST, 0, 0, "9999-12-31T23:59:59Z", "TXT-022")
    at("last-nanosecond-of-year-9999", LAST, 999_999_999, 9, "9999-12-31T23:59:59.999999999Z",
       "TXT-022")  # fmt: skip
    at("nanos-minus-one", 0, -1, 9, RANGE, "TXT-022")
    at("nanos-of-a-whole-second", 0, 10**9, 0, RANGE, "TXT-022")
    at("nanos-of-a-whole-second-in-the-last-one", LAST, 10**9, 0, RANGE, "TXT-022")
    at("nanos-largest-int32", 0, 2**31 - 1, 0, RANGE, "TXT-022")
    at("nanos-smallest-int32", 0, -(2**31), 0, RANGE, "TXT-022")
    at("nanos-faulty-before-the-epoch", -1, 10**9, 3, RANGE, "TXT-022")
    for slug, seconds, nanos in (
        ("nanos-above-int32", 0, 2**31),
        ("nanos-wrap-int32", 0, 2**32 + 1),
        ("nanos-thirty-digits", 0, 10**29),
        ("seconds-largest-int64", 2**63 - 1, 0),
        ("seconds-smallest-int64", -(2**63), 0),
        ("seconds-above-int64", 2**63, 0),
        ("seconds-wrap-int64", 2**64, 0),
        ("seconds-thirty-digits", 10**29, 0),
        ("seconds-thirty-digits-negative", -(10**29), 0),
    ):
        at(slug, seconds, nanos, 3, RANGE, "TXT-022 CONF-031")

    # --- epochs
    def since(slug, value, unit, digits, want, spec="TXT-023"):
        want = want if want in (RANGE, "INT_RANGE") else {"text": want}
        g.add(f"epoch-{slug}", epoch(value, unit, digits), spec, want)

    since("seconds", 1_735_704_000, "s", 3, "2025-01-01T04:00:00.000Z")
    since("milliseconds", 1_735_704_000_123, "ms", 3, "2025-01-01T04:00:00.123Z")
    since("microseconds", 1_735_704_000_123_456, "us", 6, "2025-01-01T04:00:00.123456Z")
    since("nanoseconds", 1_735_704_000_123_456_789, "ns", 9, "2025-01-01T04:00:00.123456789Z")
    since("zero-milliseconds", 0, "ms", 3, "1970-01-01T00:00:00.000Z")
    since("zero-nanoseconds", 0, "ns", 9, "1970-01-01T00:00:00.000000000Z")
    since("seconds-have-no-fraction", 1, "s", 9, "1970-01-01T00:00:01.000000000Z")
    since("milliseconds-cut-to-seconds", 1_999, "ms", 0, "1970-01-01T00:00:01Z")
    since("nanoseconds-cut-to-milliseconds", 1_999_999, "ns", 3, "1970-01-01T00:00:00.001Z")
    for unit, digits in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9)):
        per_second = 10**digits
        fraction = "." + "9" * digits if digits else ""
        since(f"minus-one-{unit}", -1, unit, digits, f"1969-12-31T23:59:59{fraction}Z")
        if digits:
            since(f"minus-one-{unit}-cut-to-seconds", -1, unit, 0, "1969-12-31T23:59:59Z")
            since(f"minus-a-whole-second-in-{unit}", -per_second, unit, digits,
                  f"1969-12-31T23:59:59.{'0' * digits}Z")  # fmt: skip
            since(f"minus-a-second-and-one-{unit}", -per_second - 1, unit, digits,
                  f"1969-12-31T23:59:58{fraction}Z")  # fmt: skip
            zeros = "." + "0" * digits
        else:
            zeros = ""
        bounds = "TXT-022 TXT-023"
        if unit != "ns":
            since(f"first-{unit}-of-year-one", FIRST * per_second, unit, digits,
                  f"0001-01-01T00:00:00{zeros}Z", bounds)  # fmt: skip
            since(
                f"last-{unit}-before-year-one", FIRST * per_second - 1, unit, digits, RANGE, bounds
            )
            since(
                f"first-{unit}-of-year-10000", (LAST + 1) * per_second, unit, digits, RANGE, bounds
            )
            if unit != "ms":
                since(f"last-{unit}-of-year-9999", (LAST + 1) * per_second - 1, unit, digits,
                      f"9999-12-31T23:59:59{fraction}Z", bounds)  # fmt: skip
            for name, value in (
                ("smallest-int64", -(2**63)),
                ("largest-int64", 2**63 - 1),
                ("largest-uint64", 2**64 - 1),
            ):
                since(f"{name}-in-{unit}", value, unit, digits, RANGE, bounds)
        since(f"below-int64-in-{unit}", -(2**63) - 1, unit, digits, "INT_RANGE", "TXT-023 CONF-031")
        since(f"above-uint64-in-{unit}", 2**64, unit, digits, "INT_RANGE", "TXT-023 CONF-031")
    since("largest-int64-in-ns", 2**63 - 1, "ns", 9, "2262-04-11T23:47:16.854775807Z")
    since("above-int64-in-ns", 2**63, "ns", 9, "2262-04-11T23:47:16.854775808Z")
    since("largest-uint64-in-ns", 2**64 - 1, "ns", 9, "2554-07-21T23:34:33.709551615Z")
    since("above-double-precision-in-us", 2**53 + 1, "us", 6, "2255-06-05T23:47:34.740993Z")
    since("thirty-digits", 10**29, "ns", 9, "INT_RANGE", "TXT-023 CONF-031 CONF-021")
    since("thirty-digits-negative", -(10**29), "ns", 9, "INT_RANGE", "TXT-023 CONF-031 CONF-021")

    # --- text: what is right
    def text(slug, given, want, digits=0, spec="TXT-024"):
        g.add(slug, written(given, digits), spec, {"text": want})

    text("text-plain", "2025-01-01T04:00:00Z", "2025-01-01T04:00:00Z")
    text("text-digits-are-added", "2025-01-01T04:00:00.5Z", "2025-01-01T04:00:00.500Z", 3)
    text("text-digits-are-cut", "2025-01-01T04:00:00.999Z", "2025-01-01T04:00:00.9Z", 1, "TXT-021")
    text("text-digits-are-cut-to-none", "2025-01-01T04:00:00.999999999Z", "2025-01-01T04:00:00Z", 0,
         "TXT-021")  # fmt: skip
    for digits in range(1, 10):
        cut = "123456789"[:digits]
        text(f"text-fraction-of-{digits}", f"2025-01-01T04:00:00.{cut}Z",
             f"2025-01-01T04:00:00.{cut.ljust(9, '0')}Z", 9)  # fmt: skip
    text("text-first-instant", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", 0, "TXT-022")
    text("text-last-instant", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z", 9,
         "TXT-022")  # fmt: skip
    text("text-last-moment-of-a-day", "2025-06-15T23:59:59Z", "2025-06-15T23:59:59Z")
    text("text-first-moment-of-a-day", "2025-06-15T00:00:00Z", "2025-06-15T00:00:00Z")
    for year in ("0004", "1600", "1996", "2024", "2400"):
        text(f"text-leap-day-of-{year}", f"{year}-02-29T00:00:00Z", f"{year}-02-29T00:00:00Z")
    for year in (
        1,
        4,
        99,
        100,
        101,
        399,
        400,
        401,
        1899,
        1900,
        1999,
        2000,
        2001,
        2099,
        2100,
        9899,
        9900,
        9999,
    ):
        for day in ("02-28", "03-01"):
            same = f"{year:04}-{day}T00:00:00Z"
            text(f"text-{day}-of-{year:04}", same, same)
    for month, day in enumerate((31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1):
        same = f"2025-{month:02}-{day}T12:00:00Z"
        text(f"text-last-day-of-month-{month}", same, same)

    # --- offsets
    offset = "TXT-025"
    text("offset-minus-zero", "2025-01-01T00:00:00-00:00", "2025-01-01T00:00:00Z", 0, offset)
    text("offset-plus", "2025-01-01T12:00:00+01:00", "2025-01-01T11:00:00Z", 0, offset)
    text("offset-minus", "2025-01-01T12:00:00-01:00", "2025-01-01T13:00:00Z", 0, offset)
    text(
        "offset-minutes-have-the-sign",
        "2025-01-01T12:00:00-03:30",
        "2025-01-01T15:30:00Z",
        0,
        offset,
    )
    text(
        "offset-minus-half-an-hour", "2025-01-01T00:00:00-00:30", "2025-01-01T00:30:00Z", 0, offset
    )
    text("offset-plus-one-minute", "2025-01-01T00:00:00+00:01", "2024-12-31T23:59:00Z", 0, offset)
    text(
        "offset-moves-the-date-forward",
        "2024-12-31T23:30:00-01:00",
        "2025-01-01T00:30:00Z",
        0,
        offset,
    )
    text("offset-into-a-leap-day", "2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00Z", 0, offset)
    text("offset-over-no-leap-day", "2025-03-01T00:30:00+01:00", "2025-02-28T23:30:00Z", 0, offset)
    text("offset-largest", "2025-01-02T00:00:00+23:59", "2025-01-01T00:01:00Z", 0, offset)
    text("offset-smallest", "2025-01-01T00:00:00-23:59", "2025-01-01T23:59:00Z", 0, offset)
    text(
        "offset-over-the-epoch",
        "1970-01-01T00:00:00.25+00:01",
        "1969-12-31T23:59:00.250Z",
        3,
        offset,
    )
    text("offset-keeps-the-fraction", "2025-01-01T00:00:00.123456789+01:00",
         "2024-12-31T23:00:00.123456789Z", 9, offset)  # fmt: skip
    text("offset-leads-out-of-year-zero", "0000-12-31T23:00:00-02:00", "0001-01-01T01:00:00.000Z", 3,
         "TXT-022 TXT-025")  # fmt: skip
    text("offset-to-the-first-instant", "0000-12-31T23:59:00-00:01", "0001-01-01T00:00:00Z", 0,
         "TXT-022 TXT-025")  # fmt: skip
    text("offset-to-the-last-second", "9999-12-31T23:58:59-00:01", "9999-12-31T23:59:59Z", 0,
         "TXT-022 TXT-025")  # fmt: skip
    for slug, given in {
        "offset-stays-in-year-zero": "0000-12-31T23:58:59-00:01",
        "offset-leads-into-year-zero": "0001-01-01T00:00:00+00:01",
        "offset-largest-in-year-zero": "0000-12-31T00:00:00-23:59",
        "offset-leads-just-into-year-10000": "9999-12-31T23:59:00-00:01",
        "offset-largest-into-year-10000": "9999-12-31T00:01:00-23:59",
        "offset-before-year-zero": "0000-01-01T00:00:00+00:01",
    }.items():
        g.add(slug, written(given), "TXT-022 TXT-025", RANGE)
    g.add("text-leap-day-of-year-zero", written("0000-02-29T00:00:00Z"), "TXT-022 TXT-024", RANGE,
          "a day there is, but out of range")  # fmt: skip
    g.add("text-last-second-of-year-zero", written("0000-12-31T23:59:59.999999999Z", 9), "TXT-022",
          RANGE)  # fmt: skip

    # --- text: every digit in every place that takes it
    for d in range(10):
        few, hour = min(d, 2), f"2{d}" if d < 4 else f"1{d}"
        low = f"0{d}" if d else "10"
        late = f"5{d}"
        for slug, given in (
            ("low", f"1{d}{d}{d}-{low}-{low}T0{d}:0{d}:0{d}.{d}+0{d}:0{d}"),
            ("high", f"{d or 9}00{d}-1{few}-2{d}T{hour}:{late}:{late}.0{d}-{hour}:{late}"),
        ):
            g.add(f"text-digit-{d}-in-{slug}-places", written(given, 2), "TXT-024 TXT-025")

    # --- text: calendar and clock
    def fault(slug, given, digits=0, spec="TXT-024"):
        g.add(slug, written(given, digits), spec, SYNTAX)

    fault("year-zero-has-no-february-30", "0000-02-30T00:00:00Z")
    fault("syntax-before-range", "0000-13-01T00:00:00Z", spec="TXT-022 TXT-024")
    fault("syntax-before-range-of-year-9999", "9999-12-31T23:59:60-00:01", spec="TXT-022 TXT-024")
    fault("month-zero", "2025-00-10T00:00:00Z")
    fault("day-zero", "2025-01-00T00:00:00Z")
    fault("month-99", "2025-99-01T00:00:00Z")
    for month, day in enumerate((31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1):
        fault(f"month-{month}-one-day-more", f"2025-{month:02}-{day + 1}T00:00:00Z")
    for year in ("1700", "1900", "2100", "0001", "0100"):
        fault(f"no-leap-day-in-{year}", f"{year}-02-29T00:00:00Z")
    fault("february-30-of-a-leap-year", "2024-02-30T00:00:00Z")
    fault("hour-24", "2025-01-01T24:00:00Z")
    fault("hour-24-and-a-second", "2025-01-01T24:00:01Z")
    fault("hour-25", "2025-01-01T25:00:00Z")
    fault("minute-60", "2025-01-01T00:60:00Z")
    fault("second-60-at-the-end-of-2016", "2016-12-31T23:59:60Z")
    fault("second-60-with-offset", "2017-01-01T00:59:60+01:00")
    fault("second-99", "2025-01-01T00:00:99Z")
    fault("offset-minute-60", "2025-01-01T00:00:00+00:60")
    fault("offset-minus-24-hours", "2025-01-01T00:00:00-24:00")
    fault("offset-hour-99", "2025-01-01T00:00:00+99:00")

    # --- text: form, one fault each
    for slug, given in {
        "text-empty": "",
        "text-blank": " ",
        "date-alone": "2025-01-01",
        "time-alone": "00:00:00Z",
        "date-and-t": "2025-01-01T",
        "hour-alone": "2025-01-01T00Z",
        "offset-missing": "2025-01-01T00:00:00",
        "offset-missing-with-fraction": "2025-01-01T00:00:00.5",
        "offset-of-hours-alone": "2025-01-01T00:00:00+01",
        "offset-of-one-digit-hour": "2025-01-01T00:00:00+1:00",
        "offset-of-one-digit-minute": "2025-01-01T00:00:00+01:0",
        "offset-of-three-digit-hour": "2025-01-01T00:00:00+001:00",
        "offset-with-seconds": "2025-01-01T00:00:00+01:00:00",
        "offset-without-sign": "2025-01-01T00:00:0001:00",
        "offset-with-two-signs": "2025-01-01T00:00:00+-1:00",
        "offset-with-unicode-minus": "2025-01-01T00:00:00\u221201:00",
        "offset-after-a-blank": "2025-01-01T00:00:00 +01:00",
        "offset-sign-alone": "2025-01-01T00:00:00+",
        "offset-utc": "2025-01-01T00:00:00UTC",
        "offset-gmt": "2025-01-01T00:00:00GMT",
        "offset-military-letter": "2025-01-01T00:00:00A",
        "zone-name-in-brackets": "2025-01-01T00:00:00+01:00[Europe/Berlin]",
        "z-in-brackets": "2025-01-01T00:00:00Z[UTC]",
        "z-twice": "2025-01-01T00:00:00ZZ",
        "z-before-the-fraction": "2025-01-01T00:00:00Z.5",
        "z-missing-after-blank": "2025-01-01T00:00:00 Z",
        "blank-for-t": "2025-01-01 00:00:00Z",
        "underscore-for-t": "2025-01-01_00:00:00Z",
        "t-missing": "2025-01-0100:00:00Z",
        "t-twice": "2025-01-01TT00:00:00Z",
        "trailing-blank": "2025-01-01T00:00:00Z ",
        "trailing-line-feed": "2025-01-01T00:00:00Z\n",
        "trailing-nul": "2025-01-01T00:00:00Z\x00",
        "leading-line-feed": "\n2025-01-01T00:00:00Z",
        "leading-byte-order-mark": "\ufeff2025-01-01T00:00:00Z",
        "blank-inside": "2025-01-01T 0:00:00Z",
        "fraction-empty": "2025-01-01T00:00:00.Z",
        "fraction-empty-before-offset": "2025-01-01T00:00:00.+01:00",
        "fraction-after-colon": "2025-01-01T00:00:00:5Z",
        "fraction-of-a-minute": "2025-01-01T00:00.5Z",
        "fraction-negative": "2025-01-01T00:00:00.-5Z",
        "fraction-with-two-points": "2025-01-01T00:00:00.5.5Z",
        "fraction-of-ten-zeros": "2025-01-01T00:00:00.0000000000Z",
        "fraction-with-a-letter": "2025-01-01T00:00:00.5aZ",
        "fraction-with-an-exponent": "2025-01-01T00:00:00.5e1Z",
        "fraction-with-arabic-digit": "2025-01-01T00:00:00.\u0665Z",
        "fraction-with-grouping": "2025-01-01T00:00:00.123_456Z",
        "year-of-two-digits": "25-01-01T00:00:00Z",
        "year-of-three-digits": "999-01-01T00:00:00Z",
        "year-of-five-digits": "12025-01-01T00:00:00Z",
        "year-with-plus": "+2025-01-01T00:00:00Z",
        "year-with-plus-and-six-digits": "+002025-01-01T00:00:00Z",
        "year-negative": "-001-01-01T00:00:00Z",
        "year-negative-with-four-digits": "-2025-01-01T00:00:00Z",
        "year-with-a-blank": "2 25-01-01T00:00:00Z",
        "month-name": "2025-Jan-01T00:00:00Z",
        "month-of-three-digits": "2025-001-01T00:00:00Z",
        "month-with-sign": "2025-+1-01T00:00:00Z",
        "day-of-one-digit": "2025-01-1T00:00:00Z",
        "day-of-the-year": "2025-001T00:00:00Z",
        "day-with-full-width-digit": "2025-01-0\uff11T00:00:00Z",
        "minute-of-one-digit": "2025-01-01T00:0:00Z",
        "second-of-one-digit": "2025-01-01T00:00:0Z",
        "second-of-three-digits": "2025-01-01T00:00:000Z",
        "hour-of-three-digits": "2025-01-01T000:00:00Z",
        "hour-with-sign": "2025-01-01T-1:00:00Z",
        "hour-with-colon-digit": "2025-01-01T0::00:00Z",
        "slashes-in-the-date": "2025/01/01T00:00:00Z",
        "dots-in-the-date": "2025.01.01T00:00:00Z",
        "unicode-hyphens-in-the-date": "2025\u201001\u201001T00:00:00Z",
        "dots-in-the-time": "2025-01-01T00.00.00Z",
        "no-hyphens": "20250101T00:00:00Z",
        "no-colons": "2025-01-01T000000Z",
        "twelve-hour-clock": "2025-01-01T12:00:00PM",
        "rfc-1123": "Wed, 01 Jan 2025 00:00:00 GMT",
        "epoch-as-text": "1735689600",
        "quotes": '"2025-01-01T00:00:00Z"',
        "two-timestamps": "2025-01-01T00:00:00Z2025-01-01T00:00:00Z",
        "arabic-digits": "\u0662\u0660\u0662\u0665-01-01T00:00:00Z",
        "kelvin-sign-for-a-letter": "2025-01-01\u212a00:00:00Z",
        "words": "now",
    }.items():
        fault(slug, given)
    full = "2025-11-11T11:11:11.1+11:11"

    def instead(start, stop, given):
        return full[:start] + given + full[stop:]

    for place, start, all_tens in (
        ("month", 5, "01"),
        ("day", 8, "013"),
        ("hour", 11, "12"),
        ("minute", 14, "1"),
        ("second", 17, "1"),
        ("offset-hour", 22, "12"),
        ("offset-minute", 25, "1"),
    ):
        for slug, mark in BESIDE_DIGITS.items():
            fault(f"{place}-of-tens-{slug}", instead(start, start + 2, f"{mark}1"))
            for tens in all_tens:
                fault(f"{place}-of-{tens}-and-{slug}", instead(start, start + 2, tens + mark))
        for tens in all_tens:
            fault(f"{place}-of-{tens}-alone", instead(start, start + 2, tens))
    for slug, mark in BESIDE_DIGITS.items():
        fault(f"year-{slug}", instead(3, 4, mark))
        fault(f"fraction-{slug}", instead(20, 21, f"5{mark}"))
    for name, index in {
        "first-hyphen": 4, "second-hyphen": 7, "first-colon": 13, "second-colon": 16, "point": 19,
        "offset-colon": 24,
    }.items():  # fmt: skip
        fault(f"{name}-left-out", instead(index, index + 1, ""))
    fault("fraction-of-ten-digits-with-offset", "2025-01-01T00:00:00.1234567890+01:00", 9)

    # --- no known shape
    good = written("2025-01-01T00:00:00Z", 3)
    since_epoch = epoch(0, "s", 0)
    g.faults(
        "CONF-021",
        {
            "input-without-a-form": {"fraction_digits": "3"},
            "input-without-digits": without(good, "fraction_digits"),
            "input-text-and-seconds": {**good, "seconds": "0", "nanos": "0"},
            "input-text-and-epoch": {**good, "epoch": "0", "unit": "s"},
            "input-seconds-and-epoch": {**instant(0, 0, 3), "epoch": "0", "unit": "s"},
            "input-text-and-unit": {**good, "unit": "s"},
            "input-without-nanos": without(instant(0, 0, 3), "nanos"),
            "input-without-seconds": without(instant(0, 0, 3), "seconds"),
            "input-without-unit": without(since_epoch, "unit"),
            "input-without-epoch": without(since_epoch, "epoch"),
            "input-unknown-member": {**good, "zone": "UTC"},
            "input-unit-minutes": {**since_epoch, "unit": "m"},
            "input-unit-upper-case": {**since_epoch, "unit": "MS"},
            "input-unit-micro-sign": {**since_epoch, "unit": "\u00b5s"},
            "input-unit-empty": {**since_epoch, "unit": ""},
            "input-unit-null": {**since_epoch, "unit": None},
            "input-digits-ten": {**good, "fraction_digits": "10"},
            "input-digits-minus-one": {**good, "fraction_digits": "-1"},
            "input-digits-a-number": {**good, "fraction_digits": 3},
            "input-digits-padded": {**good, "fraction_digits": "03"},
            "input-text-null": {**good, "rfc3339": None},
            "input-text-a-number": {**good, "rfc3339": 2025},
            "input-epoch-a-number": {**since_epoch, "epoch": 0},
            "input-epoch-leading-zero": {**since_epoch, "epoch": "00"},
            "input-epoch-fraction": {**since_epoch, "epoch": "1.5"},
            "input-seconds-minus-zero": {**instant(0, 0, 3), "seconds": "-0"},
            "input-nanos-plus": {**instant(0, 0, 3), "nanos": "+1"},
            "input-before-syntax": {**good, "rfc3339": "x", "fraction_digits": "10"},
            "input-unit-before-epoch-range": epoch(2**64, "m", 0),
        },
    )
