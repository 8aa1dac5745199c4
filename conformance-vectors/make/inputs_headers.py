"""Reading headers: HDR-001 to HDR-015, the bindings, CONF-038."""

from group import BESIDE_DIGITS, BESIDE_LETTERS, Group

KEYS = ("idempotency_key", "biz_key", "idempotency_key_previous")
NAMES = ("event_type", "target_scope")
IDENTIFIERS = ("event_id", "topic")
CONTEXT_TIMES = ("produced_at", "occurred_at")
TRACES = ("traceparent", "tracestate")
INTEGERS = {
    "retry_count": (0, 2**31 - 1),
    "max_retry": (0, 100),
    "hold_count": (0, 2**31 - 1),
    "max_hold": (0, 100),
    "redrive_count": (0, 2**31 - 1),
    "backoff_base": (1, 86_400),
    "backoff_jitter": (0, 3_600_000),
    "backoff_max": (1, 604_800),
    "retry_interval": (0, 608_400_000),
}
TABLE = (
    "idempotency_key event_id event_type biz_key topic produced_at occurred_at traceparent tracestate"
    " expected_current_state idempotency_key_previous fingerprint idem_spec retry_count max_retry"
    " hold_count max_hold redrive_count target_scope backoff_base backoff_jitter backoff_max"
    " backoff_schedule retry_interval next_retry_time reject_reason"
).split()
GOOD = {
    "idempotency_key": "payments.payment_success:v1:p%2F17",
    "event_id": "018f3c5e-8a2b-7c3d-9e4f-5a6b7c8d9e0f",
    "event_type": "payments.payment_success",
    "biz_key": "o-17",
    "topic": "payments",
    "produced_at": "2025-01-01T04:00:00.000Z",
    "occurred_at": "2025-01-01T04:00:00Z",
    "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "tracestate": "rojo=00f067aa0ba902b7",
    "expected_current_state": "PAYING",
    "idempotency_key_previous": "payments.payment_success:p-17",
    "fingerprint": "0a1b2c3d-ef46db3751d8e999",
    "idem_spec": "1",
    "retry_count": "2",
    "max_retry": "5",
    "hold_count": "1",
    "max_hold": "20",
    "redrive_count": "3",
    "target_scope": "payments",
    "backoff_base": "1",
    "backoff_jitter": "1000",
    "backoff_max": "300",
    "backoff_schedule": "10000,30000,60000",
    "retry_interval": "2017",
    "next_retry_time": "2025-01-01T04:00:02.017Z",
    "reject_reason": "HTTP_502: bad gateway",
}
PLAIN_BYTES = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '"\\')
HTTP = {
    name: "-".join(["Idem", *(word.capitalize() for word in name.split("_"))]) for name in TABLE
} | {
    "idempotency_key": "Idempotency-Key",
    "traceparent": "traceparent",
    "tracestate": "tracestate",
    "idem_spec": "Idem-Spec",
}
CLOUDEVENTS = {name: name.replace("_", "") for name in TABLE} | {
    "event_id": "id",
    "event_type": "type",
    "occurred_at": "time",
    "biz_key": "partitionkey",
}


def name_on(transport, name):
    return {"http": HTTP, "cloudevents": CLOUDEVENTS}.get(transport, {}).get(name, name)


def utf8(text):
    return {"utf8": text}


def octets(raw):
    return {"hex": raw.hex()}


def number(value):
    return {"int": str(value)}


def pair(name, value):
    return [name, utf8(value) if isinstance(value, str) else value]


def ask(*pairs, transport="kafka"):
    return {"transport": transport, "headers": [pair(*one) for one in pairs]}


def slug_of(name):
    return name.replace("_", "-")


def read(envelope=None, unknown=(), warnings=()):
    return {"envelope": envelope or {}, "unknown": list(unknown), "warnings": list(warnings)}


