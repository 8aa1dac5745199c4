"""google.protobuf.Duration: TXT-030 to TXT-032."""

from group import Group, without

LIMIT = 315_576_000_000


def duration(seconds, nanos, digits):
    return {"seconds": str(seconds), "nanos": str(nanos), "fraction_digits": str(digits)}


def fill(g: Group) -> None:
    def text(slug, seconds, nanos, digits, want, spec="TXT-030"):
        g.add(slug, duration(seconds, nanos, digits), spec, {"text": want})

    text("zero", 0, 0, 0, "0s")
    text("zero-with-digits", 0, 0, 3, "0.000s")
    text("one", 1, 0, 0, "1s")
    text("minus-one", -1, 0, 0, "-1s")
    text("minus-one-and-a-half", -1, -500_000_000, 3, "-1.500s")
    text("minute-stays-in-seconds", 60, 0, 0, "60s")
    text("day-stays-in-seconds", 86_400, 0, 0, "86400s")
    text("nanos-padded-on-the-left", 0, 1_000_000, 3, "0.001s")
    text("trailing-zeros-stay", 5, 100_000_000, 9, "5.100000000s")
    text("negative-nanos-alone", 0, -500_000_000, 1, "-0.5s")
    text("above-int32", 2**31, 0, 0, "2147483648s")
    text("above-uint32-negative", -(2**32) - 1, -1, 9, "-4294967297.000000001s")
    for digits in range(10):
        cut = "987654321"[:digits]
        text(f"cut-to-{digits}-digits", 7, 987_654_321, digits, f"7.{cut}s" if cut else "7s",
             "TXT-030 TXT-031")  # fmt: skip
        text(f"negative-cut-to-{digits}-digits", -7, -987_654_321, digits,
             f"-7.{cut}s" if cut else "-7s", "TXT-031")  # fmt: skip
        # The last digit that shows, and the first that does not.
        if 1 <= digits <= 8:
            edge = 10 ** (9 - digits)
            text(f"negative-shows-at-{digits}-digits", 0, -edge, digits,
                 f"-0.{'1'.rjust(digits, '0')}s", "TXT-031")  # fmt: skip
            text(f"negative-cut-to-zero-at-{digits}-digits", 0, 1 - edge, digits,
                 f"0.{'0' * digits}s", "TXT-031")  # fmt: skip
    text("negative-cut-to-zero-at-0-digits", 0, -999_999_999, 0, "0s", "TXT-031")
    text("cut-is-not-rounded", 0, 999_999_999, 0, "0s", "TXT-031")
    text("cut-is-not-rounded-up", 1, 999_999_999, 3, "1.999s", "TXT-031")
    text("seconds-keep-the-sign-when-nanos-are-cut", -1, -1, 3, "-1.000s", "TXT-031")

    text("largest-seconds", LIMIT, 0, 0, f"{LIMIT}s", "TXT-032")
    text("smallest-seconds", -LIMIT, 0, 0, f"-{LIMIT}s", "TXT-032")
    text("minimum", -LIMIT, -999_999_999, 9, f"-{LIMIT}.999999999s", "TXT-032")
    text("below-the-largest", LIMIT - 1, 999_999_999, 9, f"{LIMIT - 1}.999999999s", "TXT-032")
    text("largest-nanos", 0, 999_999_999, 9, "0.999999999s", "TXT-032")
    text("smallest-nanos", 0, -999_999_999, 9, "-0.999999999s", "TXT-032")
    for slug, seconds, nanos in (
        ("seconds-above-maximum", LIMIT + 1, 0),
        ("nanos-above-maximum", 0, 10**9),
        ("nanos-below-minimum", 0, -(10**9)),
        ("nanos-above-maximum-with-seconds", 1, 10**9),
        ("nanos-above-int32", 0, 2**31),
        ("mixed-signs-at-the-maximum", LIMIT, -1),
        ("mixed-signs-at-the-minimum", -LIMIT, 1),
        ("mixed-signs-that-would-cut-to-zero", 1, -999_999_999),
    ):
        g.add(slug, duration(seconds, nanos, 9), "TXT-032", "DURATION_RANGE")
    for slug, seconds, nanos in (
        ("seconds-above-int64", 2**63, 0),
        ("seconds-wrap-int64", 2**64 + 5, 0),
        ("seconds-thirty-digits", -(10**29), 0),
        ("nanos-wrap-int32", 0, 2**32 + 5),
        ("nanos-thirty-digits", 0, 10**29),
    ):
        g.add(slug, duration(seconds, nanos, 3), "CONF-031 CONF-021", "DURATION_RANGE")

    good = duration(1, 0, 3)
    g.faults(
        "CONF-021",
        {
            "input-without-seconds": without(good, "seconds"),
            "input-without-nanos": without(good, "nanos"),
            "input-without-digits": without(good, "fraction_digits"),
            "input-unknown-member": {**good, "unit": "s"},
            "input-digits-ten": {**good, "fraction_digits": "10"},
            "input-digits-minus-one": {**good, "fraction_digits": "-1"},
            "input-digits-a-number": {**good, "fraction_digits": 3},
            "input-seconds-minus-zero": {**good, "seconds": "-0"},
            "input-seconds-a-number": {**good, "seconds": 1},
            "input-nanos-leading-zero": {**good, "nanos": "01"},
            "input-before-range": {**good, "seconds": str(LIMIT + 1), "fraction_digits": "10"},
        },
    )
