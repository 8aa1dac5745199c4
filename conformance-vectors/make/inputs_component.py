"""Components: KEY-001 to KEY-005, TXT-050 to TXT-054 and TXT-070, GEN-004, CONF-030."""

import hashlib

from group import Group

TYPES = {
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


def sha(text: str) -> dict[str, str]:
    return {"text": hashlib.sha256(text.encode()).hexdigest()[:32]}


def fill(g: Group) -> None:
    def text(slug, value, want, spec="KEY-001", note=""):
        known = isinstance(want, str) and want.isupper() and "_" in want
        g.add(slug, value, spec, want if known else {"text": want}, note)

    # --- strings and escaping
    text("string-plain", {"string": "order-17"}, "order-17")
    text("string-empty", {"string": ""}, "", "KEY-001 TXT-070")
    text("string-every-plain-byte",
         {"string": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"},
         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")  # fmt: skip
    names = {
        " ": "blank", "!": "exclamation-mark", '"': "quote", "#": "hash-sign", "$": "dollar",
        "%": "percent", "&": "ampersand", "'": "apostrophe", "(": "parenthesis-open",
        ")": "parenthesis-close", "*": "asterisk", "+": "plus", ",": "comma", "/": "slash",
        ":": "colon", ";": "semicolon", "<": "less-than", "=": "equals", ">": "greater-than",
        "?": "question-mark", "@": "at-sign", "[": "bracket-open", "\\": "backslash",
        "]": "bracket-close", "^": "caret", "`": "backtick", "{": "brace-open", "|": "bar",
        "}": "brace-close", "~": "tilde",
    }  # fmt: skip
    for mark, name in names.items():
        text(f"string-{name}", {"string": f"a{mark}b"}, f"a%{ord(mark):02X}b",
             "KEY-001 KEY-005" if mark == "~" else "KEY-001")  # fmt: skip
    for code, name in (
        (0, "nul"), (1, "start-of-heading"), (9, "tab"), (10, "line-feed"), (13, "carriage-return"),
        (31, "unit-separator"), (127, "delete"),
    ):  # fmt: skip
        text(f"string-{name}", {"string": chr(code)}, f"%{code:02X}")
    text("string-escape-is-upper-case", {"string": "\u00ff"}, "%C3%BF")
    text("string-is-escaped-once", {"string": "%2F"}, "%252F", note="no escape is recognised")
    text("string-absence-cannot-be-forged", {"string": "~"}, "%7E", "KEY-001 KEY-005")
    text("string-separator-cannot-be-forged", {"string": ":"}, "%3A")
    text("string-path", {"string": "p/17"}, "p%2F17")
    text("string-e-acute", {"string": "caf\u00e9"}, "caf%C3%A9", "KEY-001 GEN-004")
    text("string-e-acute-decomposed", {"string": "cafe\u0301"}, "cafe%CC%81", "KEY-001 GEN-004",
         "not normalised: another text than caf\u00e9")  # fmt: skip
    text("string-angstrom-sign", {"string": "\u212b"}, "%E2%84%AB", "KEY-001 GEN-004",
         "not normalised to U+00C5")  # fmt: skip
    text("string-ligature", {"string": "\ufb01"}, "%EF%AC%81", "KEY-001 GEN-004")
    text("string-han", {"string": "\u8a02\u55ae"}, "%E8%A8%82%E5%96%AE")
    text("string-emoji-family", {"string": "\U0001f468\u200d\U0001f469"},
         "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9")  # fmt: skip
    text("string-full-width-digit", {"string": "\uff11"}, "%EF%BC%91", "KEY-001 GEN-004",
         "not a digit of the plain bytes")  # fmt: skip
    text("string-arabic-digit", {"string": "\u0661"}, "%D9%A1", "KEY-001 GEN-005")
    text("string-dotless-i", {"string": "\u0131"}, "%C4%B1", "KEY-001 GEN-004")
    text("string-trailing-blank", {"string": "a "}, "a%20", "KEY-001 GEN-004")
    text("string-no-break-space", {"string": "\u00a0a"}, "%C2%A0a", "KEY-001 GEN-004")
    text("string-line-separator", {"string": "\u2028"}, "%E2%80%A8")
    text("string-replacement-character", {"string": "\ufffd"}, "%EF%BF%BD", "GEN-004",
         "it is a character like others, and no sign of ill-formed text")  # fmt: skip
    text("string-private-use", {"string": "\ue000"}, "%EE%80%80", "TXT-070")
    text("string-noncharacter-fdd0", {"string": "\ufdd0"}, "%EF%B7%90", "TXT-070")
    text("string-byte-order-mark-alone", {"string": "\ufeff"}, "%EF%BB%BF", "TXT-070")
    text("string-looks-like-a-number", {"string": "007"}, "007", "TXT-070")
    text("string-looks-like-a-decimal", {"string": "1.50"}, "1.50", "TXT-070")
    text(
        "string-of-two-thousand-bytes",
        {"string": "a" * 2000},
        "a" * 2000,
        note="a key is bounded, a component is not",
    )
    text(
        "string-slash-after-1024-plain-bytes",
        {"string": "a" * 1024 + "/"},
        "a" * 1024 + "%2F",
        note="what is beyond the longest key is escaped too",
    )
    for slug, last in {
        "7f": "\x7f", "80": "\x80", "7ff": "\u07ff", "800": "\u0800", "d7ff": "\ud7ff",
        "ffff": "\uffff", "10000": "\U00010000", "10ffff": "\U0010ffff",
    }.items():  # fmt: skip
        if slug in ("7f", "ffff"):
            continue  # delete and the noncharacter, above and in the reports
        escaped = "".join(f"%{byte:02X}" for byte in last.encode())
        text(f"string-scalar-{slug}", {"string": last}, escaped, "KEY-001 TXT-070")

    # --- UTF-8 as bytes
    text("utf8-plain", {"hex_utf8": "6f2d3137"}, "o-17", "TXT-070")
    text("utf8-first-two-bytes", {"hex_utf8": "c280"}, "%C2%80", "GEN-004")
    text("utf8-first-three-bytes", {"hex_utf8": "e0a080"}, "%E0%A0%80", "GEN-004")
    text("utf8-before-the-surrogates", {"hex_utf8": "ed9fbf"}, "%ED%9F%BF", "GEN-004")
    text("utf8-after-the-surrogates", {"hex_utf8": "ee8080"}, "%EE%80%80", "GEN-004")
    text("utf8-first-four-bytes", {"hex_utf8": "f0908080"}, "%F0%90%80%80", "GEN-004")
    text("utf8-last-scalar", {"hex_utf8": "f48fbfbf"}, "%F4%8F%BF%BF", "GEN-004")
    for slug, raw in {
        "overlong-two-bytes": "c1bf",
        "overlong-slash": "c0af",
        "overlong-three-bytes": "e09fbf",
        "overlong-slash-in-three": "e080af",
        "overlong-four-bytes": "f08fbfbf",
        "overlong-nul-in-four": "f0808080",
        "low-surrogate": "edb080",
        "last-surrogate": "edbfbf",
        "first-above-10ffff": "f4908081",
        "byte-f5": "f5808080",
        "byte-f7": "f7bfbfbf",
        "five-bytes": "f888808080",
        "six-bytes": "fc8480808080",
        "byte-fe": "fe",
        "cut-two-bytes": "c3",
        "cut-three-bytes-after-one": "e2",
        "cut-three-bytes-after-two": "e282",
        "cut-four-bytes-after-three": "f09f98",
        "cut-in-the-middle": "61c362",
        "cut-then-another": "e282e282ac",
        "cut-at-the-end-of-text": "6f72646572c3",
        "continuation-after-ascii": "6180",
        "continuation-too-many": "c3a980",
        "continuation-range-above": "c3c0",
        "continuation-range-below": "c37f",
        "second-byte-of-e0-too-low": "e08080",
        "second-byte-of-f0-too-low": "f08f8080",
        "third-byte-no-continuation": "e28241",
        "fourth-byte-no-continuation": "f09f9841",
        "latin1": "636166e9",
        "windows-1252-quote": "93",
        "utf16-with-mark": "fffe6100",
        "lone-after-good-text": "c3a9ff",
    }.items():
        text(f"utf8-{slug}", {"hex_utf8": raw}, "STRING_UTF8", "GEN-004")

    # --- UTF-16
    text("utf16-empty", {"utf16": []}, "", "GEN-004 TXT-070")
    text("utf16-plain", {"utf16": ["006f", "002d", "0031"]}, "o-1", "GEN-004")
    text("utf16-two-bytes", {"utf16": ["00e9"]}, "%C3%A9", "GEN-004")
    text("utf16-three-bytes", {"utf16": ["20ac"]}, "%E2%82%AC", "GEN-004")
    text("utf16-before-the-surrogates", {"utf16": ["d7ff"]}, "%ED%9F%BF", "GEN-004")
    text("utf16-after-the-surrogates", {"utf16": ["e000"]}, "%EE%80%80", "GEN-004")
    text("utf16-first-pair", {"utf16": ["d800", "dc00"]}, "%F0%90%80%80", "GEN-004")
    text("utf16-last-pair", {"utf16": ["dbff", "dfff"]}, "%F4%8F%BF%BF", "GEN-004")
    text("utf16-byte-order-mark", {"utf16": ["feff", "0061"]}, "%EF%BB%BFa", "GEN-004 TXT-070")
    text("utf16-swapped-byte-order-mark", {"utf16": ["fffe"]}, "%EF%BF%BE", "GEN-004 TXT-070")
    text("utf16-nul", {"utf16": ["0000"]}, "%00", "GEN-004")
    text("utf16-two-pairs", {"utf16": ["d83d", "de00", "d83d", "de01"]},
         "%F0%9F%98%80%F0%9F%98%81", "GEN-004")  # fmt: skip
    for slug, units in {
        "high-alone": ["d83d"],
        "low-alone": ["de00"],
        "low-first": ["de00", "d83d"],
        "two-highs": ["d83d", "d83d"],
        "two-highs-then-low": ["d83d", "d83d", "de00"],
        "two-lows-after-high": ["d83d", "de00", "de00"],
        "high-before-text": ["d83d", "0061"],
        "low-after-text": ["0061", "de00"],
        "high-before-e000": ["d83d", "e000"],
        "high-before-dbff": ["d800", "dbff"],
        "lowest-high": ["d800"],
        "highest-low": ["dfff"],
        "escaped-byte": ["dcff"],
    }.items():
        text(f"utf16-{slug}", {"utf16": units}, "STRING_UTF8", "GEN-004")

    # --- bytes, booleans, enums
    text("bytes-plain", {"bytes": "deadbeef"}, "deadbeef", "TXT-054")
    text("bytes-empty", {"bytes": ""}, "", "TXT-054")
    text("bytes-leading-zero-digit", {"bytes": "00ff0a"}, "00ff0a", "TXT-054")
    text("bytes-of-text", {"bytes": "61"}, "61", "TXT-054", "the digits, not the letter")
    text("bytes-ill-formed-utf8", {"bytes": "c0"}, "c0", "TXT-054")
    text("bytes-nul", {"bytes": "00"}, "00", "TXT-054")
    text("bytes-every-digit", {"bytes": "0123456789abcdef"}, "0123456789abcdef", "TXT-054")
    text("bool-true", {"bool": True}, "true", "TXT-052")
    text("bool-false", {"bool": False}, "false", "TXT-052")
    for slug, number in (
        ("zero", 0), ("one", 1), ("minus-one", -1), ("largest", 2**31 - 1), ("smallest", -(2**31)),
    ):  # fmt: skip
        text(f"enum-{slug}", {"enum": str(number)}, str(number), "TXT-053")
    for slug, number in (
        ("above-int32", 2**31), ("below-int32", -(2**31) - 1), ("wraps-int32", 2**32 + 1),
        ("all-ones-unsigned", 2**32 - 1), ("thirty-digits", 10**29),
    ):  # fmt: skip
        text(f"enum-{slug}", {"enum": str(number)}, "INT_RANGE", "TXT-053 CONF-031")

    # --- integers
    for name, (lowest, highest) in TYPES.items():

        def integer(slug, number, want, spec, name=name):
            value = {"int": {"type": name, "value": str(number)}}
            text(f"{name}-{slug}", value, want, spec)

        integer("zero", 0, "0", "TXT-050")
        integer("largest", highest, str(highest), "TXT-050")
        integer("above-largest", highest + 1, "INT_RANGE", "TXT-051 CONF-031")
        integer("below-smallest", lowest - 1, "INT_RANGE", "TXT-051 CONF-031")
        if lowest < 0:
            if name != "sint32":
                integer("smallest", lowest, str(lowest), "TXT-050")
            if name not in ("int32", "sint64"):
                integer("minus-one", -1, "-1", "TXT-050")
        width = 2 ** (32 if name.endswith("32") else 64)
        integer("wraps", width + 1, "INT_RANGE", "TXT-051")
        integer("wraps-negative", -width + 1, "INT_RANGE", "TXT-051")
        integer("thirty-digits", 10**29, "INT_RANGE", "TXT-051 CONF-021")
    text("int64-minus-thousand", {"int": {"type": "int64", "value": "-1000"}}, "-1000", "TXT-050")
    text("int64-below-double-precision", {"int": {"type": "int64", "value": "-9007199254740993"}},
         "-9007199254740993", "TXT-050")  # fmt: skip

    # --- values of other operations
    text("decimal-plain", {"decimal": {"text": "1.50"}}, "1.5", "KEY-001 TXT-004")
    text("decimal-negative", {"decimal": {"text": "-1.50"}}, "-1.5", "KEY-001 TXT-004")
    text("decimal-with-scale", {"decimal": {"text": "1.50", "max_scale": "2"}}, "1.5", "TXT-005")
    text("decimal-hex", {"decimal": {"hex": "312e3530"}}, "1.5", "TXT-004")
    text(
        "decimal-scale-exceeded",
        {"decimal": {"text": "1.555", "max_scale": "2"}},
        "DECIMAL_SCALE",
        "TXT-005",
    )
    text("decimal-syntax", {"decimal": {"text": ""}}, "DECIMAL_SYNTAX", "TXT-001 TXT-008")
    text("decimal-range", {"decimal": {"text": "1e300"}}, "DECIMAL_RANGE", "TXT-006")
    dollars = {"currency_code": "USD", "units": "10", "nanos": "500000000"}
    text("money-plain", {"money": dollars}, "USD10.5", "KEY-001 TXT-010")
    text(
        "money-negative",
        {"money": {**dollars, "units": "0", "nanos": "-1"}},
        "USD-0.000000001",
        "TXT-010",
    )
    text(
        "money-currency",
        {"money": {**dollars, "currency_code": "usd"}},
        "MONEY_CURRENCY",
        "TXT-011",
    )
    text("money-range", {"money": {**dollars, "nanos": "-1"}}, "MONEY_RANGE", "TXT-012")
    moment = {"seconds": "1735704000", "nanos": "0", "fraction_digits": "3"}
    text("timestamp-is-not-escaped", {"timestamp": moment}, "2025-01-01T04:00:00.000Z", "KEY-002")
    text("timestamp-text-is-not-escaped", {"timestamp": {"rfc3339": "2025-01-01T05:00:00+01:00", "fraction_digits": "0"}},
         "2025-01-01T04:00:00Z", "KEY-002")  # fmt: skip
    text("timestamp-epoch-is-not-escaped", {"timestamp": {"epoch": "0", "unit": "ms", "fraction_digits": "3"}},
         "1970-01-01T00:00:00.000Z", "KEY-002")  # fmt: skip
    text("timestamp-as-a-string-is-escaped", {"string": "2025-01-01T04:00:00.000Z"},
         "2025-01-01T04%3A00%3A00.000Z", "KEY-001 KEY-002")  # fmt: skip
    text(
        "timestamp-syntax",
        {"timestamp": {"rfc3339": "2025", "fraction_digits": "0"}},
        "TIMESTAMP_SYNTAX",
        "TXT-024",
    )
    text("timestamp-range", {"timestamp": {**moment, "nanos": "-1"}}, "TIMESTAMP_RANGE", "TXT-022")
    text("timestamp-epoch-range", {"timestamp": {"epoch": str(2**64), "unit": "ns", "fraction_digits": "0"}},
         "INT_RANGE", "TXT-023")  # fmt: skip
    text("duration-plain", {"duration": {"seconds": "-1", "nanos": "-500000000", "fraction_digits": "3"}},
         "-1.500s", "KEY-001 TXT-030")  # fmt: skip
    text("duration-range", {"duration": {"seconds": "1", "nanos": "-1", "fraction_digits": "3"}},
         "DURATION_RANGE", "TXT-032")  # fmt: skip
    text(
        "date-plain",
        {"date": {"year": "2025", "month": "1", "day": "1"}},
        "2025-01-01",
        "KEY-001 TXT-040",
    )
    text(
        "date-range", {"date": {"year": "2025", "month": "1", "day": "0"}}, "DATE_RANGE", "TXT-040"
    )
    identifier = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"
    text("uuid-plain", {"uuid": {"text": identifier}}, identifier.lower(), "KEY-001 TXT-060")
    text("uuid-syntax", {"uuid": {"text": "nil"}}, "UUID_SYNTAX", "TXT-060")

    # --- missing
    text("absent", {"absent": True}, "~", "KEY-005")
    text("missing", {"missing": True}, "KEY_COMPONENT_MISSING", "KEY-004")

    # --- digests
    def digest(slug, inner, want, spec="KEY-003"):
        g.add(f"sha256-{slug}", {"sha256": inner}, spec, sha(want) if want is not None else None)

    digest("string", {"string": "secret"}, "secret")
    digest("empty", {"string": ""}, "")
    digest("string-before-escaping", {"string": "p/17"}, "p/17")
    digest("string-of-two-byte-letters", {"string": "caf\u00e9"}, "caf\u00e9")
    digest("string-emoji", {"string": "\U0001f600"}, "\U0001f600")
    digest("tilde", {"string": "~"}, "~")
    digest("block-of-55-bytes", {"string": "a" * 55}, "a" * 55)
    digest("block-of-56-bytes", {"string": "a" * 56}, "a" * 56)
    digest("block-of-64-bytes", {"string": "a" * 64}, "a" * 64)
    digest("two-thousand-bytes", {"string": "a" * 2000}, "a" * 2000)
    digest("hex-utf8", {"hex_utf8": "c3a9"}, "\u00e9")
    digest("utf16", {"utf16": ["d83d", "de00"]}, "\U0001f600")
    digest("bytes-are-digested-as-digits", {"bytes": "deadbeef"}, "deadbeef")
    digest("bool", {"bool": True}, "true")
    digest("enum", {"enum": "-1"}, "-1")
    digest("int", {"int": {"type": "uint64", "value": str(2**64 - 1)}}, str(2**64 - 1))
    digest("decimal-is-canonical-first", {"decimal": {"text": "1.50"}}, "1.5", "KEY-003 TXT-004")
    digest("money", {"money": dollars}, "USD10.5")
    digest("timestamp", {"timestamp": moment}, "2025-01-01T04:00:00.000Z")
    digest("duration", {"duration": {"seconds": "1", "nanos": "0", "fraction_digits": "0"}}, "1s")
    digest("date", {"date": {"year": "2025", "month": "1", "day": "1"}}, "2025-01-01")
    digest("uuid", {"uuid": {"text": identifier}}, identifier.lower())
    text("sha256-absent", {"sha256": {"absent": True}}, "~", "KEY-005")
    for slug, inner, code, spec in (
        ("missing", {"missing": True}, "KEY_COMPONENT_MISSING", "KEY-004"),
        ("ill-formed", {"hex_utf8": "ff"}, "STRING_UTF8", "GEN-004"),
        ("half-a-pair", {"utf16": ["d83d"]}, "STRING_UTF8", "GEN-004"),
        ("decimal-syntax", {"decimal": {"text": "x"}}, "DECIMAL_SYNTAX", "TXT-001"),
        ("enum-range", {"enum": str(2**31)}, "INT_RANGE", "TXT-053"),
        ("date-range", {"date": {"year": "0", "month": "1", "day": "1"}}, "DATE_RANGE", "TXT-040"),
    ):
        g.add(f"sha256-{slug}", {"sha256": inner}, f"{spec} KEY-003", code)

    # --- no known shape
    g.faults(
        "CONF-021 CONF-030",
        {
            "input-empty": {},
            "input-two-members": {"string": "a", "bytes": "61"},
            "input-two-kinds-of-text": {"string": "a", "hex_utf8": "61"},
            "input-unknown-member": {"text": "a"},
            "input-unknown-option": {"string": "a", "max_scale": "2"},
            "input-float": {"float": "1.5"},
            "input-string-null": {"string": None},
            "input-string-a-number": {"string": 1},
            "input-bool-text": {"bool": "true"},
            "input-bool-number": {"bool": 1},
            "input-bool-null": {"bool": None},
            "input-enum-number": {"enum": 1},
            "input-enum-name": {"enum": "ACTIVE"},
            "input-enum-leading-zero": {"enum": "01"},
            "input-bytes-odd": {"bytes": "0"},
            "input-bytes-upper-case": {"bytes": "FF"},
            "input-utf8-odd": {"hex_utf8": "c3a"},
            "input-utf16-text": {"utf16": "d83dde00"},
            "input-utf16-short-unit": {"utf16": ["d83"]},
            "input-utf16-long-unit": {"utf16": ["0d83d"]},
            "input-utf16-number": {"utf16": [55357]},
            "input-utf16-no-hex": {"utf16": ["d83g"]},
            "input-utf16-upper-case": {"utf16": ["D83D", "DE00"]},
            "input-int-text": {"int": "1"},
            "input-int-without-type": {"int": {"value": "1"}},
            "input-int-without-value": {"int": {"type": "int32"}},
            "input-int-unknown-type": {"int": {"type": "int16", "value": "1"}},
            "input-int-float-type": {"int": {"type": "double", "value": "1"}},
            "input-int-type-upper-case": {"int": {"type": "INT32", "value": "1"}},
            "input-int-minus-zero": {"int": {"type": "int32", "value": "-0"}},
            "input-int-number": {"int": {"type": "int32", "value": 1}},
            "input-int-unknown-member": {"int": {"type": "int32", "value": "1", "base": "10"}},
            "input-absent-false": {"absent": False},
            "input-absent-text": {"absent": "true"},
            "input-missing-false": {"missing": False},
            "input-decimal-text": {"decimal": "1.5"},
            "input-decimal-two-forms": {"decimal": {"text": "1", "hex": "31"}},
            "input-timestamp-without-digits": {"timestamp": {"seconds": "0", "nanos": "0"}},
            "input-date-padded": {"date": {"year": "2025", "month": "01", "day": "1"}},
            "input-uuid-text": {"uuid": identifier},
            "input-sha256-text": {"sha256": "secret"},
            "input-sha256-empty": {"sha256": {}},
            "input-sha256-of-sha256": {"sha256": {"sha256": {"string": "a"}}},
            "input-sha256-of-two": {"sha256": {"string": "a", "bytes": "61"}},
        },
    )
