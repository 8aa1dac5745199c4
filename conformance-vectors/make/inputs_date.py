"""google.type.Date: TXT-040."""

from group import Group, slugged, without

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONTHS = "january february march april may june july august september october november december"


def date(year, month, day):
    return {"year": str(year), "month": str(month), "day": str(day)}


def fill(g: Group) -> None:
    def text(slug, year, month, day):
        want = {"text": f"{year:04}-{month:02}-{day:02}"}
        g.add(slug, date(year, month, day), "TXT-040", want)

    def fault(slug, year, month, day, spec="TXT-040"):
        g.add(slug, date(year, month, day), spec, "DATE_RANGE")

    text("plain", 2025, 1, 1)
    text("first-day", 1, 1, 1)
    text("last-day", 9999, 12, 31)
    text("year-of-two-digits", 99, 12, 31)
    text("year-of-three-digits", 476, 9, 4)
    text("day-skipped-by-the-reform", 1582, 10, 10)
    text("day-skipped-in-britain", 1752, 9, 3)
    text("day-skipped-in-samoa", 2011, 12, 30)
    for name, (month, length) in zip(MONTHS.split(), enumerate(LENGTHS, 1), strict=True):
        text(f"{name}-last-day", 2025, month, length)
        fault(f"{name}-one-day-more", 2025, month, length + 1)
        if month > 1:
            text(f"{name}-first-day", 2025, month, 1)
    for year in (4, 400, 1600, 1996, 2000, 2024, 2400, 9996):
        text(f"leap-day-of-{year}", year, 2, 29)
        fault(f"february-30-of-{year}", year, 2, 30)
    for year in (1, 3, 100, 1500, 1700, 1900, 2023, 2100, 9999):
        fault(f"no-leap-day-in-{year}", year, 2, 29)

    fault("year-missing", 0, 5, 17)
    fault("month-missing", 2025, 0, 17)
    fault("year-and-month-alone", 2025, 5, 0)
    fault("year-alone", 2025, 0, 0)
    fault("month-and-day-of-no-year", 0, 2, 29)
    fault("nothing", 0, 0, 0)
    fault("month-thirteen", 2025, 13, 1)
    fault("day-ninety-nine", 2025, 1, 99)
    fault("year-ten-thousand", 10_000, 1, 1)
    for name, value in (("year", (-1, 5, 17)), ("month", (2025, -1, 17)), ("day", (2025, 5, -1))):
        fault(f"{name}-{slugged(-1)}", *value)
    fault("month-and-day-exchanged", 2025, 17, 5)
    for name, position in (("year", 0), ("month", 1), ("day", 2)):
        for number, slug in (
            (2**31, "above-int32"),
            (2**32 + 5, "wraps-int32"),
            (2**64 + 5, "wraps-int64"),
            (10**29, "thirty-digits"),
        ):
            value = [2025, 5, 17]
            value[position] = number
            fault(f"{name}-{slug}", *value, spec="TXT-040 CONF-031")

    good = date(2025, 5, 17)
    g.faults(
        "CONF-021",
        {
            "input-without-year": without(good, "year"),
            "input-without-month": without(good, "month"),
            "input-without-day": without(good, "day"),
            "input-unknown-member": {**good, "hour": "1"},
            "input-year-padded": {**good, "year": "0001"},
            "input-month-padded": {**good, "month": "05"},
            "input-day-a-number": {**good, "day": 17},
            "input-day-null": {**good, "day": None},
            "input-before-range": {**good, "month": "13", "day": "+1"},
        },
    )
