"""google.type.Money: TXT-010 to TXT-012."""

from group import Group, without

INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)


def money(currency, units, nanos):
    return {"currency_code": currency, "units": str(units), "nanos": str(nanos)}


def fill(g: Group) -> None:
    def amount(slug, units, nanos, want, note="", spec="TXT-010"):
        g.add(slug, money("USD", units, nanos), spec, {"text": want}, note)

    amount("zero", 0, 0, "USD0")
    amount("one", 1, 0, "USD1")
    amount("minus-one", -1, 0, "USD-1")
    amount("hundred-keeps-its-zeros", 100, 0, "USD100")
    amount("hundred-and-a-half", 100, 500_000_000, "USD100.5")
    amount("minus-hundred-and-a-half", -100, -500_000_000, "USD-100.5")
    amount("cent", 0, 10_000_000, "USD0.01")
    amount("minus-cent", 0, -10_000_000, "USD-0.01")
    amount("smallest", 0, 1, "USD0.000000001")
    amount("smallest-negative", 0, -1, "USD-0.000000001")
    amount("units-and-one-nano", 1, 1, "USD1.000000001")
    amount("largest-nanos", 0, 999_999_999, "USD0.999999999", spec="TXT-010 TXT-012")
    amount("smallest-nanos", 0, -999_999_999, "USD-0.999999999", spec="TXT-010 TXT-012")
    amount("largest-units", INT64_MAX, 0, f"USD{INT64_MAX}")
    amount("smallest-units", INT64_MIN, 0, f"USD{INT64_MIN}")
    amount("units-above-double-precision", 2**53 + 1, 500_000_000, "USD9007199254740993.5")
    amount("units-where-billionths-overflow", 9_223_372_037, 0, "USD9223372037",
           "times 10^9 this exceeds int64")  # fmt: skip
    amount("units-where-billionths-fit", 9_223_372_036, 854_775_807, "USD9223372036.854775807")
    for place in range(9):
        nanos = 10**place
        text = "USD3." + f"{nanos:09}".rstrip("0")
        if place not in (0, 8):
            amount(f"nanos-ten-to-the-{place}", 3, nanos, text)
    amount("nanos-inner-zeros", 3, 100_000_001, "USD3.100000001")
    amount("nanos-two-digits-then-zeros", 3, 120_000_000, "USD3.12")

    for code in ("JPY", "AAA", "ZZZ", "XXX"):
        g.add(f"currency-{code.lower()}", money(code, 0, 0), "TXT-010", {"text": code + "0"})
    for slug, code in {
        "currency-lower-case": "usd",
        "currency-mixed-case": "UsD",
        "currency-two-letters": "US",
        "currency-four-letters": "USDT",
        "currency-digit": "US1",
        "currency-number": "840",
        "currency-sign": "$",
        "currency-leading-blank": " USD",
        "currency-trailing-blank": "USD ",
        "currency-blank-inside": "U D",
        "currency-line-feed-after": "USD\n",
        "currency-nul-after": "USD\x00",
        "currency-percent": "US%",
        "currency-at-sign-below-a": "US@",
        "currency-bracket-above-z": "US[",
        "currency-full-width": "\uff35\uff33\uff24",
        "currency-cyrillic": "\u0405US",
        "currency-turkish-capital": "\u0130SK",
        "currency-one-three-byte-letter": "\u20ac",
        "currency-three-blanks": "   ",
    }.items():
        g.add(slug, money(code, 1, 0), "TXT-011", "MONEY_CURRENCY")

    for slug, units, nanos in (
        ("nanos-minus-a-whole-unit", 0, -1_000_000_000),
        ("nanos-above-int32", 0, 2**31),
        ("nanos-below-int32", 0, -(2**31) - 1),
        ("nanos-largest-int32", 0, 2**31 - 1),
        ("nanos-smallest-int32", 0, -(2**31)),
        ("nanos-wrap-int32", 0, 2**32 + 1),
        ("nanos-of-a-whole-unit-without-units", 0, 1_000_000_000),
        ("signs-positive-units-negative-nanos", 1, -1),
        ("signs-negative-units-positive-nanos", -1, 1),
        ("signs-differ-at-the-largest-units", INT64_MAX, -999_999_999),
        ("signs-differ-at-the-smallest-units", INT64_MIN, 999_999_999),
        ("signs-differ-where-a-product-wraps", 2**62, -4),
    ):
        g.add(slug, money("USD", units, nanos), "TXT-012", "MONEY_RANGE")
    for slug, units, nanos in (
        ("units-above-int64", 2**63, 0),
        ("units-below-int64", INT64_MIN - 1, 0),
        ("units-wrap-int64", 2**64 + 1, 0),
        ("units-thirty-digits", 10**29, 0),
        ("nanos-thirty-digits", 0, 10**29),
        ("nanos-thirty-digits-negative", 0, -(10**29)),
    ):
        g.add(slug, money("USD", units, nanos), "CONF-031 CONF-021", "MONEY_RANGE")
    g.add("currency-before-nanos", money("usd", 0, 10**9), "TXT-011 TXT-012", "MONEY_CURRENCY")
    g.add("currency-before-signs", money("", 1, -1), "TXT-011 TXT-012", "MONEY_CURRENCY")
    g.add("currency-before-units", money("usd", 2**63, 0), "TXT-011 CONF-031", "MONEY_CURRENCY")

    good = money("USD", 1, 0)
    g.faults(
        "CONF-021",
        {
            "input-without-currency": without(good, "currency_code"),
            "input-without-units": without(good, "units"),
            "input-without-nanos": without(good, "nanos"),
            "input-unknown-member": {**good, "amount": "1"},
            "input-currency-null": {**good, "currency_code": None},
            "input-currency-a-number": {**good, "currency_code": 840},
            "input-units-a-number": {**good, "units": 1},
            "input-units-empty": {**good, "units": ""},
            "input-units-leading-zero": {**good, "units": "01"},
            "input-units-minus-zero": {**good, "units": "-0"},
            "input-units-plus": {**good, "units": "+1"},
            "input-units-a-fraction": {**good, "units": "1.5"},
            "input-nanos-null": {**good, "nanos": None},
            "input-nanos-padded": {**good, "nanos": "000000001"},
            "input-before-currency": {**good, "currency_code": "usd", "nanos": "01"},
        },
    )
