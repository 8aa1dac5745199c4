"""Decimals: TXT-001 to TXT-007."""

from group import Group

SYNTAX, RANGE, SCALE = "DECIMAL_SYNTAX", "DECIMAL_RANGE", "DECIMAL_SCALE"


def fill(g: Group) -> None:
    def text(slug, written, spec, want=None, note="", max_scale=None):
        value = {"text": written}
        if max_scale is not None:
            value["max_scale"] = str(max_scale)
        if want is not None and want not in (SYNTAX, RANGE, SCALE):
            want = {"text": want}
        g.add(slug, value, spec, want, note)

    # --- plain values
    text("zero", "0", "TXT-003", "0")
    text("one", "1", "TXT-004", "1")
    text("minus-one", "-1", "TXT-004", "-1")
    text("plus-sign-goes", "+1", "TXT-004", "1")
    text("minus-stays-on-a-fraction", "-.5", "TXT-004", "-0.5")
    text("zero-before-the-point", ".5", "TXT-004", "0.5")
    text("point-without-fraction", "5.", "TXT-004", "5")
    text("minus-point-without-fraction", "-5.", "TXT-004", "-5")
    text("ten-keeps-its-zero", "10", "TXT-004", "10")
    text("ten-with-fraction-zeros", "10.00", "TXT-004", "10")
    text("inner-zeros-stay", "1001.1001", "TXT-004", "1001.1001")
    text("fraction-leading-zeros-stay", "0.001", "TXT-004", "0.001")
    text("fraction-trailing-zeros-go", "0.5000", "TXT-004", "0.5")
    text("integer-leading-zeros-go", "00012.5", "TXT-004", "12.5")
    text("leading-zeros-before-the-point", "000.5", "TXT-004", "0.5")
    text("minus-leading-zeros", "-007", "TXT-004", "-7")
    text("one-point-five", "1.50", "TXT-004", "1.5")
    text("float-has-no-tenth", "0.1", "TXT-004", "0.1")
    text("float-sum-of-tenths", "0.30000000000000004", "TXT-004", "0.30000000000000004")
    text("above-double-precision", "9007199254740993", "TXT-004", "9007199254740993")
    text("above-uint64", "18446744073709551616", "TXT-004", "18446744073709551616")
    text("below-int64", "-9223372036854775809", "TXT-004", "-9223372036854775809")
    text("all-digits", "1234567890.0123456789", "TXT-004", "1234567890.0123456789")
    text("largest-double", "1.7976931348623157e308", "TXT-006", RANGE, "a number, and too long")

    # --- zero
    for slug, written in {
        "zero-plus": "+0",
        "zero-point": "0.",
        "zero-fraction": "0.000",
        "zero-negative-fraction": "-0.0",
        "zero-negative-without-integer-digits": "-.0",
        "zero-many-digits": "0000000000",
        "zero-exponent-9999": "0e9999",
        "zero-exponent-minus-9999": "0e-9999",
        "zero-negative-exponent-9999": "-0.00E+9999",
        "zero-exponent-zero": "0e0",
        "zero-exponent-leading-zeros": "0e00000000",
    }.items():
        text(slug, written, "TXT-003", "0")
    text("zero-exponent-10000", "0e10000", "TXT-002", RANGE, "the exponent comes before zero")
    text("zero-exponent-minus-10000", "-0.0e-10000", "TXT-002", RANGE)
    text("zero-with-scale-within-none", "0.00", "TXT-003 TXT-005", "0", max_scale=0,
         note="zero has no fraction digits, however it is written")  # fmt: skip
    text("zero-exponent-minus-9999-with-scale", "0e-9999", "TXT-003 TXT-005", "0", max_scale=0)

    # --- exponents
    text("exponent-lower-case", "12e2", "TXT-004", "1200")
    text("exponent-upper-case", "12E2", "TXT-004", "1200")
    text("exponent-minus", "12e-1", "TXT-004", "1.2")
    text("exponent-zero", "12e0", "TXT-004", "12")
    text("exponent-minus-zero", "12e-0", "TXT-004", "12")
    text("exponent-plus-zero", "12e+0", "TXT-004", "12")
    text("exponent-moves-within-the-fraction", "1.234e2", "TXT-004", "123.4")
    text("exponent-ends-the-fraction", "1.234e3", "TXT-004", "1234")
    text("exponent-past-the-fraction", "1.234e4", "TXT-004", "12340")
    text("exponent-minus-into-the-digits", "1234e-2", "TXT-004", "12.34")
    text("exponent-minus-past-the-digits", "1234e-4", "TXT-004", "0.1234")
    text("exponent-minus-beyond-the-digits", "1234e-6", "TXT-004", "0.001234")
    text("exponent-minus-leaves-trailing-zeros", "1200e-1", "TXT-004", "120")
    text("exponent-minus-removes-trailing-zeros", "1200e-2", "TXT-004", "12")
    text("exponent-of-a-negative-value", "-1.5e3", "TXT-004", "-1500")
    text("exponent-of-a-small-negative-value", "-1.5e-3", "TXT-004", "-0.0015")
    text("exponent-leading-zeros", "1e0000000000000000000005", "TXT-002 TXT-004", "100000")
    text("exponent-minus-leading-zeros", "1e-000000005", "TXT-002 TXT-004", "0.00001")
    text("exponent-four-digits-leading-zeros", "1e00009999", "TXT-006", RANGE)
    text("exponent-cancels-leading-fraction-zeros", f"0.{'0' * 300}1e301", "TXT-004", "1")
    text("exponent-cancels-trailing-integer-zeros", f"1{'0' * 300}e-300", "TXT-004", "1")
    text("exponent-9999-cancelled", f"0.{'0' * 9998}1e9999", "TXT-004 TXT-007", "1")
    text("exponent-minus-9999-cancelled", f"1{'0' * 9999}e-9999", "TXT-004 TXT-007", "1")
    text("exponent-9999", "1E9999", "TXT-006", RANGE)
    text("exponent-minus-9999", "1e-9999", "TXT-006", RANGE)
    text("exponent-10000", "1e10000", "TXT-002", RANGE)
    text("exponent-minus-10000", "1e-10000", "TXT-002", RANGE)
    text("exponent-10000-cancelled", f"0.{'0' * 9999}1e10000", "TXT-002", RANGE,
         "the exponent's length is looked at, not the value")  # fmt: skip
    text("exponent-minus-10000-cancelled", f"1{'0' * 10000}e-10000", "TXT-002", RANGE)
    text("exponent-wraps-int32", "1e4294967298", "TXT-002", RANGE, "2^32 + 2")
    text("exponent-wraps-int64", "1e18446744073709551618", "TXT-002", RANGE, "2^64 + 2")
    text("exponent-minus-wraps-int32", "1e-4294967298", "TXT-002", RANGE)
    text("exponent-forty-digits", f"1e{'9' * 40}", "TXT-002", RANGE)
    text("exponent-99999", "1e99999", "TXT-002", RANGE)

    # --- length: 256 bytes, sign and point count
    ones = "1" * 300
    for length in (255, 256, 257):
        want = RANGE if length > 256 else ...
        plain = {
            "integer": ones[:length],
            "negative-integer": "-" + ones[: length - 1],
            "fraction": "0." + ones[: length - 2],
            "negative-fraction": "-0." + ones[: length - 3],
            "both-parts": "12345." + ones[: length - 6],
        }
        for kind, written in plain.items():
            text(f"length-{length}-{kind}", written, "TXT-006", written if want is ... else want)
    text("length-256-by-exponent", "1e255", "TXT-006", "1" + "0" * 255)
    text("length-257-by-exponent", "1e256", "TXT-006", RANGE)
    text("length-256-negative-by-exponent", "-1e254", "TXT-006", "-1" + "0" * 254)
    text("length-257-negative-by-exponent", "-1e255", "TXT-006", RANGE)
    text("length-256-by-negative-exponent", "1e-254", "TXT-006", "0." + "0" * 253 + "1")
    text("length-257-by-negative-exponent", "1e-255", "TXT-006", RANGE)
    text("length-256-negative-by-negative-exponent", "-1e-253", "TXT-006", "-0." + "0" * 252 + "1")
    text("length-257-negative-by-negative-exponent", "-1e-254", "TXT-006", RANGE)
    text("length-256-of-digits-and-exponent", f"{ones[:200]}e56", "TXT-006")
    text("length-257-of-digits-and-exponent", f"{ones[:200]}e57", "TXT-006", RANGE)
    text(
        "length-301-within-the-largest-scale",
        f"{ones[:100]}.{ones[:200]}",
        "TXT-006",
        RANGE,
        max_scale=255,
    )
    text("length-counts-after-trailing-zeros", f"1.{'0' * 400}", "TXT-004 TXT-006", "1")
    text("length-counts-after-leading-zeros", f"{'0' * 400}1", "TXT-006 TXT-007", "1")
    text("length-counts-trailing-integer-zeros", f"1{'0' * 256}", "TXT-006", RANGE)
    text("length-counts-leading-fraction-zeros", f"0.{'0' * 254}1", "TXT-006", RANGE)
    text("leading-zeros-500", f"{'0' * 500}7.25", "TXT-007", "7.25")
    text("leading-zeros-5000", f"{'0' * 5000}7", "TXT-007", "7")
    text("trailing-zeros-5000", f"7.{'0' * 5000}", "TXT-007", "7")
    text("zeros-5000-on-both-sides", f"{'0' * 5000}.{'0' * 5000}", "TXT-003 TXT-007", "0")

    # --- max_scale
    for scale in (0, 1, 2, 9, 255):
        digits = "1" * min(scale, 200)
        number = f"7.{digits}" if digits else "7"
        if scale < 255:
            text(f"scale-{scale}-reached", number, "TXT-005", number, max_scale=scale)
            more = number + "1" if digits else number + ".1"
            text(f"scale-{scale}-exceeded", more, "TXT-005", SCALE, max_scale=scale)
        zeros = number + ("00" if digits else ".00")
        text(
            f"scale-{scale}-after-trailing-zeros", zeros, "TXT-004 TXT-005", number, max_scale=scale
        )
    text("scale-counts-after-the-exponent", "1.234e2", "TXT-005", "123.4", max_scale=1)
    text("scale-counts-after-a-negative-exponent", "12e-3", "TXT-005", SCALE, max_scale=2)
    text("scale-exceeded-by-exponent-alone", "1e-1", "TXT-005", SCALE, max_scale=0)
    text("scale-of-an-integer-by-exponent", "1.5e1", "TXT-005", "15", max_scale=0)
    text("scale-is-never-rounded-up", "0.999", "TXT-005", SCALE, max_scale=2)
    text("scale-is-never-rounded-down", "0.001", "TXT-005", SCALE, max_scale=2)
    text("scale-of-a-negative-value", "-1.25", "TXT-005", SCALE, max_scale=1)
    text("scale-254-within-255", "1e-254", "TXT-005 TXT-006", "0." + "0" * 253 + "1", max_scale=255)
    text("scale-before-length", "1e-300", "TXT-005 TXT-006", SCALE, max_scale=255)
    text("scale-before-length-at-four-digits", "1e-9999", "TXT-005 TXT-006", SCALE, max_scale=2)
    text("scale-255-is-too-long", "1e-255", "TXT-005 TXT-006", RANGE, max_scale=255)
    text("length-with-scale-reached", f"{ones[:255]}.5", "TXT-005 TXT-006", RANGE, max_scale=1)
    text("exponent-before-scale", "1e-10000", "TXT-002 TXT-005", RANGE, max_scale=0)
    text("syntax-before-scale", "1.2345x", "TXT-001 TXT-005", SYNTAX, max_scale=2)
    text("syntax-before-exponent", "1e99999x", "TXT-001 TXT-002", SYNTAX)
    text("syntax-before-length", f"{ones}x", "TXT-001 TXT-006", SYNTAX)
    text("syntax-after-zero", "0x", "TXT-001 TXT-003", SYNTAX)

    # --- syntax, one fault each
    for slug, written in {
        "empty": "",
        "sign-alone": "-",
        "plus-alone": "+",
        "minus-point": "-.",
        "exponent-alone": "e5",
        "sign-and-exponent-alone": "-e5",
        "point-and-exponent": ".e5",
        "exponent-without-digits": "1e",
        "exponent-minus-without-digits": "1e-",
        "exponent-with-two-signs": "1e+-1",
        "exponent-twice": "1e1e1",
        "exponent-with-a-point": "1e1.5",
        "exponent-with-a-blank": "1e 1",
        "exponent-letter-d": "1d1",
        "exponent-letter-p": "1p1",
        "exponent-caret": "1^5",
        "exponent-times-ten": "1x10^5",
        "plus-and-minus": "+-1",
        "minus-and-plus": "-+1",
        "sign-after-the-digits": "1-",
        "sign-inside": "1-1",
        "blank-after-the-sign": "- 1",
        "blank-inside": "1 000",
        "blank-alone": " ",
        "tab-before": "\t1",
        "tab-after": "1\t",
        "line-feed-before": "\n1",
        "line-feed-alone": "\n",
        "carriage-return-after": "1\r",
        "form-feed-after": "1\f",
        "vertical-tab-after": "1\v",
        "line-feed-inside": "1\n2",
        "nul-before": "\x001",
        "no-break-space-after": "1\u00a0",
        "ideographic-space-before": "\u30001",
        "line-separator-after": "1\u2028",
        "zero-width-space-after": "1\u200b",
        "byte-order-mark-before": "\ufeff1",
        "point-then-sign": ".-5",
        "three-points": "1.2.3",
        "two-points-at-the-end": "1..",
        "underscore": "1_000",
        "apostrophe": "1'000",
        "arabic-decimal-separator": "1\u066b5",
        "middle-dot": "1\u00b75",
        "full-stop-full-width": "1\uff0e5",
        "minus-full-width": "\uff0d1",
        "plus-full-width": "\uff0b1",
        "en-dash": "\u20131",
        "hyphen-non-breaking": "\u20111",
        "devanagari-digit": "\u0967",
        "mathematical-digit": "\U0001d7ce",
        "superscript-two": "1\u00b2",
        "circled-digit": "\u2460",
        "roman-numeral": "\u2160",
        "one-half": "\u00bd",
        "arabic-digit-in-the-exponent": "1e\u0661",
        "arabic-digit-in-the-fraction": "1.\u0665",
        "digit-with-combining-mark": "1\u0301",
        "nan": "NaN",
        "nan-lower-case": "nan",
        "infinity": "Infinity",
        "infinity-short": "inf",
        "infinity-negative": "-Infinity",
        "infinity-sign": "\u221e",
        "null": "null",
        "true": "true",
        "hexadecimal": "0x10",
        "hexadecimal-float": "0x1p4",
        "octal": "0o17",
        "binary": "0b101",
        "float-suffix": "1f",
        "long-suffix": "1L",
        "big-suffix": "1n",
        "decimal-suffix": "1m",
        "currency-sign": "$1",
        "currency-code": "USD1",
        "per-cent": "1%",
        "parentheses": "(1)",
        "quotes": '"1"',
        "fraction-bar": "1/2",
        "hash-sign": "#1",
        "colon": "1:2",
        "semicolon": "1;2",
        "slash-below-the-digits": "/",
        "slash-in-a-fraction": "1.5/",
        "colon-in-a-fraction": "1.5:",
        "slash-in-an-exponent": "1e5/",
        "colon-in-an-exponent": "1e5:",
        "colon-alone": ":",
        "letters": "abc",
        "words": "one",
    }.items():
        text(slug, written, "TXT-001", SYNTAX)

    # --- the same as bytes
    def octets(slug, raw, spec, want):
        if want not in (SYNTAX, RANGE):
            want = {"text": want}
        g.add(slug, {"hex": raw.hex()}, spec, want)

    octets("hex-plain", b"1.50", "TXT-004", "1.5")
    octets("hex-empty", b"", "TXT-001", SYNTAX)
    octets("hex-range", b"1e256", "TXT-006", RANGE)
    octets("hex-byte-ff", b"1\xff", "TXT-001 GEN-004", SYNTAX)
    octets("hex-byte-ff-alone", b"\xff", "TXT-001 GEN-004", SYNTAX)
    octets("hex-cut-sequence", b"1\xd9", "TXT-001 GEN-004", SYNTAX)
    octets("hex-overlong-digit", b"\xc0\xb1", "TXT-001 GEN-004", SYNTAX)
    octets("hex-high-bit-digit", b"\xb1", "TXT-001 GEN-004", SYNTAX)
    octets("hex-surrogate", b"1\xed\xa0\x80", "TXT-001 GEN-004", SYNTAX)
    octets("hex-utf16", b"\x001\x00.\x005", "TXT-001", SYNTAX)
    octets("hex-latin1-no-break-space", b"1\xa0", "TXT-001 GEN-004", SYNTAX)
    octets("hex-nul-terminated", b"1.5\x00", "TXT-001", SYNTAX)
    g.add("hex-with-scale", {"hex": "312e3235", "max_scale": "1"}, "TXT-005", SCALE)

    # --- no known shape
    g.faults(
        "CONF-021",
        {
            "input-without-text": {},
            "input-scale-alone": {"max_scale": "2"},
            "input-text-and-hex": {"text": "1", "hex": "31"},
            "input-unknown-member": {"text": "1", "scale": "2"},
            "input-text-a-number": {"text": 1},
            "input-text-null": {"text": None},
            "input-text-a-boolean": {"text": True},
            "input-text-a-list": {"text": ["1"]},
            "input-scale-256": {"text": "1", "max_scale": "256"},
            "input-scale-minus-one": {"text": "1", "max_scale": "-1"},
            "input-scale-huge": {"text": "1", "max_scale": "18446744073709551616"},
            "input-scale-a-number": {"text": "1", "max_scale": 2},
            "input-scale-null": {"text": "1", "max_scale": None},
            "input-before-syntax": {"text": "x", "max_scale": "256"},
        },
    )
    g.faults(
        "CONF-020 CONF-021",
        {
            "input-scale-leading-zero": {"text": "1", "max_scale": "02"},
            "input-scale-plus": {"text": "1", "max_scale": "+2"},
            "input-scale-minus-zero": {"text": "1", "max_scale": "-0"},
            "input-scale-empty": {"text": "1", "max_scale": ""},
            "input-scale-blank": {"text": "1", "max_scale": " 2"},
            "input-scale-fraction": {"text": "1", "max_scale": "2.0"},
            "input-scale-exponent": {"text": "1", "max_scale": "2e0"},
            "input-scale-line-feed": {"text": "1", "max_scale": "2\n"},
            "input-scale-arabic": {"text": "1", "max_scale": "\u0662"},
            "input-hex-odd": {"hex": "3"},
            "input-hex-upper-case": {"hex": "3A"},
            "input-hex-no-hex": {"hex": "3g"},
            "input-hex-prefix": {"hex": "0x31"},
            "input-hex-blank": {"hex": "31 "},
            "input-hex-line-feed": {"hex": "31\n"},
        },
    )