def fill(g: Group) -> None:
    def one(name, slug, value, spec, want, transport="kafka", note=""):
        """One header alone: `want` is its text, an error code, or None where it is left out."""
        expected = want
        if want is None:
            expected = read(warnings=[name])
        elif not (want.isupper() and want.startswith(("HEADER_", "KEY_", "SPEC_"))):
            expected = read({name: want})
        given = ask((name_on(transport, name), value), transport=transport)
        g.add(f"{slug_of(name)}-{slug}", given, spec, expected, note)

    g.add("none", ask(), "HDR-010", read())
    for transport in ("kafka", "amqp", "http", "cloudevents"):
        every = [(name_on(transport, name), GOOD[name]) for name in TABLE]
        g.add(
            f"every-header-on-{transport}", ask(*every, transport=transport), "HDR-002", read(GOOD)
        )
        g.add(
            f"every-header-backwards-on-{transport}",
            ask(*reversed(every), transport=transport),
            "HDR-002",
            read(GOOD),
        )

    # --- keys
    for name in KEYS:
        syntax, long = "KEY_SYNTAX", "KEY_TOO_LONG"
        spec = "HDR-002 HDR-013 KEY-020"
        one(name, "good", GOOD[name], spec, GOOD[name])
        one(name, "one-byte", "k", spec, "k")
        one(name, "first-and-last-byte", "!~", spec, "!~")
        one(name, "1024-bytes", "k" * 1024, spec, "k" * 1024)
        one(name, "1025-bytes", "k" * 1025, spec, long)
        one(name, "empty", "", spec, syntax)
        one(name, "blank", "a b", spec, syntax)
        one(name, "leading-blank", " a", spec, syntax)
        one(name, "trailing-line-feed", "a\n", spec, syntax)
        one(name, "nul", "a\x00", spec, syntax)
        one(name, "delete", "a\x7f", spec, syntax)
        one(name, "two-byte-letter", "caf\u00e9", spec, syntax)
        one(name, "byte-order-mark", "\ufeffa", spec, syntax)
        one(name, "ill-formed", octets(b"\xffa"), "HDR-011 HDR-013", "HEADER_UTF8")
        one(name, "syntax-before-length", "k" * 1100 + " ", "HDR-011 HDR-013", syntax)
        one(
            name,
            "utf8-before-length",
            octets(b"k" * 1100 + b"\xff"),
            "HDR-011 HDR-013",
            "HEADER_UTF8",
        )
        g.add(f"{slug_of(name)}-null", ask((name, None)), "HDR-010", read())
    one(
        "idempotency_key",
        "quotes-are-bytes",
        '"a"',
        "HDR-002",
        '"a"',
        note="on Kafka, where no binding quotes",
    )
    one(
        "idempotency_key",
        "percent",
        "%",
        "KEY-020",
        "%",
        note="a key is opaque, and no escape is checked",
    )
    one("idempotency_key", "separators-alone", ":::", "KEY-020", ":::")

    # --- names and states
    for name in (*NAMES, "expected_current_state"):
        spec, syntax = "HDR-002", "HEADER_SYNTAX"
        one(name, "good", GOOD[name], spec, GOOD[name])
        one(name, "every-mark", "aZ09._-", spec, "aZ09._-")
        one(name, "first-and-last-letters", "AZaz", spec, "AZaz")
        one(name, "one-letter", "A", spec, "A")
        one(name, "200-bytes", "n" * 200, spec, "n" * 200)
        one(name, "201-bytes", "n" * 201, spec, syntax)
        one(name, "empty", "", spec, "" if name == "expected_current_state" else syntax)
        for slug, value in {
            "blank": "a b", "colon": "a:b", "slash": "a/b", "tilde": "~", "percent": "%41",
            "trailing-line-feed": "a\n", "two-byte-letter": "\u00e9", "arabic-digit": "\u0661", "plus": "a+b",
        }.items():  # fmt: skip
            one(name, slug, value, spec, syntax)
        for slug, value in BESIDE_LETTERS.items():
            one(name, slug, value, spec, syntax)
        one(name, "ill-formed", octets(b"a\xff"), "HDR-011", "HEADER_UTF8")

    # --- fingerprint
    good = GOOD["fingerprint"]
    one("fingerprint", "good", good, "HDR-002", good)
    for slug, value in {
        "empty": "", "upper-case": good.upper(), "without-hyphen": good.replace("-", ""), "short": good[:-1],
        "long": good + "0", "template-short": good[1:], "hyphen-moved": "0a1b2c3-def46db3751d8e9999"[:25],
        "letter-g": good[:-1] + "g", "blank": good + " ", "line-feed": good + "\n", "two-hyphens": good[:8] + "--" + good[10:],
        "arabic-digit": good[:-1] + "\u0661", "uuid": GOOD["event_id"],
    }.items():  # fmt: skip
        one("fingerprint", slug, value, "HDR-002", "HEADER_SYNTAX")
    for slug, value in (
        ("digits-before-letters", "01234567-89abcdef01234567"),
        ("letters-before-digits", "89abcdef-0123456789abcdef"),
    ):
        one("fingerprint", slug, value, "HDR-002", value)
    for slug, value in {**BESIDE_DIGITS, "backtick-below-a": "`", "letter-g-above-f": "g"}.items():
        one("fingerprint", f"template-{slug}", value + good[1:], "HDR-002", "HEADER_SYNTAX")
        one("fingerprint", f"value-{slug}", good[:-2] + value + "9", "HDR-002", "HEADER_SYNTAX")
    one("fingerprint", "ill-formed", octets(b"\xff"), "HDR-011", "HEADER_UTF8")

    # --- integers
    for name, (lowest, highest) in INTEGERS.items():
        spec, syntax, out = "HDR-001 HDR-002", "HEADER_SYNTAX", "HEADER_RANGE"
        one(name, "lowest", str(lowest), spec, str(lowest))
        one(name, "highest", str(highest), spec, str(highest))
        one(name, "above", str(highest + 1), spec, out)
        if lowest:
            one(name, "zero", "0", spec, out)
        one(name, "negative", "-1", spec, syntax)
        one(name, "leading-zero", "01", spec, syntax)
        one(name, "empty", "", spec, syntax)
    for slug, value in {
        "plus": "+1", "minus-zero": "-0", "two-zeros": "00", "leading-blank": " 3", "trailing-blank": "3 ",
        "trailing-line-feed": "3\n", "fraction": "3.0", "exponent": "3e0", "hexadecimal": "0x3", "underscore": "1_0",
        "comma": "1,000", "arabic-digit": "\u0663", "full-width-digit": "\uff13", "word": "three", "null-word": "null",
        "true": "true", "quotes": '"3"', "nul-after": "3\x00", "byte-order-mark": "\ufeff3",
    }.items():  # fmt: skip
        one("retry_count", slug, value, "HDR-001", "HEADER_SYNTAX")
    for slug, value in BESIDE_DIGITS.items():
        one("retry_count", slug, value, "HDR-001", "HEADER_SYNTAX")
        one("retry_count", f"{slug}-after-a-digit", f"1{value}", "HDR-001", "HEADER_SYNTAX")
    one("retry_count", "ill-formed", octets(b"\xff"), "HDR-011", "HEADER_UTF8")
    one("retry_count", "four-bytes", octets(b"\x00\x00\x00\x03"), "HDR-001", "HEADER_SYNTAX",
        note="a big-endian integer, as other frameworks write it")  # fmt: skip
    one("retry_count", "one-byte-of-three", octets(b"\x03"), "HDR-001", "HEADER_SYNTAX")
    one("retry_count", "wraps-int32", str(2**32 + 1), "HDR-002", "HEADER_RANGE")
    one("retry_count", "wraps-int64", str(2**64 + 1), "HDR-002", "HEADER_RANGE")
    one("retry_count", "thirty-digits", "9" * 30, "HDR-002", "HEADER_RANGE")
    one("retry_count", "five-thousand-digits", "9" * 5000, "HDR-002", "HEADER_RANGE")
    one(
        "retry_count", "above-100", "101", "HDR-002", "101", note="counts go beyond what is allowed"
    )

    # --- idem_spec
    one("idem_spec", "one", "1", "HDR-002 VER-001", "1")
    for value in ("0", "2", "10", "9" * 30):
        one("idem_spec", value[:4], value, "HDR-002 VER-001", "SPEC_VERSION")
    for slug, value in {
        "leading-zero": "01",
        "version": "1.0.0",
        "empty": "",
        "negative": "-1",
        "blank": "1 ",
    }.items():
        one("idem_spec", slug, value, "HDR-001 HDR-002", "HEADER_SYNTAX")

    # --- schedules
    def schedule(slug, value, want, spec="HDR-002 HDR-013"):
        one("backoff_schedule", slug, value, spec, want)

    thirty_two = ",".join(str(i) for i in range(32))
    schedule("one-entry", "0", "0")
    schedule("largest-entry", "604800000", "604800000")
    schedule("32-entries", thirty_two, thirty_two)
    schedule("33-entries", thirty_two + ",32", "HEADER_RANGE")
    schedule("entry-above-seven-days", "1,604800001", "HEADER_RANGE")
    schedule("entry-wraps-int64", str(2**64 + 1), "HEADER_RANGE")
    for slug, value in {
        "empty": "", "comma-alone": ",", "trailing-comma": "1,", "leading-comma": ",1", "two-commas": "1,,2",
        "blank-after-comma": "1, 2", "blank-before-comma": "1 ,2", "leading-blank": " 1", "trailing-line-feed": "1\n",
        "leading-zero": "1,02", "negative": "1,-2", "plus": "+1", "semicolon": "1;2", "brackets": "[1,2]", "fraction": "1.5",
        "arabic-comma": "1\u060c2",
    }.items():  # fmt: skip
        schedule(slug, value, "HEADER_SYNTAX")
    schedule("largest-digits", "9,99,0", "9,99,0")
    schedule("leading-zero-first", "01,2", "HEADER_SYNTAX")
    for slug, value in BESIDE_DIGITS.items():
        for place, entries in (
            ("first", f"{value},1"),
            ("last", f"1,{value}"),
            ("in-the-first", f"1{value},1"),
            ("in-the-last", f"1,1{value}"),
        ):
            schedule(f"{slug}-{place}", entries, "HEADER_SYNTAX")
    schedule("syntax-before-length", thirty_two + ",32,x", "HEADER_SYNTAX", "HDR-011 HDR-013")
    schedule("syntax-before-range", "604800001,x", "HEADER_SYNTAX", "HDR-011 HDR-013")
    schedule("ill-formed", octets(b"1,\xff"), "HEADER_UTF8", "HDR-011")

    # --- timestamps: those of the context warn, next_retry_time fails
    for name in (*CONTEXT_TIMES, "next_retry_time"):
        fails = name == "next_retry_time"
        spec = "HDR-003" if fails else "HDR-003 HDR-014"
        for slug, value in {
            "seconds": "2025-01-01T04:00:00Z", "one-digit": "2025-01-01T04:00:00.5Z",
            "nine-digits": "2025-01-01T04:00:00.123456789Z", "first-instant": "0001-01-01T00:00:00Z",
            "last-instant": "9999-12-31T23:59:59.999999999Z", "leap-day": "2024-02-29T00:00:00Z",
        }.items():  # fmt: skip
            one(name, slug, value, spec, value)
        one(name, "year-zero", "0000-01-01T00:00:00Z", spec, "HEADER_RANGE" if fails else None)
        one(
            name,
            "leap-day-of-year-zero",
            "0000-02-29T00:00:00Z",
            spec,
            "HEADER_RANGE" if fails else None,
        )
        for slug, value in {
            "empty": "", "offset": "2025-01-01T05:00:00+01:00", "offset-of-zero": "2025-01-01T04:00:00+00:00",
            "without-z": "2025-01-01T04:00:00", "lower-case": "2025-01-01t04:00:00z", "blank-for-t": "2025-01-01 04:00:00Z",
            "no-leap-day": "2025-02-29T00:00:00Z", "no-february-30-in-year-zero": "0000-02-30T00:00:00Z",
            "hour-24": "2025-01-01T24:00:00Z", "second-60": "2016-12-31T23:59:60Z", "ten-digits": "2025-01-01T04:00:00.1234567890Z",
            "fraction-empty": "2025-01-01T04:00:00.Z", "fraction-after-comma": "2025-01-01T04:00:00,5Z",
            "trailing-line-feed": "2025-01-01T04:00:00Z\n", "epoch": "1735704000", "arabic-digit": "202\u0665-01-01T04:00:00Z",
            "month-13": "2025-13-01T04:00:00Z",
        }.items():  # fmt: skip
            one(name, slug, value, spec, "HEADER_SYNTAX" if fails else None)
        one(
            name,
            "ill-formed",
            octets(b"2025\xff"),
            "HDR-011" if fails else "HDR-014",
            "HEADER_UTF8" if fails else None,
        )

    # --- context
    for name in IDENTIFIERS:
        one(name, "one-byte", "x", "HDR-002", "x")
        one(name, "any-text", "caf\u00e9 \U0001f600\n", "HDR-002", "caf\u00e9 \U0001f600\n")
        one(name, "1024-bytes", "\u00e9" * 512, "HDR-002", "\u00e9" * 512)
        one(name, "1025-bytes", "\u00e9" * 512 + "x", "HDR-014", None)
        one(name, "empty", "", "HDR-014", None)
        one(name, "ill-formed", octets(b"\xff"), "HDR-014", None)
        g.add(
            f"{slug_of(name)}-conflict",
            ask((name, "a"), (name, "b")),
            "HDR-012 HDR-014",
            read(warnings=[name]),
        )
        g.add(
            f"{slug_of(name)}-twice-equal",
            ask((name, "a"), (name, "a")),
            "HDR-012",
            read({name: "a"}),
        )
    for name in TRACES:
        one(name, "empty", "", "HDR-002", "")
        one(name, "any-text", "not a trace \u00e9\n", "HDR-002", "not a trace \u00e9\n")
        one(name, "of-5000-bytes", "t" * 5000, "HDR-002", "t" * 5000)
        one(name, "ill-formed", octets(b"\xff"), "HDR-014", None)
        last = "HDR-012"
        g.add(f"{name}-last-counts", ask((name, "a"), (name, "b")), last, read({name: "b"}))
        g.add(
            f"{name}-last-of-three-counts",
            ask((name, "b"), (name, "a"), (name, "b")),
            last,
            read({name: "b"}),
        )
        g.add(
            f"{name}-ill-formed-then-good",
            ask((name, octets(b"\xff")), (name, "b")),
            last,
            read({name: "b"}),
        )
        g.add(
            f"{name}-good-then-ill-formed",
            ask((name, "a"), (name, octets(b"\xff"))),
            "HDR-012 HDR-014",
            read(warnings=[name]),
        )
        g.add(
            f"{name}-null-after-a-value",
            ask((name, "a"), (name, None)),
            "HDR-010 HDR-012",
            read({name: "a"}),
        )
    one("reject_reason", "empty", "", "HDR-002", "")
    one("reject_reason", "two-byte-letters", "caf\u00e9", "HDR-002", "caf\u00e9")
    one("reject_reason", "1024-bytes", "r" * 1024, "HDR-002", "r" * 1024)
    one("reject_reason", "1025-bytes", "r" * 1025, "HDR-014", None)
    one("reject_reason", "1025-bytes-in-1024-letters", "r" * 1023 + "\u00e9", "HDR-014", None)
    one(
        "reject_reason",
        "control-of-two-bytes",
        "a\u0085b",
        "HDR-002",
        "a\u0085b",
        note="U+0085 has no byte below 20",
    )
    one("reject_reason", "blank-alone", " ", "HDR-002", " ")
    for slug, value in {
        "line-feed": "a\nb",
        "tab": "a\tb",
        "nul": "\x00",
        "unit-separator": "\x1f",
        "delete": "a\x7f",
    }.items():
        one("reject_reason", slug, value, "HDR-002 HDR-014", None)
    one("reject_reason", "ill-formed", octets(b"\xff"), "HDR-014", None)

    # --- nulls, equal values, conflicts
    for name in (
        "event_type",
        "retry_count",
        "produced_at",
        "reject_reason",
        "fingerprint",
        "idem_spec",
    ):
        g.add(f"{slug_of(name)}-null", ask((name, None)), "HDR-010", read())
    g.add("null-beside-a-value", ask(("retry_count", None), ("retry_count", "1"), ("retry_count", None)), "HDR-010",
          read({"retry_count": "1"}))  # fmt: skip
    g.add(
        "equal-twice",
        ask(("retry_count", "1"), ("retry_count", "1")),
        "HDR-012",
        read({"retry_count": "1"}),
    )
    g.add(
        "equal-as-text-and-bytes",
        ask(("retry_count", "1"), ("retry_count", octets(b"1"))),
        "HDR-012",
        read({"retry_count": "1"}),
    )
    g.add("conflict", ask(("retry_count", "1"), ("retry_count", "2"), ("retry_count", "3")), "HDR-012", "HEADER_CONFLICT",
          "one header more a hop, as other frameworks append them")  # fmt: skip
    g.add(
        "conflict-of-keys",
        ask(("idempotency_key", "a"), ("idempotency_key", "b")),
        "HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-apart",
        ask(("retry_count", "1"), ("x", "y"), ("retry_count", "2")),
        "HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-of-case",
        ask(("event_type", "a"), ("event_type", "A")),
        "HDR-012",
        "HEADER_CONFLICT",
    )
    g.add("conflict-of-equal-numbers", ask(("retry_count", "1"), ("retry_count", "01")), "HDR-012", "HEADER_CONFLICT",
          "bytes are compared")  # fmt: skip
    g.add(
        "conflict-with-an-empty-value",
        ask(("event_type", "a"), ("event_type", "")),
        "HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-before-utf8",
        ask(("event_type", octets(b"\xff")), ("event_type", "a")),
        "HDR-011 HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-before-syntax",
        ask(("retry_count", "x"), ("retry_count", "1")),
        "HDR-011 HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-before-range",
        ask(("max_retry", "101"), ("max_retry", "1")),
        "HDR-011 HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "conflict-of-versions",
        ask(("idem_spec", "1"), ("idem_spec", "2")),
        "HDR-012",
        "HEADER_CONFLICT",
    )
    g.add(
        "equal-and-faulty",
        ask(("retry_count", "x"), ("retry_count", "x")),
        "HDR-012",
        "HEADER_SYNTAX",
    )
    g.add("conflict-of-times", ask(("produced_at", "2025-01-01T04:00:00Z"), ("produced_at", "2025-01-01T04:00:00.0Z")),
          "HDR-012 HDR-014", read(warnings=["produced_at"]))  # fmt: skip
    g.add(
        "conflict-of-reasons",
        ask(("reject_reason", "a"), ("reject_reason", "b")),
        "HDR-012 HDR-014",
        read(warnings=["reject_reason"]),
    )

    # --- which fault of several: the table's order, not the order given
    faulty = {
        "idempotency_key": ("", "KEY_SYNTAX"), "event_type": ("", "HEADER_SYNTAX"), "biz_key": ("b" * 1025, "KEY_TOO_LONG"),
        "expected_current_state": (octets(b"\xff"), "HEADER_UTF8"), "idempotency_key_previous": (" ", "KEY_SYNTAX"),
        "fingerprint": (octets(b"\xfe"), "HEADER_UTF8"), "idem_spec": ("2", "SPEC_VERSION"), "retry_count": ("x", "HEADER_SYNTAX"),
        "max_retry": ("101", "HEADER_RANGE"), "hold_count": ("", "HEADER_SYNTAX"), "max_hold": ("101", "HEADER_RANGE"),
        "redrive_count": ("x", "HEADER_SYNTAX"), "target_scope": (octets(b"\xff"), "HEADER_UTF8"), "backoff_base": ("0", "HEADER_RANGE"),
        "backoff_jitter": ("-1", "HEADER_SYNTAX"), "backoff_max": ("0", "HEADER_RANGE"), "backoff_schedule": ("", "HEADER_SYNTAX"),
        "retry_interval": ("608400001", "HEADER_RANGE"), "next_retry_time": ("x", "HEADER_SYNTAX"),
    }  # fmt: skip
    order = list(faulty)
    for first, second in zip(order, order[1:], strict=False):
        (a, code), (b, other) = faulty[first], faulty[second]
        if code != other:
            given = ask((second, b), (first, a))
            g.add(f"{slug_of(first)}-before-{slug_of(second)}", given, "HDR-011 GEN-002", code)
    g.add(
        "fault-beside-good-headers",
        ask(*[(name, "x" if name == "max_hold" else GOOD[name]) for name in TABLE]),
        "HDR-011",
        "HEADER_SYNTAX",
    )
    g.add(
        "fault-beside-warnings",
        ask(("event_id", ""), ("retry_count", "x")),
        "HDR-011 HDR-014",
        "HEADER_SYNTAX",
    )
    context = [
        name for name in TABLE if name in (*IDENTIFIERS, *CONTEXT_TIMES, *TRACES, "reject_reason")
    ]
    broken = [(name, octets(b"\xff")) for name in reversed(context)]
    g.add(
        "every-warning-in-the-order-of-the-table", ask(*broken), "HDR-014", read(warnings=context)
    )
    g.add("warning-beside-good-headers", ask(*[(name, "x" if name == "produced_at" else GOOD[name]) for name in TABLE]), "HDR-014",
          read({name: value for name, value in GOOD.items() if name != "produced_at"}, warnings=["produced_at"]))  # fmt: skip

    # --- unknown headers
    def unknown(slug, *pairs, transport="kafka", spec="HDR-015", note=""):
        given = ask(*pairs, transport=transport)
        g.add(f"unknown-{slug}", given, spec, read(unknown=given["headers"]), note)

    unknown("one", ("x-tenant", "acme"))
    unknown("in-their-order", ("b", "1"), ("a", "2"), ("c", "3"))
    unknown("twice", ("x", "1"), ("x", "2"), ("x", "1"))
    unknown("null", ("x", None))
    unknown("ill-formed", ("x", octets(b"\xff\x00")))
    unknown("bytes-stay-bytes", ("x", octets(b"plain")))
    unknown("empty-value", ("x", ""))
    unknown("empty-name", ("", "x"))
    unknown("name-of-two-byte-letters", ("caf\u00e9", "x"))
    unknown("value-of-5000-bytes", ("x", "v" * 5000))
    unknown("case-differs", ("Idempotency_Key", "k"), ("RETRY_COUNT", "x"), spec="HDR-015 HDR-040")
    unknown("blank-after-the-name", ("retry_count ", "x"), spec="HDR-015 HDR-040")
    unknown("blank-before-the-name", (" retry_count", "x"), spec="HDR-015 HDR-040")
    unknown("hyphen-for-underscore", ("retry-count", "x"), spec="HDR-015 HDR-040")
    unknown(
        "http-names-on-kafka",
        ("Idempotency-Key", "k"),
        ("Idem-Retry-Count", "x"),
        spec="HDR-015 HDR-040",
    )
    unknown(
        "cloudevents-names-on-kafka",
        ("idempotencykey", "k"),
        ("ce_id", "x"),
        spec="HDR-015 HDR-040",
    )
    unknown("null-of-a-near-name", ("Retry_Count", None), spec="HDR-015 HDR-040")
    given = ask(("b", "1"), ("retry_count", "1"), ("a", None), ("event_id", ""), ("b", "2"))
    g.add("unknown-between-known", given, "HDR-015",
          read({"retry_count": "1"}, [given["headers"][i] for i in (0, 2, 4)], ["event_id"]))  # fmt: skip

    # --- AMQP
    def amqp(slug, *pairs, spec="HDR-041", want=None, note=""):
        g.add(f"amqp-{slug}", ask(*pairs, transport="amqp"), spec, want, note)

    for name in ("retry_count", "backoff_base", "redrive_count"):
        amqp(f"integer-{slug_of(name)}", (name, number(3)), want=read({name: "3"}))
    amqp("integer-zero", ("retry_count", number(0)), want=read({"retry_count": "0"}))
    amqp("integer-idem-spec", ("idem_spec", number(1)), want=read({"idem_spec": "1"}))
    amqp("integer-unknown-version", ("idem_spec", number(2)), want="SPEC_VERSION")
    amqp("integer-negative", ("retry_count", number(-1)), want="HEADER_SYNTAX")
    amqp("integer-out-of-range", ("max_retry", number(101)), want="HEADER_RANGE")
    amqp("integer-above-int64", ("retry_count", number(2**64 - 1)), want="HEADER_RANGE")
    amqp("integer-thirty-digits", ("retry_count", number(10**29)), want="HEADER_RANGE")
    amqp(
        "integer-equal-to-text",
        ("retry_count", number(3)),
        ("retry_count", "3"),
        spec="HDR-012 HDR-041",
        want=read({"retry_count": "3"}),
    )
    amqp(
        "integer-against-text",
        ("retry_count", number(3)),
        ("retry_count", "4"),
        spec="HDR-012 HDR-041",
        want="HEADER_CONFLICT",
    )
    amqp(
        "integer-against-other-text",
        ("retry_count", number(3)),
        ("retry_count", "03"),
        spec="HDR-012 HDR-041",
        want="HEADER_CONFLICT",
    )
    for name in (
        "event_type",
        "expected_current_state",
        "fingerprint",
        "target_scope",
        "next_retry_time",
        "backoff_schedule",
        *KEYS,
    ):
        amqp(
            f"integer-in-{slug_of(name)}",
            (name, number(5)),
            spec="HDR-041 HDR-013",
            want="HEADER_SYNTAX",
        )
    for name in ("event_id", "topic", "produced_at", "occurred_at", *TRACES, "reject_reason"):
        amqp(
            f"integer-in-{slug_of(name)}",
            (name, number(5)),
            spec="HDR-041 HDR-014",
            want=read(warnings=[name]),
        )
    amqp(
        "integer-then-text-in-traceparent",
        ("traceparent", number(5)),
        ("traceparent", "t"),
        spec="HDR-012 HDR-041",
        want=read({"traceparent": "t"}),
    )
    amqp(
        "integer-beside-an-equal-text",
        ("event_type", number(5)),
        ("event_type", "5"),
        spec="HDR-012 HDR-041",
        want="HEADER_SYNTAX",
    )
    amqp(
        "integer-after-an-equal-text",
        ("event_type", "5"),
        ("event_type", number(5)),
        spec="HDR-012 HDR-041",
        want="HEADER_SYNTAX",
    )
    amqp(
        "integer-in-context-after-an-equal-text",
        ("topic", "5"),
        ("topic", number(5)),
        spec="HDR-041 HDR-014",
        want=read(warnings=["topic"]),
    )
    amqp(
        "text-then-integer-in-traceparent",
        ("traceparent", "t"),
        ("traceparent", number(5)),
        spec="HDR-012 HDR-041",
        want=read(warnings=["traceparent"]),
    )
    given = ask(("x-delay", number(-5)), ("x", number(10**20)), transport="amqp")
    g.add("amqp-unknown-integers", given, "HDR-015 HDR-041", read(unknown=given["headers"]))
    amqp("text", ("retry_count", "3"), want=read({"retry_count": "3"}))
    amqp("text-leading-zero", ("retry_count", "03"), want="HEADER_SYNTAX")
    unknown(
        "case-differs-on-amqp", ("Retry_Count", number(3)), transport="amqp", spec="HDR-015 HDR-041"
    )
    unknown("death-header-on-amqp", ("x-death", "x"), transport="amqp", spec="HDR-015 HDR-041")

    # --- HTTP
    def http(slug, *pairs, spec="HDR-042", want=None, note=""):
        g.add(f"http-{slug}", ask(*pairs, transport="http"), spec, want, note)

    http(
        "names-in-lower-case",
        ("idempotency-key", "abc"),
        ("idem-retry-count", "1"),
        want=read({"idempotency_key": "abc", "retry_count": "1"}),
    )
    http("names-in-upper-case", ("IDEMPOTENCY-KEY", "abc"), ("IDEM-SPEC", "1"), ("TRACEPARENT", "t"),
         want=read({"idempotency_key": "abc", "idem_spec": "1", "traceparent": "t"}))  # fmt: skip
    http("names-in-mixed-case", ("iDeM-bAcKoFf-BaSe", "2"), want=read({"backoff_base": "2"}))
    http(
        "names-that-differ-in-case-are-one",
        ("Idem-Retry-Count", "1"),
        ("idem-retry-count", "2"),
        spec="HDR-012 HDR-042",
        want="HEADER_CONFLICT",
    )
    for slug, name in {
        "underscores": "Idempotency_Key", "table-name": "retry_count", "idem-prefix-missing": "Retry-Count",
        "idem-prefix-added-to-key": "Idem-Idempotency-Key", "idem-prefix-added-to-trace": "Idem-Traceparent",
        "idem-prefix-twice": "Idem-Idem-Spec", "idem-spec-as-a-word": "Idemspec", "x-prefix": "X-Idempotency-Key",
        "kelvin-sign": "Idem-Bac\u212aoff-Base", "long-s": "Idem-\u017fpec", "dotless-i": "\u0131dem-Spec",
        "capital-i-with-dot": "\u0130dem-Spec", "trailing-blank": "Idem-Spec ", "cloudevents": "ce-id",
    }.items():  # fmt: skip
        unknown(f"http-name-{slug}", (name, "1"), transport="http", spec="HDR-015 HDR-042")
    unknown(
        "http-value-keeps-its-blanks",
        ("X-Tenant", " acme "),
        transport="http",
        spec="HDR-015 HDR-042",
    )
    http("blanks-around-a-value", ("Idem-Retry-Count", " \t3\t "), want=read({"retry_count": "3"}))
    http(
        "blanks-around-a-key", ("Idempotency-Key", "  abc  "), want=read({"idempotency_key": "abc"})
    )
    http(
        "blanks-around-a-quoted-key",
        ("Idempotency-Key", '\t"abc" '),
        spec="HDR-042 HDR-043",
        want=read({"idempotency_key": "abc"}),
    )
    http("blanks-around-context", ("Idem-Topic", " payments "), want=read({"topic": "payments"}))
    http(
        "blanks-alone-in-a-state",
        ("Idem-Expected-Current-State", "  "),
        want=read({"expected_current_state": ""}),
    )
    http("blanks-alone-in-a-key", ("Idempotency-Key", "  "), want="KEY_SYNTAX")
    http(
        "blanks-alone-in-a-context-header",
        ("Idem-Event-Id", " "),
        spec="HDR-042 HDR-014",
        want=read(warnings=["event_id"]),
    )
    http("values-that-differ-in-blanks-are-one", ("Idem-Retry-Count", "3"), ("Idem-Retry-Count", " 3"), spec="HDR-012 HDR-042",
         want=read({"retry_count": "3"}))  # fmt: skip
    http(
        "line-feed-is-no-blank",
        ("Idem-Retry-Count", "3\n"),
        spec="HDR-042 HDR-044",
        want="HEADER_SYNTAX",
    )
    http(
        "no-break-space-is-no-blank",
        ("Idem-Retry-Count", "3\u00a0"),
        spec="HDR-042 HDR-044",
        want="HEADER_SYNTAX",
    )
    http("null", ("Idempotency-Key", None), spec="HDR-010", want=read())
    key = "HDR-043"
    for slug, value, want in (
        ("quoted", '"abc"', "abc"),
        ("unquoted", "abc", "abc"),
        ("quote-escaped", r'"a\"b"', 'a"b'),
        ("backslash-escaped", r'"a\\b"', "a\\b"),
        ("both-escaped", r'"\\\""', '\\"'),
        ("quote-inside-unquoted", 'a"b', 'a"b'),
        ("backslash-inside-unquoted", "a\\b", "a\\b"),
        ("quote-at-the-end-of-unquoted", 'abc"', 'abc"'),
        ("quoted-key-with-colons", '"t:v1:p%2F17"', "t:v1:p%2F17"),
        ("every-plain-byte-quoted", f'"{PLAIN_BYTES}"', PLAIN_BYTES),
        ("quoted-1024-bytes", '"' + "k" * 1024 + '"', "k" * 1024),
        ("quoted-1024-escaped-bytes", '"' + '\\"' * 1024 + '"', '"' * 1024),
    ):
        http(
            f"key-{slug}",
            ("Idempotency-Key", value),
            spec=key,
            want=read({"idempotency_key": want}),
        )
    http(
        "key-quoted-1025-bytes",
        ("Idempotency-Key", '"' + "k" * 1025 + '"'),
        spec="HDR-043 HDR-013",
        want="KEY_TOO_LONG",
    )
    for slug, value in {
        "quote-alone": '"', "quoted-empty": '""', "quote-not-closed": '"abc', "closed-by-an-escaped-quote": '"abc\\"',
        "escape-of-a-letter": r'"a\bc"', "escape-at-the-end": '"abc\\', "text-after-the-quote": '"abc"d', "parameter": '"abc";v=1',
        "blank-then-parameter": '"abc" ;v=1', "list": '"abc", "def"', "quote-inside-quoted": '"a"b"', "blank-inside-quoted": '"a b"',
        "tab-inside-quoted": '"a\tb"', "two-byte-letter-inside-quoted": '"caf\u00e9"', "two-byte-letter": "caf\u00e9",
        "delete": "a\x7f", "single-quote-string-blank": "'a b'",
    }.items():  # fmt: skip
        http(
            f"key-{slug}",
            ("Idempotency-Key", value),
            spec="HDR-043 HDR-044" if "letter" in slug or slug == "delete" else key,
            want="KEY_SYNTAX",
        )
    http(
        "key-binary-item",
        ("Idempotency-Key", ":YWJj:"),
        spec=key,
        want=read({"idempotency_key": ":YWJj:"}),
    )
    http(
        "key-ill-formed",
        ("Idempotency-Key", octets(b"abc\xff")),
        spec="HDR-011 HDR-044",
        want="HEADER_UTF8",
    )
    http(
        "key-quoted-and-ill-formed",
        ("Idempotency-Key", octets(b'"\xff"')),
        spec="HDR-011 HDR-043",
        want="HEADER_UTF8",
    )
    http("key-quoted-and-unquoted-are-one", ("Idempotency-Key", '"abc"'), ("idempotency-key", "abc"), spec="HDR-012 HDR-043",
         want=read({"idempotency_key": "abc"}))  # fmt: skip
    http(
        "key-quoted-conflict",
        ("Idempotency-Key", '"abc"'),
        ("Idempotency-Key", '"abd"'),
        spec="HDR-012 HDR-043",
        want="HEADER_CONFLICT",
    )
    http(
        "key-quoted-against-unquoted",
        ("Idempotency-Key", '"abc"'),
        ("Idempotency-Key", "abd"),
        spec="HDR-012 HDR-043",
        want="HEADER_CONFLICT",
    )
    http(
        "key-not-closed-equals-itself",
        ("Idempotency-Key", '"abc'),
        ("Idempotency-Key", '"abc'),
        spec="HDR-012 HDR-043",
        want="KEY_SYNTAX",
    )
    http("key-not-closed-is-no-other-key", ("Idempotency-Key", '"abc'), ("Idempotency-Key", '"\\"abc"'), spec="HDR-012 HDR-043",
         want="HEADER_CONFLICT", note="the second is the key that begins with a quote")  # fmt: skip
    for slug, one_value, other, want in (
        ("quoted-empty-equals-nothing", '""', "", "KEY_SYNTAX"),
        ("quote-alone-is-not-nothing", '"', "", "HEADER_CONFLICT"),
        ("quoted-blank-equals-itself-unquoted", '"a b"', "a b", "KEY_SYNTAX"),
        ("quoted-delete-is-no-string", '"a\x7f"', "a\x7f", "HEADER_CONFLICT"),
    ):
        http(
            f"key-{slug}",
            ("Idempotency-Key", one_value),
            ("Idempotency-Key", other),
            spec="HDR-012 HDR-043",
            want=want,
        )
    http(
        "previous-key-is-not-quoted",
        ("Idem-Idempotency-Key-Previous", '"abc"'),
        spec=key,
        want=read({"idempotency_key_previous": '"abc"'}),
    )
    http(
        "biz-key-is-not-quoted",
        ("Idem-Biz-Key", '"o-17"'),
        spec=key,
        want=read({"biz_key": '"o-17"'}),
    )
    byte = "HDR-044"
    http(
        "two-byte-letter-in-a-type", ("Idem-Event-Type", "\u00e9"), spec=byte, want="HEADER_SYNTAX"
    )
    http(
        "two-byte-letter-in-a-biz-key",
        ("Idem-Biz-Key", "\u00e9"),
        spec="HDR-044 HDR-013",
        want="KEY_SYNTAX",
    )
    for name in ("event_id", "topic", "traceparent", "tracestate", "reject_reason"):
        http(
            f"two-byte-letter-in-{slug_of(name)}",
            (HTTP[name], "caf\u00e9"),
            spec="HDR-044 HDR-014",
            want=read(warnings=[name]),
        )
        http(
            f"tab-in-{slug_of(name)}",
            (HTTP[name], "a\tb"),
            spec="HDR-044 HDR-014",
            want=read(warnings=[name]),
        )
    http(
        "tilde-and-blank-in-topic", (HTTP["topic"], "a ~b"), spec=byte, want=read({"topic": "a ~b"})
    )
    http(
        "unit-separator-in-topic",
        (HTTP["topic"], "a\x1fb"),
        spec="HDR-044 HDR-014",
        want=read(warnings=["topic"]),
    )
    http(
        "delete-in-tracestate",
        (HTTP["tracestate"], "a\x7f"),
        spec="HDR-044 HDR-014",
        want=read(warnings=["tracestate"]),
    )

    # --- CloudEvents
    def events(slug, *pairs, spec="HDR-045", want=None, note=""):
        g.add(f"cloudevents-{slug}", ask(*pairs, transport="cloudevents"), spec, want, note)

    given = ask(("specversion", "1.0"), ("id", "e-1"), ("source", "/payments"), ("type", "payments.paid"),
                ("time", "2025-01-01T04:00:00Z"), ("partitionkey", "o-17"), ("idempotencykey", "k"), transport="cloudevents")  # fmt: skip
    g.add("cloudevents-event", given, "HDR-045 HDR-015",
          read({"event_id": "e-1", "event_type": "payments.paid", "occurred_at": "2025-01-01T04:00:00Z", "biz_key": "o-17", "idempotency_key": "k"},
               [given["headers"][0], given["headers"][2]]))  # fmt: skip
    for slug, name in {
        "table-name": "retry_count", "table-name-of-id": "event_id", "eventid": "eventid", "eventtype": "eventtype",
        "occurredat": "occurredat", "bizkey": "bizkey", "upper-case": "ID", "capital": "Retrycount", "kafka-prefix": "ce_id",
        "http-prefix": "ce-retrycount", "http-name": "Idem-Retry-Count", "datacontenttype": "datacontenttype", "subject": "subject",
    }.items():  # fmt: skip
        unknown(
            f"cloudevents-name-{slug}", (name, "1"), transport="cloudevents", spec="HDR-015 HDR-045"
        )
    events(
        "key-quotes-are-bytes", ("idempotencykey", '"abc"'), want=read({"idempotency_key": '"abc"'})
    )
    events("blanks-count", ("retrycount", " 3"), want="HEADER_SYNTAX")
    events(
        "time-with-offset",
        ("time", "2025-01-01T05:00:00+01:00"),
        spec="HDR-003 HDR-045",
        want=read(warnings=["occurred_at"]),
    )
    events("partition-key-empty", ("partitionkey", ""), spec="HDR-045 HDR-013", want="KEY_SYNTAX")
    events("type-with-slash", ("type", "com.example/paid"), want="HEADER_SYNTAX")
    events(
        "conflict",
        ("id", "a"),
        ("id", "b"),
        spec="HDR-012 HDR-045",
        want=read(warnings=["event_id"]),
    )

    # --- shapes
    plain = ask(("retry_count", "1"))
    g.faults(
        "CONF-021 CONF-038",
        {
            "input-without-transport": {"headers": []},
            "input-without-headers": {"transport": "kafka"},
            "input-unknown-member": {**plain, "scope": "payments"},
            "input-transport-unknown": {**plain, "transport": "nats"},
            "input-transport-upper-case": {**plain, "transport": "Kafka"},
            "input-transport-null": {**plain, "transport": None},
            "input-headers-object": {"transport": "kafka", "headers": {"retry_count": utf8("1")}},
            "input-headers-null": {"transport": "kafka", "headers": None},
            "input-pair-of-one": {"transport": "kafka", "headers": [["retry_count"]]},
            "input-pair-of-three": {
                "transport": "kafka",
                "headers": [["retry_count", utf8("1"), None]],
            },
            "input-pair-object": {"transport": "kafka", "headers": [{"retry_count": "1"}]},
            "input-name-null": {"transport": "kafka", "headers": [[None, utf8("1")]]},
            "input-value-text": {"transport": "kafka", "headers": [["retry_count", "1"]]},
            "input-value-number": {"transport": "kafka", "headers": [["retry_count", 1]]},
            "input-value-empty": {"transport": "kafka", "headers": [["retry_count", {}]]},
            "input-value-two-forms": {
                "transport": "kafka",
                "headers": [["x", {"utf8": "1", "hex": "31"}]],
            },
            "input-value-unknown-form": {
                "transport": "kafka",
                "headers": [["x", {"base64": "MQ=="}]],
            },
            "input-value-utf8-null": {"transport": "kafka", "headers": [["x", {"utf8": None}]]},
            "input-value-hex-odd": {"transport": "kafka", "headers": [["x", {"hex": "1"}]]},
            "input-value-hex-upper-case": {"transport": "kafka", "headers": [["x", {"hex": "FF"}]]},
            "input-integer-on-kafka": ask(("retry_count", number(1))),
            "input-integer-on-http": ask(("Idem-Retry-Count", number(1)), transport="http"),
            "input-integer-on-cloudevents": ask(("retrycount", number(1)), transport="cloudevents"),
            "input-integer-in-an-unknown-header-on-kafka": ask(("x", number(1))),
            "input-integer-number": ask(("x", {"int": 1}), transport="amqp"),
            "input-integer-padded": ask(("retry_count", {"int": "03"}), transport="amqp"),
            "input-integer-minus-zero": ask(("retry_count", {"int": "-0"}), transport="amqp"),
            "input-after-a-fault": ask(("retry_count", "x"), ("y", {"hex": "0"})),
        },
    )
