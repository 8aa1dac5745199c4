"""Keys: KEY-010 and KEY-011, CONF-032."""

from group import Group


def literal(text):
    return {"literal": text}


def component(**value):
    return {"component": value}


def segments(*given):
    return {"segments": list(given)}


LONG = "KEY_TOO_LONG"


def fill(g: Group) -> None:
    t = literal("t")

    def key(slug, value, want, spec="KEY-010", note=""):
        g.add(slug, value, spec, want if want.isupper() and "_" in want else {"key": want}, note)

    key("payment", segments(literal("payments.payment_success"), literal("v1"), component(string="p/17")),
        "payments.payment_success:v1:p%2F17")  # fmt: skip
    key("refund", segments(literal("refunds.requested"), literal("v1"), component(string="o-17"),
                           component(timestamp={"seconds": "1735704000", "nanos": "0", "fraction_digits": "3"})),
        "refunds.requested:v1:o-17:2025-01-01T04:00:00.000Z", "KEY-002 KEY-010")  # fmt: skip
    key("literal-alone", segments(t), "t")
    key("literals-alone", segments(t, literal("v1")), "t:v1")
    key("component-alone", segments(component(string="o-17")), "o-17", "KEY-010 CONF-032")
    key("empty-component-alone", segments(component(string="")), "", "CONF-032",
        "a rendered key of no bytes is a key here")  # fmt: skip
    key("two-empty-components-alone", segments(component(string=""), component(string="")), ":")
    key("component-first", segments(component(string="o-17"), literal("v1")), "o-17:v1", "KEY-013")
    key("every-literal-byte", segments(literal("ABCXYZabcxyz0189._-")), "ABCXYZabcxyz0189._-")
    key(
        "literal-is-not-escaped",
        segments(literal("a.b_c-d"), component(string="a.b_c-d")),
        "a.b_c-d:a.b_c-d",
    )
    key("literal-of-dots", segments(literal("..")), "..")
    key("colon-in-a-component", segments(t, component(string="a:b"), component(string="c")), "t:a%3Ab:c",
        note="differs from the components a and b:c")  # fmt: skip
    key(
        "colon-in-the-next-component",
        segments(t, component(string="a"), component(string="b:c")),
        "t:a:b%3Ac",
    )
    key("empty-last-component", segments(t, component(string="a"), component(string="")), "t:a:")
    key(
        "empty-middle-component",
        segments(t, component(string="a"), component(string=""), component(string="b")),
        "t:a::b",
    )
    key("absent-component", segments(t, component(absent=True)), "t:~", "KEY-005 KEY-010")
    key(
        "absent-and-empty-differ",
        segments(t, component(absent=True), component(string="")),
        "t:~:",
        "KEY-005",
    )
    key("tilde-is-not-absence", segments(t, component(string="~")), "t:%7E", "KEY-005")
    key("every-kind-of-value",
        segments(t, component(bytes="00ff"), component(bool=False), component(enum="-1"),
                 component(int={"type": "uint64", "value": str(2**64 - 1)}),
                 component(decimal={"text": "1.50", "max_scale": "2"}),
                 component(money={"currency_code": "USD", "units": "0", "nanos": "-500000000"}),
                 component(timestamp={"epoch": "-1", "unit": "ms", "fraction_digits": "3"}),
                 component(duration={"seconds": "-1", "nanos": "-500000000", "fraction_digits": "3"}),
                 component(date={"year": "2025", "month": "1", "day": "1"}),
                 component(uuid={"text": "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"})),
        "t:00ff:false:-1:18446744073709551615:1.5:USD-0.5:1969-12-31T23:59:59.999Z:-1.500s:2025-01-01"
        ":f81d4fae-7dec-11d0-a765-00a0c91e6bf6")  # fmt: skip
    key("digest", segments(t, component(sha256={"string": "secret"})),
        "t:2bb80d537b1da3e38bd30361aa855686", "KEY-003 KEY-010")  # fmt: skip
    key(
        "numbers-do-not-run-together",
        segments(t, component(enum="1"), component(enum="23")),
        "t:1:23",
    )
    key("numbers-split-otherwise", segments(t, component(enum="12"), component(enum="3")), "t:12:3")
    key("one-hundred-components", segments(t, *[component(enum=str(i)) for i in range(100)]),
        "t:" + ":".join(str(i) for i in range(100)))  # fmt: skip

    # --- length
    key("length-1024", segments(t, component(string="a" * 1022)), "t:" + "a" * 1022, "KEY-011")
    key("length-1025", segments(t, component(string="a" * 1023)), LONG, "KEY-011")
    key("length-1023", segments(t, component(string="a" * 1021)), "t:" + "a" * 1021, "KEY-011")
    key(
        "length-counts-after-escaping",
        segments(t, component(string="/" * 340)),
        "t:" + "%2F" * 340,
        "KEY-011",
    )
    key("length-exceeded-by-escaping", segments(t, component(string="/" * 341)), LONG, "KEY-011")
    key("length-1024-by-escaping", segments(literal("tt"), component(string="/" * 340), component(string="")),
        "tt:" + "%2F" * 340 + ":", "KEY-011")  # fmt: skip
    key("length-counts-bytes-not-characters", segments(t, component(string="\u00e9" * 171)), LONG, "KEY-011",
        "six bytes each")  # fmt: skip
    key(
        "length-of-two-byte-letters",
        segments(t, component(string="\u00e9" * 170)),
        "t:" + "%C3%A9" * 170,
        "KEY-011",
    )
    key(
        "length-counts-separators",
        segments(t, *[component(string="")] * 1023),
        "t" + ":" * 1023,
        "KEY-011",
    )
    key(
        "length-exceeded-by-separators",
        segments(t, *[component(string="")] * 1024),
        LONG,
        "KEY-011",
    )
    key("length-of-a-literal", segments(literal("a" * 1024)), "a" * 1024, "KEY-011")
    key("length-exceeded-by-a-literal", segments(literal("a" * 1025)), LONG, "KEY-011")
    key(
        "length-of-the-first-component",
        segments(component(string="a" * 1024)),
        "a" * 1024,
        "KEY-011",
    )
    key(
        "length-of-bytes-alone",
        segments(component(bytes="00" * 512)),
        "00" * 512,
        "KEY-011 TXT-054",
    )
    key(
        "length-exceeded-by-bytes-alone",
        segments(component(bytes="00" * 513)),
        LONG,
        "KEY-011 TXT-054",
    )
    key("length-with-a-digest", segments(t, component(sha256={"string": "a" * 5000})),
        "t:" + __import__("hashlib").sha256(b"a" * 5000).hexdigest()[:32], "KEY-003 KEY-011",
        "what is digested may be long")  # fmt: skip
    key("length-of-a-huge-component", segments(t, component(string="a" * 20_000)), LONG, "KEY-011")
    key("length-reached-before-the-last-component",
        segments(t, component(string="a" * 1022), component(string="")), LONG, "KEY-011")  # fmt: skip

    # --- order of faults
    key("fault-of-the-first-component", segments(t, component(decimal={"text": "x"}), component(hex_utf8="ff")),
        "DECIMAL_SYNTAX", "KEY-011 GEN-002")  # fmt: skip
    key("fault-of-the-second-component", segments(t, component(string="a"), component(hex_utf8="ff")),
        "STRING_UTF8", "KEY-011")  # fmt: skip
    key("fault-other-way-around", segments(t, component(hex_utf8="ff"), component(decimal={"text": "x"})),
        "STRING_UTF8", "KEY-011 GEN-002")  # fmt: skip
    key("missing-before-a-fault", segments(t, component(missing=True), component(uuid={"text": ""})),
        "KEY_COMPONENT_MISSING", "KEY-004 KEY-011")  # fmt: skip
    key("fault-before-missing", segments(t, component(uuid={"text": ""}), component(missing=True)),
        "UUID_SYNTAX", "KEY-004 KEY-011")  # fmt: skip
    key("fault-after-absent", segments(t, component(absent=True), component(date={"year": "0", "month": "1", "day": "1"})),
        "DATE_RANGE", "KEY-005 KEY-011")  # fmt: skip
    key("component-before-length", segments(t, component(string="a" * 2000), component(missing=True)),
        "KEY_COMPONENT_MISSING", "KEY-011 GEN-002", "components first, the length last")  # fmt: skip
    key("component-before-length-of-a-literal", segments(literal("a" * 2000), component(hex_utf8="80")),
        "STRING_UTF8", "KEY-011 GEN-002")  # fmt: skip
    for slug, value, code in (
        ("int", {"int": {"type": "int32", "value": str(2**31)}}, "INT_RANGE"),
        ("enum", {"enum": str(-(2**31) - 1)}, "INT_RANGE"),
        ("money", {"money": {"currency_code": "", "units": "0", "nanos": "0"}}, "MONEY_CURRENCY"),
        ("timestamp", {"timestamp": {"rfc3339": "", "fraction_digits": "0"}}, "TIMESTAMP_SYNTAX"),
        (
            "duration",
            {"duration": {"seconds": "1", "nanos": "-1", "fraction_digits": "0"}},
            "DURATION_RANGE",
        ),
        ("decimal-scale", {"decimal": {"text": "1.5", "max_scale": "0"}}, "DECIMAL_SCALE"),
        ("decimal-range", {"decimal": {"text": "1e256"}}, "DECIMAL_RANGE"),
        ("utf16", {"utf16": ["dc00"]}, "STRING_UTF8"),
        ("sha256", {"sha256": {"hex_utf8": "ff"}}, "STRING_UTF8"),
    ):
        key(
            f"fault-of-{slug}",
            segments(t, {"component": value}, component(string="x")),
            code,
            "KEY-011",
        )

    # --- no known shape
    g.faults(
        "CONF-021 CONF-032",
        {
            "input-without-segments": {},
            "input-no-segments": segments(),
            "input-segments-text": {"segments": "t"},
            "input-segments-object": {"segments": {"literal": "t"}},
            "input-segments-null": {"segments": None},
            "input-unknown-member": {**segments(t), "separator": ":"},
            "input-segment-text": segments("t"),
            "input-segment-null": segments(None),
            "input-segment-empty": segments({}),
            "input-segment-two-members": segments({"literal": "t", "component": {"string": "a"}}),
            "input-segment-unknown": segments({"placeholder": "a"}),
            "input-literal-empty": segments(literal("")),
            "input-literal-colon": segments(literal("a:b")),
            "input-literal-blank": segments(literal("a b")),
            "input-literal-brace": segments(literal("{a}")),
            "input-literal-tilde": segments(literal("~")),
            "input-literal-percent": segments(literal("%2F")),
            "input-literal-slash": segments(literal("a/b")),
            "input-literal-letter-of-two-bytes": segments(literal("\u00e9")),
            "input-literal-arabic-digit": segments(literal("\u0661")),
            "input-literal-line-feed": segments(literal("t\n")),
            "input-literal-number": segments({"literal": 1}),
            "input-component-text": segments({"component": "a"}),
            "input-component-empty": segments({"component": {}}),
            "input-component-unknown": segments({"component": {"text": "a"}}),
            "input-second-literal": segments(t, literal("")),
            "input-after-a-fault": segments(t, component(missing=True), component(bool="true")),
            "input-after-too-long": segments(literal("a" * 2000), literal("")),
        },
    )
