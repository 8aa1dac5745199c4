"""What a producer sends: chapters 3, 4 and 6 for messages, CONF-040 to CONF-042.

Payloads are written field by field, so that the bytes are what the case says and no library's choice.
"""

from group import Group

PACKAGE = "idem.conformance.v1."
NEXT = "idem.conformance.edition2024.v1."


def varint(number: int) -> bytes:
    """Negative numbers take ten bytes, as for int32 and int64."""
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def f(number: int, value) -> bytes:
    """A field: text and bytes are length-delimited, integers and booleans are varints."""
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def fixed(number: int, value: int, size: int) -> bytes:
    tag = number << 3 | (5 if size == 4 else 1)
    return varint(tag) + (value & 2 ** (8 * size) - 1).to_bytes(size, "little")


def seconds(value: int, nanos: int = 0) -> bytes:
    """The content of a Timestamp, a Duration."""
    return (f(1, value) if value else b"") + (f(2, nanos) if nanos else b"")


def date(year: int, month: int, day: int) -> bytes:
    return f(1, year) + f(2, month) + f(3, day)


def money(currency: str, units: int, nanos: int) -> bytes:
    return f(1, currency) + f(2, units) + f(3, nanos)


def ask(name, *fields, context=None, package=PACKAGE):
    value = {"type": package + name, "payload": b"".join(fields).hex()}
    if context is not None:
        value["context"] = context
    return value


NOW = 1_735_704_000
UUID = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"

# Number, field, an extreme value on the wire, its text, and a zero on the wire.
SCALARS = (
    (1, "int32", f(1, -(2**31)), "-2147483648", f(1, 0)),
    (2, "int64", f(2, -(2**63)), "-9223372036854775808", f(2, 0)),
    (3, "uint32", f(3, 2**32 - 1), "4294967295", f(3, 0)),
    (4, "uint64", f(4, 2**64 - 1), "18446744073709551615", f(4, 0)),
    (5, "sint32", f(5, zigzag(-(2**31))), "-2147483648", f(5, 0)),
    (6, "sint64", f(6, zigzag(-(2**63))), "-9223372036854775808", f(6, 0)),
    (7, "fixed32", fixed(7, 2**32 - 1, 4), "4294967295", fixed(7, 0, 4)),
    (8, "fixed64", fixed(8, 14356348954446861389, 8), "14356348954446861389", fixed(8, 0, 8)),
    (9, "sfixed32", fixed(9, -(2**31), 4), "-2147483648", fixed(9, 0, 4)),
    (10, "sfixed64", fixed(10, -(2**63), 8), "-9223372036854775808", fixed(10, 0, 8)),
    (11, "bool", f(11, True), "true", f(11, False)),
    (12, "string", f(12, "a:b"), "a%3Ab", f(12, "")),
    (13, "bytes", f(13, b"\x00\xff"), "00ff", f(13, b"")),
    (14, "enum", f(14, -1), "-1", f(14, 0)),
)
ZEROS = "0 0 0 0 0 0 0 0 0 0 false".split() + ["", "", "0"]


def fill(g: Group) -> None:
    def fault(slug, value, spec, code, note=""):
        g.add(slug, value, spec, code, note)

    def key(slug, value, spec, want, note=""):
        """A message that has nothing but a key: `want` is what follows the version, or a code."""
        if want.isupper() and "_" in want and ":" not in want:
            g.add(slug, value, spec, want, note)
            return
        prefix, event_type = KEYS[value["type"]]
        text = prefix + want
        headers = [
            ["idempotency_key", {"utf8": text}],
            ["event_type", {"utf8": event_type}],
            ["idem_spec", {"utf8": "1"}],
        ]
        g.add(
            slug,
            value,
            spec,
            {"event_type": event_type, "idempotency_key": text, "headers": headers},
            note,
        )

    missing = "KEY_COMPONENT_MISSING"

    # --- the example of chapter 1
    payment = (f(1, "o-17"), f(2, "100.00"), f(3, "USD"), f(4, seconds(NOW)), f(5, "p/17"))
    g.add("payment", ask("PaymentSucceeded", *payment), "HDR-020 KEY-014 CONF-041", {
        "event_type": "payments.payment_success",
        "idempotency_key": "payments.payment_success:v1:p%2F17",
        "biz_key": "o-17",
        "fingerprint": "549bde46-a5ea4653f17fea90",
        "headers": [[name, {"utf8": text}] for name, text in (
            ("idempotency_key", "payments.payment_success:v1:p%2F17"), ("event_type", "payments.payment_success"),
            ("biz_key", "o-17"), ("occurred_at", "2025-01-01T04:00:00.000Z"), ("expected_current_state", "PAYING"),
            ("fingerprint", "549bde46-a5ea4653f17fea90"), ("idem_spec", "1"), ("max_retry", "5"), ("max_hold", "20"),
            ("backoff_base", "1"), ("backoff_jitter", "1000"), ("backoff_max", "300"),
        )],
    }, "the message and the headers that the overview shows")  # fmt: skip
    g.add("payment-of-another-scale", ask("PaymentSucceeded", payment[0], f(2, "1e2"), *payment[2:]), "HDR-020 HASH-030 TXT-004",
          note="the fingerprint of 100.00")  # fmt: skip
    g.add(
        "payment-of-another-amount",
        ask("PaymentSucceeded", payment[0], f(2, "100.01"), *payment[2:]),
        "HDR-020 HASH-030",
    )
    g.add("payment-without-time", ask("PaymentSucceeded", *payment[:3], payment[4]), "HDR-021")
    g.add(
        "payment-fields-backwards",
        ask("PaymentSucceeded", *reversed(payment)),
        "KEY-012",
        note="the order on the wire says nothing",
    )
    g.add(
        "payment-with-unknown-fields",
        ask("PaymentSucceeded", f(99, "x"), *payment, f(1000, 7), fixed(1001, 1, 8)),
        "KEY-012",
    )
    g.add(
        "payment-with-an-unknown-group",
        ask("PaymentSucceeded", *payment, varint(99 << 3 | 3), f(1, "x"), varint(99 << 3 | 4)),
        "KEY-012",
    )

    # --- context
    whole = {
        "event_id": "018f3c5e-8a2b-7c3d-9e4f-5a6b7c8d9e0f", "topic": "payments", "produced_at": "2025-01-01T04:00:01.500Z",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "rojo=1",
    }  # fmt: skip
    g.add(
        "context-whole",
        ask("PaymentSucceeded", *payment, context=whole),
        "HDR-020 HDR-022 CONF-041",
    )
    for name, value in whole.items():
        g.add(
            f"context-{name.replace('_', '-')}-alone",
            ask("OneString", f(1, "s"), context={name: value}),
            "HDR-022",
        )
    for slug, time in (
        ("seconds", "2025-01-01T04:00:00Z"),
        ("nine-digits", "2025-01-01T04:00:00.123999999Z"),
    ):
        g.add(
            f"context-produced-at-of-{slug}",
            ask("OneString", f(1, "s"), context={"produced_at": time}),
            "HDR-020 CONF-041",
        )
    for name in ("event_id", "topic", "traceparent", "tracestate"):
        g.add(
            f"context-{name.replace('_', '-')}-empty",
            ask("OneString", f(1, "s"), context={name: ""}),
            "HDR-022",
        )
    g.add("context-empty", ask("OneString", f(1, "s"), context={}), "HDR-022")

    # --- scalars
    extremes = [wire for _, _, wire, _, _ in SCALARS]
    texts = [text for _, _, _, text, _ in SCALARS]
    zeros = [zero for *_, zero in SCALARS]
    for kind in ("Implicit", "ImplicitAllow", "Explicit", "ExplicitAllow"):
        slug = {
            "Implicit": "implicit",
            "ImplicitAllow": "implicit-allow",
            "Explicit": "explicit",
            "ExplicitAllow": "explicit-allow",
        }[kind]
        key(
            f"scalars-{slug}-extremes",
            ask(f"Scalars{kind}", *extremes),
            "TXT-050 TXT-052 TXT-053 TXT-054",
            ":".join(texts),
        )
        if kind != "Implicit":
            key(
                f"scalars-{slug}-zeros",
                ask(f"Scalars{kind}", *zeros),
                "KEY-005 KEY-006",
                ":".join(ZEROS),
            )
        for position, (_, name, _, _, zero) in enumerate(SCALARS):
            rest = [*extremes[:position], *extremes[position + 1 :]]
            if kind == "Implicit":
                key(
                    f"scalars-{slug}-{name}-missing",
                    ask(f"Scalars{kind}", *rest),
                    "KEY-004",
                    missing,
                )
                key(f"scalars-{slug}-{name}-zero", ask(f"Scalars{kind}", *rest, zero), "KEY-004", missing,
                    "a zero on the wire is a zero, and missing" if position == 0 else "")  # fmt: skip
            elif kind == "Explicit":
                key(
                    f"scalars-{slug}-{name}-missing",
                    ask(f"Scalars{kind}", *rest),
                    "KEY-004",
                    missing,
                )
    key("scalars-implicit-allow-nothing", ask("ScalarsImplicitAllow"), "KEY-005", ":".join(ZEROS))
    key(
        "scalars-explicit-allow-nothing",
        ask("ScalarsExplicitAllow"),
        "KEY-005",
        ":".join(["~"] * 14),
    )
    key("scalars-oneof-nothing", ask("ScalarsOneof"), "KEY-005", ":".join(["~"] * 14))
    for position, (_, name, _, _, zero) in enumerate(SCALARS):
        want = ["~"] * 14
        want[position] = ZEROS[position]
        key(f"scalars-oneof-{name}-zero", ask("ScalarsOneof", zero), "KEY-006", ":".join(want))
    key(
        "oneof-last-member-counts",
        ask("ScalarsOneof", f(12, "x"), f(1, 7)),
        "KEY-006",
        "7" + ":~" * 13,
    )
    key("oneof-member-set-to-zero", ask("OneofError", f(2, 0)), "KEY-006", "0")
    key("oneof-other-member-set", ask("OneofError", f(1, "x")), "KEY-004", missing)
    key("oneof-unset-by-another-member", ask("OneofError", f(2, 5), f(1, "")), "KEY-004", missing)
    key("oneof-nothing", ask("OneofError"), "KEY-004", missing)

    for slug, text, want in (
        ("plain", "order-17", "order-17"), ("separator", "a:b", "a%3Ab"), ("tilde", "~", "%7E"), ("percent", "100%", "100%25"),
        ("two-byte-letter", "caf\u00e9", "caf%C3%A9"), ("decomposed-letter", "cafe\u0301", "cafe%CC%81"),
        ("emoji", "\U0001f600", "%F0%9F%98%80"), ("byte-order-mark", "\ufeff", "%EF%BB%BF"), ("nul", "\x00", "%00"),
        ("blanks", " a ", "%20a%20"), ("noncharacter", "\uffff", "%EF%BF%BF"), ("replacement-character", "\ufffd", "%EF%BF%BD"),
    ):  # fmt: skip
        key(f"string-{slug}", ask("OneString", f(1, text)), "KEY-001 TXT-070", want)
    key("string-missing", ask("OneString"), "KEY-004", missing)
    key("string-empty", ask("OneString", f(1, "")), "KEY-004", missing)
    key("string-empty-allowed", ask("OneStringAllow"), "KEY-005", "")
    key("string-tilde-where-absence-is-allowed", ask("OneStringAllow", f(1, "~")), "KEY-005", "%7E")
    key("string-last-one-counts", ask("OneString", f(1, "a"), f(1, "b")), "CONF-040", "b")
    key("string-last-one-is-empty", ask("OneString", f(1, "a"), f(1, "")), "KEY-004", missing)
    room = 1024 - len("conformance.scalars.string:v1:")
    key("string-fills-the-key", ask("OneString", f(1, "s" * room)), "KEY-011", "s" * room)
    key("string-too-long", ask("OneString", f(1, "s" * (room + 1))), "KEY-011", "KEY_TOO_LONG")
    key(
        "string-too-long-by-escaping",
        ask("OneString", f(1, "\u00e9" * (room // 6 + 1))),
        "KEY-011",
        "KEY_TOO_LONG",
    )
    key("bytes-plain", ask("OneBytes", f(1, b"\xde\xad\xbe\xef")), "TXT-054", "deadbeef")
    key("bytes-missing", ask("OneBytes"), "KEY-004", missing)
    key("bytes-nul", ask("OneBytes", f(1, b"\x00")), "TXT-054", "00")
    key("integer-last-one-counts", ask("OneInteger", f(1, 5), f(1, 6)), "CONF-040", "6")
    key("integer-minus-one", ask("OneInteger", f(1, -1)), "TXT-050", "-1")
    key("integer-zero-is-set", ask("OneInteger", f(1, 0)), "KEY-006", "0")
    key("integer-missing", ask("OneInteger"), "KEY-004", missing)
    key("integer-as-text-on-the-wire", ask("OneInteger", f(1, "5")), "KEY-012 KEY-004", missing,
        "another wire type is an unknown field")  # fmt: skip
    key("enum-alias", ask("OneShade", f(1, 1)), "TXT-053 KEY-012", "1")
    key("enum-undeclared", ask("OneShade", f(1, 42)), "TXT-053", "42")
    key("enum-undeclared-minus-one", ask("OneShade", f(1, -1)), "TXT-053", "-1")
    key("enum-largest", ask("OneShade", f(1, 2**31 - 1)), "TXT-053", "2147483647")
    key("enum-smallest", ask("OneShade", f(1, -(2**31))), "TXT-053", "-2147483648")

    # --- wrappers
    wrapped = [f(1, f(1, True)), f(2, f(1, b"\xff")), f(3, f(1, -1)), f(4, f(1, -(2**63))), f(5, f(1, "s")), f(6, f(1, 2**32 - 1)),
               f(7, f(1, 2**64 - 1))]  # fmt: skip
    want = f"true:ff:-1:{-(2**63)}:s:{2**32 - 1}:{2**64 - 1}"
    key("wrappers-set", ask("Wrappers", *wrapped), "KEY-006", want)
    key(
        "wrappers-without-content",
        ask("Wrappers", *[f(number, b"") for number in range(1, 8)]),
        "KEY-006",
        "false::0:0::0:0",
    )
    for position, name in enumerate(
        ("bool", "bytes", "int32", "int64", "string", "uint32", "uint64")
    ):
        key(
            f"wrappers-{name}-missing",
            ask("Wrappers", *wrapped[:position], *wrapped[position + 1 :]),
            "KEY-004",
            missing,
        )
    key("wrappers-allow-nothing", ask("WrappersAllow"), "KEY-005", "~:~:~:~:~:~")
    key("wrappers-allow-set", ask("WrappersAllow", f(1, f(1, "")), f(2, f(1, "1.50")), f(3, f(1, UUID)), f(4, f(1, "2025-01-01T05:00:00+01:00")),
                                  f(5, f(1, NOW)), f(6, b"")), "KEY-005 KEY-006",
        f":1.5:{UUID.lower()}:2025-01-01T04:00:00.000Z:2025-01-01T04:00:00.000Z:false")  # fmt: skip
    key(
        "wrappers-allow-zero-epoch",
        ask("WrappersAllow", f(5, b"")),
        "KEY-006",
        "~:~:~:~:1970-01-01T00:00:00.000Z:~",
    )
    key(
        "wrappers-allow-empty-decimal",
        ask("WrappersAllow", f(2, b"")),
        "KEY-006 TXT-008",
        "DECIMAL_SYNTAX",
    )
    key(
        "wrappers-allow-scale",
        ask("WrappersAllow", f(2, f(1, "1.555"))),
        "TXT-005",
        "DECIMAL_SCALE",
    )
    key(
        "wrappers-allow-empty-uuid",
        ask("WrappersAllow", f(3, b"")),
        "KEY-006 TXT-060",
        "UUID_SYNTAX",
    )
    key(
        "wrappers-allow-empty-time",
        ask("WrappersAllow", f(4, b"")),
        "KEY-006 TXT-024",
        "TIMESTAMP_SYNTAX",
    )

    # --- paths
    address = f(1, "Berlin") + f(2, "10115") + f(3, f(1, "4"))
    key(
        "paths-set",
        ask("Paths", f(1, f(1, "c-1") + f(2, address))),
        "KEY-010",
        "c-1:Berlin:10115:4",
    )
    key("paths-given-in-parts", ask("Paths", f(1, f(1, "c-1") + f(2, f(1, "Berlin"))), f(1, f(2, f(2, "10115") + f(3, f(1, "4"))))),
        "CONF-040", "c-1:Berlin:10115:4", "messages on the wire are merged")  # fmt: skip
    key("paths-message-unset", ask("Paths"), "KEY-004", missing)
    key("paths-message-empty", ask("Paths", f(1, b"")), "KEY-004", missing)
    key("paths-inner-message-unset", ask("Paths", f(1, f(1, "c-1"))), "KEY-004", missing)
    key(
        "paths-inner-message-empty", ask("Paths", f(1, f(1, "c-1") + f(2, b""))), "KEY-004", missing
    )
    key(
        "paths-explicit-leaf-empty",
        ask("Paths", f(1, f(1, "c-1") + f(2, f(1, "Berlin") + f(2, "") + f(3, b"")))),
        "KEY-006",
        "c-1:Berlin::",
    )
    key(
        "paths-explicit-leaf-unset",
        ask("Paths", f(1, f(1, "c-1") + f(2, f(1, "Berlin") + f(3, b"")))),
        "KEY-004",
        missing,
    )
    key(
        "paths-allow-message-unset",
        ask("PathsAllow"),
        "KEY-005",
        "~:~:~:~:~",
        "also where the leaf has no presence",
    )
    key("paths-allow-message-empty", ask("PathsAllow", f(1, b"")), "KEY-005", ":~:0:~:~")
    key("paths-allow-set", ask("PathsAllow", f(1, f(3, "n") + f(4, "") + f(5, 7) + f(6, b"") + f(7, ""))), "KEY-005 KEY-006",
        "n::7:1970-01-01T00:00:00.000Z:")  # fmt: skip
    key(
        "paths-allow-other-oneof-member",
        ask("PathsAllow", f(1, f(7, "m") + f(8, b""))),
        "KEY-005",
        ":~:0:~:~",
    )
    key(
        "paths-oneof-set",
        ask("PathsOneof", f(1, f(1, "b") + f(8, f(1, "Paris")))),
        "KEY-010",
        "b:Paris",
    )
    key(
        "paths-oneof-other-member",
        ask("PathsOneof", f(2, f(1, "b") + f(8, f(1, "Paris")))),
        "KEY-004",
        missing,
    )
    key(
        "paths-oneof-inner-other-member",
        ask("PathsOneof", f(1, f(1, "b") + f(7, "mail"))),
        "KEY-004",
        missing,
    )
    key("paths-oneof-allow-nothing", ask("PathsOneofAllow"), "KEY-005", "~:~:~")
    key(
        "paths-oneof-allow-member-without-content",
        ask("PathsOneofAllow", f(2, b"")),
        "KEY-005",
        "~::~",
    )
    key(
        "paths-oneof-allow-time-without-content",
        ask("PathsOneofAllow", f(3, b"")),
        "KEY-006",
        "~:~:1970-01-01T00:00:00.000Z",
    )
    key(
        "paths-oneof-allow-last-member-counts",
        ask("PathsOneofAllow", f(1, f(3, "n")), f(3, seconds(1))),
        "KEY-005",
        "~:~:1970-01-01T00:00:01.000Z",
    )
    key(
        "tree-of-three",
        ask("Tree", f(1, "a"), f(2, f(1, "b") + f(2, f(1, "c")))),
        "KEY-010",
        "a:b:c",
    )
    key("tree-of-one", ask("Tree", f(1, "a")), "KEY-005", "a:~:~")
    key("tree-of-two", ask("Tree", f(1, "a"), f(2, b"")), "KEY-005", "a::~")
    deep = b""
    for _ in range(100):
        deep = f(2, deep)
    key("tree-of-a-hundred-and-one", ask("Tree", f(1, "a"), deep), "CONF-040", "a::")
    key("tree-of-nothing", ask("Tree"), "KEY-005", ":~:~")
    key("nested-message", ask("Outer.Inner", f(1, "a"), f(2, f(1, 1))), "KEY-010", "a:1")
    key("nested-message-unset", ask("Outer.Inner", f(1, "a")), "KEY-005", "a:~")
    key("nested-innermost", ask("Outer.Inner.Innermost", f(1, 1)), "CONF-040", "1")

    # --- values
    for slug, text, want in (
        ("plain", "1.50", "1.5"), ("exponent", "1e3", "1000"), ("zero", "-0", "0"), ("syntax", "1,5", "DECIMAL_SYNTAX"),
        ("exponent-range", "1e10000", "DECIMAL_RANGE"), ("too-long", "1e256", "DECIMAL_RANGE"), ("full-width-digit", "\uff11", "DECIMAL_SYNTAX"),
    ):  # fmt: skip
        key(f"decimal-{slug}", ask("DecimalText", f(1, text)), "TXT-001 TXT-004", want)
        if slug != "full-width-digit":
            key(
                f"decimal-message-{slug}",
                ask("DecimalMessage", f(1, f(1, text))),
                "TXT-001 TXT-004",
                want,
            )
    key("decimal-empty", ask("DecimalText", f(1, "")), "KEY-004", missing)
    key(
        "decimal-empty-allowed",
        ask("DecimalTextAllow"),
        "KEY-005 TXT-008",
        "DECIMAL_SYNTAX",
        "the zero value has no text",
    )
    key(
        "decimal-set-to-empty",
        ask("DecimalTextWhole", f(1, "")),
        "KEY-006 TXT-008",
        "DECIMAL_SYNTAX",
    )
    key("decimal-scale", ask("DecimalTextScale", f(1, "1.55")), "TXT-005", "1.55")
    key(
        "decimal-scale-exceeded", ask("DecimalTextScale", f(1, "1.555")), "TXT-005", "DECIMAL_SCALE"
    )
    key("decimal-whole", ask("DecimalTextWhole", f(1, "15e-1")), "TXT-005", "DECIMAL_SCALE")
    key("decimal-whole-of-zeros", ask("DecimalTextWhole", f(1, "15.00")), "TXT-005", "15")
    key("decimal-message-without-content", ask("DecimalMessage", f(1, b"")), "TXT-008 KEY-006", "0")
    key("decimal-message-set-to-empty", ask("DecimalMessage", f(1, f(1, ""))), "TXT-008", "0")
    key("decimal-message-unset", ask("DecimalMessage"), "KEY-004", missing)
    key(
        "decimal-message-blank",
        ask("DecimalMessage", f(1, f(1, " "))),
        "TXT-008 TXT-001",
        "DECIMAL_SYNTAX",
    )
    key(
        "decimal-message-scale",
        ask("DecimalMessageScale", f(1, f(1, "1.2345"))),
        "TXT-005",
        "DECIMAL_SCALE",
    )
    key(
        "decimal-message-scale-reached",
        ask("DecimalMessageScale", f(1, f(1, "1.2340"))),
        "TXT-005",
        "1.234",
    )
    key(
        "decimal-message-scale-without-content",
        ask("DecimalMessageScale", f(1, b"")),
        "TXT-008",
        "0",
    )
    key("decimal-message-allowed", ask("DecimalMessageScale"), "KEY-005", "~")
    key("money-set", ask("MoneyValue", f(1, money("USD", 10, 500_000_000))), "TXT-010", "USD10.5")
    key(
        "money-negative-nanos-alone",
        ask("MoneyValue", f(1, money("USD", 0, -500_000_000))),
        "TXT-010",
        "USD-0.5",
    )
    key(
        "money-smallest",
        ask("MoneyValue", f(1, money("USD", -(2**63), -999_999_999))),
        "TXT-010",
        f"USD{-(2**63)}.999999999",
    )
    key("money-without-content", ask("MoneyValue", f(1, b"")), "TXT-011 KEY-006", "MONEY_CURRENCY")
    key("money-signs", ask("MoneyValue", f(1, money("USD", 1, -1))), "TXT-012", "MONEY_RANGE")
    key(
        "money-currency-before-range",
        ask("MoneyValue", f(1, money("usd", 1, -1))),
        "TXT-011",
        "MONEY_CURRENCY",
    )
    key("money-unset", ask("MoneyValue"), "KEY-004", missing)
    key(
        "timestamp-default-digits",
        ask("TimestampDefault", f(1, seconds(NOW, 123_456_789))),
        "TXT-020",
        "2025-01-01T04:00:00.123Z",
    )
    key(
        "timestamp-without-content",
        ask("TimestampDefault", f(1, b"")),
        "KEY-006",
        "1970-01-01T00:00:00.000Z",
    )
    key("timestamp-unset", ask("TimestampDefault"), "KEY-004", missing)
    key(
        "timestamp-seconds",
        ask("TimestampSeconds", f(1, seconds(-1, 999_999_999))),
        "TXT-021",
        "1969-12-31T23:59:59Z",
    )
    key("timestamp-seconds-unset", ask("TimestampSeconds"), "KEY-005", "~")
    key(
        "timestamp-nanos",
        ask("TimestampNanos", f(1, seconds(0, 1))),
        "TXT-020",
        "1970-01-01T00:00:00.000000001Z",
    )
    key(
        "timestamp-year-zero",
        ask("TimestampDefault", f(1, seconds(-62_135_596_801))),
        "TXT-022",
        "TIMESTAMP_RANGE",
    )
    key(
        "timestamp-negative-nanos",
        ask("TimestampDefault", f(1, seconds(0, -1))),
        "TXT-022",
        "TIMESTAMP_RANGE",
    )
    key(
        "timestamp-nanos-of-a-second",
        ask("TimestampDefault", f(1, seconds(0, 10**9))),
        "TXT-022",
        "TIMESTAMP_RANGE",
    )
    key(
        "timestamp-text",
        ask("TimestampText", f(1, "2025-01-01T05:00:00.123456789+01:00")),
        "TXT-024 TXT-025",
        "2025-01-01T04:00:00.123456Z",
    )
    key(
        "timestamp-text-syntax",
        ask("TimestampText", f(1, "2025-01-01")),
        "TXT-024",
        "TIMESTAMP_SYNTAX",
    )
    key(
        "timestamp-text-range",
        ask("TimestampText", f(1, "0000-01-01T00:00:00Z")),
        "TXT-022",
        "TIMESTAMP_RANGE",
    )
    key("timestamp-text-empty", ask("TimestampText"), "KEY-004", missing)
    key("epoch-seconds", ask("EpochSeconds", f(1, -1)), "TXT-023", "1969-12-31T23:59:59.000Z")
    key(
        "epoch-seconds-zero-is-set",
        ask("EpochSeconds", f(1, 0)),
        "KEY-006",
        "1970-01-01T00:00:00.000Z",
    )
    key(
        "epoch-seconds-range",
        ask("EpochSeconds", f(1, 2**63 - 1)),
        "TXT-023 TXT-022",
        "TIMESTAMP_RANGE",
    )
    key("epoch-seconds-unset", ask("EpochSeconds"), "KEY-004", missing)
    key(
        "epoch-milliseconds",
        ask("EpochMillis", f(1, zigzag(-1500))),
        "TXT-023",
        "1969-12-31T23:59:58.500Z",
    )
    key(
        "epoch-milliseconds-zero-allowed", ask("EpochMillis"), "KEY-005", "1970-01-01T00:00:00.000Z"
    )
    key(
        "epoch-microseconds",
        ask("EpochMicros", fixed(1, -1, 8)),
        "TXT-023",
        "1969-12-31T23:59:59.999999Z",
    )
    key("epoch-microseconds-zero-is-missing", ask("EpochMicros"), "KEY-004", missing)
    key(
        "epoch-nanoseconds-unsigned",
        ask("EpochNanos", f(1, 2**64 - 1)),
        "TXT-023",
        "2554-07-21T23:34:33.709551615Z",
    )
    key("epoch-of-32-bits", ask("Epoch32", f(1, -(2**31)), f(2, 2**32 - 1), fixed(3, 2**32 - 1, 4)), "TXT-023",
        "1901-12-13T20:45:52.000Z:2106-02-07T06:28:15.000Z:1970-02-19T17:02:47Z")  # fmt: skip
    key(
        "duration-default-digits",
        ask("DurationDefault", f(1, seconds(-1, -500_000_000))),
        "TXT-030",
        "-1.500s",
    )
    key("duration-without-content", ask("DurationDefault", f(1, b"")), "KEY-006", "0.000s")
    key("duration-seconds", ask("DurationSeconds", f(1, seconds(0, -999_999_999))), "TXT-031", "0s")
    key(
        "duration-nanos",
        ask("DurationNanos", f(1, seconds(315_576_000_000, 999_999_999))),
        "TXT-032",
        "315576000000.999999999s",
    )
    key(
        "duration-range",
        ask("DurationDefault", f(1, seconds(315_576_000_001))),
        "TXT-032",
        "DURATION_RANGE",
    )
    key("duration-signs", ask("DurationDefault", f(1, seconds(1, -1))), "TXT-032", "DURATION_RANGE")
    key("duration-unset", ask("DurationDefault"), "KEY-004", missing)
    key("date-set", ask("DateValue", f(1, date(2025, 1, 1))), "TXT-040", "2025-01-01")
    key("date-partial", ask("DateValue", f(1, f(1, 2025) + f(2, 1))), "TXT-040", "DATE_RANGE")
    key("date-without-content", ask("DateValue", f(1, b"")), "TXT-040 KEY-006", "DATE_RANGE")
    key("date-impossible", ask("DateValue", f(1, date(2025, 2, 29))), "TXT-040", "DATE_RANGE")
    key("date-negative-year", ask("DateValue", f(1, date(-1, 1, 1))), "TXT-040", "DATE_RANGE")
    key("date-unset", ask("DateValue"), "KEY-004", missing)
    key("uuid-set", ask("UuidText", f(1, UUID)), "TXT-060", UUID.lower())
    key("uuid-syntax", ask("UuidText", f(1, "nil")), "TXT-060", "UUID_SYNTAX")
    key("uuid-empty", ask("UuidText"), "KEY-004", missing)

    # --- digests
    g.add("digest-string", ask("DigestString", f(1, "a@b.c")), "KEY-003")
    g.add("digest-string-of-5000-bytes", ask("DigestString", f(1, "s" * 5000)), "KEY-003 KEY-011")
    key("digest-string-missing", ask("DigestString"), "KEY-004", missing)
    g.add("digest-bytes", ask("DigestBytes", f(1, b"\xde\xad")), "KEY-003", note="of the text dead")
    key(
        "digest-allow-nothing",
        ask("DigestAllow"),
        "KEY-005",
        "e3b0c44298fc1c149afbf4c8996fb924:~",
        "a zero value is digested, absence is not",
    )
    key(
        "digest-allow-set-to-empty",
        ask("DigestAllow", f(2, b"")),
        "KEY-005 KEY-006",
        "e3b0c44298fc1c149afbf4c8996fb924:e3b0c44298fc1c149afbf4c8996fb924",
    )
    g.add("digest-allow-tilde", ask("DigestAllow", f(1, "~"), f(2, f(1, "~"))), "KEY-003 KEY-005")
    key("digests-of-nothing", ask("Digests"), "KEY-005", ":".join(["~"] * 13))
    g.add("digests-of-every-kind",
          ask("Digests", f(1, True), f(2, -1), f(3, 2**64 - 1), f(4, 1), f(5, "1.50"), f(6, UUID), f(7, seconds(NOW)),
              f(8, "2025-01-01T04:00:00Z"), f(9, NOW * 1000), f(10, seconds(1)), f(11, date(2025, 1, 1)), f(12, f(1, "1.50")),
              f(13, money("USD", 10, 0))), "KEY-003", note="equal values have equal digests: 5 and 12; 7, 8 and 9")  # fmt: skip
    key("digests-of-a-faulty-value", ask("Digests", f(5, "x")), "KEY-003 TXT-001", "DECIMAL_SYNTAX")
    g.add("digest-below-a-redacted-message", ask("RedactedPath", f(1, f(1, "a@b.c"))), "KEY-003")
    key("digest-below-an-unset-message", ask("RedactedPath"), "KEY-004", missing)

    # --- templates
    key("template-literals-behind", ask("Literals", f(1, "x")), "KEY-010", "x:of:x:AZaz09._-")
    many = [f(number, f"v{number}") for number in range(1, 41)]
    key(
        "template-of-forty",
        ask("Many", *many),
        "KEY-010",
        ":".join(f"v{number}" for number in range(1, 41)),
    )
    key("template-of-forty-last-missing", ask("Many", *many[:-1]), "KEY-011 KEY-004", missing)
    key(
        "template-of-forty-long",
        ask("Many", *[f(number, "v" * 30) for number in range(1, 41)]),
        "KEY-011",
        "KEY_TOO_LONG",
    )
    key(
        "template-of-forty-long-and-last-missing",
        ask("Many", *[f(number, "v" * 300) for number in range(1, 40)]),
        "KEY-011",
        missing,
    )
    g.add("template-previous", ask("Previous", f(1, "a"), f(2, "b")), "HDR-020 KEY-010")
    key("template-previous-missing", ask("Previous", f(2, "b")), "KEY-011", missing)
    g.add("template-biz-key", ask("BizKey", f(1, "a"), f(2, "o:1")), "KEY-013 HDR-020")
    key("template-biz-key-missing", ask("BizKey", f(1, "a")), "KEY-013 KEY-004", missing)
    key("template-biz-key-empty", ask("BizKeyEmpty", f(1, "a")), "KEY-013", "KEY_EMPTY")
    g.add("template-biz-key-not-empty", ask("BizKeyEmpty", f(1, "a"), f(2, "o")), "KEY-013")
    key(
        "template-biz-key-too-long",
        ask("BizKey", f(1, "a"), f(2, "o" * 1025)),
        "KEY-013 KEY-011",
        "KEY_TOO_LONG",
    )
    g.add(
        "template-biz-key-fills-its-room",
        ask("BizKey", f(1, "a"), f(2, "o" * 1024)),
        "KEY-013 KEY-011",
    )
    g.add(
        "template-biz-key-compound", ask("BizKeyCompound", f(1, "a"), f(2, 7), f(3, "o")), "KEY-013"
    )
    g.add(
        "template-fingerprint",
        ask("Fingerprint", f(1, "a"), f(2, "100.00"), f(3, "USD")),
        "KEY-013 HASH-030",
    )
    g.add(
        "template-fingerprint-empty-component",
        ask("Fingerprint", f(1, "a"), f(2, "1")),
        "KEY-013 HASH-030 KEY-005",
    )
    key(
        "template-fingerprint-missing",
        ask("Fingerprint", f(1, "a"), f(3, "USD")),
        "KEY-013 KEY-004",
        missing,
    )
    key(
        "template-fingerprint-scale",
        ask("Fingerprint", f(1, "a"), f(2, "1.005")),
        "KEY-013 TXT-005",
        "DECIMAL_SCALE",
    )
    key(
        "template-fingerprint-too-long",
        ask("Fingerprint", f(1, "a"), f(2, "1"), f(3, "c" * 1024)),
        "KEY-013 KEY-011",
        "KEY_TOO_LONG",
    )

    # --- occurred_at
    when = "HDR-021"
    g.add(
        "occurred-at",
        ask("OccurredAt", f(1, "a"), f(2, seconds(NOW, 123_456_789))),
        "HDR-020 HDR-021",
    )
    g.add("occurred-at-unset", ask("OccurredAt", f(1, "a")), when)
    g.add(
        "occurred-at-without-content",
        ask("OccurredAt", f(1, "a"), f(2, b"")),
        "HDR-021 KEY-006",
        note="1970 is a time",
    )
    fault(
        "occurred-at-range",
        ask("OccurredAt", f(1, "a"), f(2, seconds(0, -1))),
        when,
        "TIMESTAMP_RANGE",
    )
    g.add(
        "occurred-at-text",
        ask("OccurredAtText", f(1, "a"), f(2, "2025-01-01T05:00:00.9+01:00")),
        when,
    )
    g.add("occurred-at-text-empty", ask("OccurredAtText", f(1, "a")), when)
    fault(
        "occurred-at-text-syntax",
        ask("OccurredAtText", f(1, "a"), f(2, "today")),
        when,
        "TIMESTAMP_SYNTAX",
    )
    g.add("occurred-at-epoch", ask("OccurredAtEpoch", f(1, "a"), f(2, -1)), when)
    g.add(
        "occurred-at-epoch-zero",
        ask("OccurredAtEpoch", f(1, "a")),
        when,
        note="a value of the key, and missing for the header",
    )
    g.add("occurred-at-path", ask("OccurredAtPath", f(1, "a"), f(2, f(1, seconds(NOW)))), when)
    g.add("occurred-at-path-unset", ask("OccurredAtPath", f(1, "a")), when)
    g.add("occurred-at-path-other-member", ask("OccurredAtPath", f(1, "a"), f(2, f(2, "x"))), when)
    g.add(
        "occurred-at-path-without-content", ask("OccurredAtPath", f(1, "a"), f(2, f(1, b""))), when
    )

    # --- the order of faults
    good = {
        "key": f(1, "1"),
        "key2": f(2, UUID),
        "previous": f(3, "p"),
        "biz": f(4, "b"),
        "content": f(5, "2025-01-01T04:00:00Z"),
        "at": f(6, b""),
    }
    bad = {
        "key": (f(1, "x"), "DECIMAL_SYNTAX"), "key2": (f(2, "x"), "UUID_SYNTAX"), "previous": (b"", missing), "biz": (b"", "KEY_EMPTY"),
        "content": (f(5, "x"), "TIMESTAMP_SYNTAX"), "at": (f(6, seconds(0, -1)), "TIMESTAMP_RANGE"),
    }  # fmt: skip
    g.add("faults-none", ask("Faults", *good.values()), "CONF-042 CONF-041")
    names = list(good)
    for position, name in enumerate(names):
        broken = [good[other] for other in names[:position]] + [
            bad[other][0] for other in names[position:]
        ]
        fault(f"faults-from-{name}-on", ask("Faults", *broken), "CONF-042 GEN-002", bad[name][1])
        alone = [bad[other][0] if other == name else good[other] for other in names]
        if name != "at":
            fault(f"faults-of-{name}-alone", ask("Faults", *alone), "CONF-042", bad[name][1])

    # --- everything, retry, states
    g.add("everything", ask("Everything", f(1, "a"), f(2, 3), f(3, "o"), f(4, "1.50"), f(5, "USD"), f(6, seconds(NOW)), f(7, 2), context=whole),
          "HDR-020 CONF-041")  # fmt: skip
    for name in ("Defaults", "Least", "Most", "Schedule", "ScheduleZero"):
        slug = {"ScheduleZero": "schedule-of-zero"}.get(name, name.lower())
        g.add(f"retry-{slug}", ask(f"Retry{name}", f(1, "a")), "HDR-020 RETRY-001")
    for name, slug in (
        ("InvoicePaid", "middle"),
        ("InvoiceCancelled", "side"),
        ("TicketCreated", "creation"),
        ("TicketOpened", "text"),
        ("Job", "nested"),
    ):
        g.add(
            f"transition-{slug}",
            ask(name, f(1, "a")),
            "HDR-020 STATE-002" if slug == "creation" else "HDR-020",
        )

    # --- names never enter a key, and never mix up a field
    words = ("class None from import def lambda self True async type func range package interface switch int default return go map string"
             " message oneof option repeated new this null public void Object dst start err idem").split()  # fmt: skip
    key("names-keywords", ask("Keywords", *[f(number, f"v-{word}") for number, word in enumerate(words, 1)]), "KEY-012",
        ":".join(f"v-{word}" for word in words))  # fmt: skip
    key(
        "names-cases",
        ask("Cases", *[f(number, f"v{number}") for number in range(1, 9)]),
        "KEY-012",
        ":".join(f"v{number}" for number in range(1, 9)),
    )
    key("names-methods", ask("Methods", *[f(number, f"v{number}") for number in (1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)]), "KEY-012",
        ":".join(f"v{number}" for number in (1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)))  # fmt: skip
    key(
        "names-methods-optional-unset",
        ask("Methods", *[f(number, f"v{number}") for number in (1, 3, 4, 5, 6, 7, 8, 9, 11, 12)]),
        "KEY-004",
        missing,
    )
    key(
        "names-collisions",
        ask("Collisions", f(1, "count"), f(2, "a"), f(2, "b"), f(3, 1), f(4, "value")),
        "KEY-012",
        "count:1:value",
    )
    for name, path in (("Names", f(1, "a")), ("None", f(1, "a")), ("String", f(1, "a")), ("Object", f(1, f(1, "a"))), ("lower_case", f(1, "a")),
                       ("lower_case.lambda", f(1, "a"))):  # fmt: skip
        slug = name.lower().replace("_", "-").replace(".", "-")
        key(f"names-message-{slug}", ask(name, path), "KEY-012", "a")
    key("names-file-with-dash", ask("DashFile", f(1, f(1, "a"))), "KEY-012", "a")

    # --- proto2
    key("proto2-required", ask("Proto2Required", f(1, "a")), "CONF-040", "a")
    key("proto2-required-set-to-empty", ask("Proto2Required", f(1, "")), "KEY-006", "")
    fault("proto2-required-missing", ask("Proto2Required"), "CONF-040", "PAYLOAD_INVALID")
    key(
        "proto2-defaults-set",
        ask("Proto2Defaults", f(1, 5), f(2, "five"), f(3, b"five"), f(4, True)),
        "KEY-006",
        "5:five:66697665:true",
    )
    key(
        "proto2-defaults-set-to-zeros",
        ask("Proto2Defaults", f(1, 0), f(2, ""), f(3, b""), f(4, False)),
        "KEY-006",
        "0:::false",
    )
    key(
        "proto2-defaults-unset",
        ask("Proto2Defaults"),
        "KEY-004 KEY-006",
        missing,
        "a default is not looked at",
    )
    key("proto2-defaults-allowed-unset", ask("Proto2DefaultsAllow"), "KEY-005 KEY-006", "~:~:~:~")
    g.add("proto2-text", ask("Proto2Text", f(1, "a")), "KEY-005 CONF-040")
    g.add(
        "proto2-text-and-its-values",
        ask(
            "Proto2Text",
            f(1, "p/\u00e9"),
            f(2, "secret"),
            f(3, "1.50"),
            f(4, UUID),
            f(5, "2025-01-01T05:00:00+01:00"),
        ),
        "KEY-003 HASH-030 CONF-040",
        note="what a parser does not check is read where it is well-formed",
    )
    ill = b"a\xff"
    for number, name, code in ((1, "string", "STRING_UTF8"), (2, "digest", "STRING_UTF8"), (3, "decimal", "DECIMAL_SYNTAX"),
                               (4, "uuid", "UUID_SYNTAX"), (5, "timestamp", "TIMESTAMP_SYNTAX")):  # fmt: skip
        fields = [f(1, "a"), f(number, ill)] if number != 1 else [f(1, ill)]
        fault(f"proto2-ill-formed-{name}", ask("Proto2Text", *fields), "CONF-040 GEN-004", code)
    key("proto2-rest", ask("Proto2Rest", f(1, "a"), f(2, 1), varint(3 << 3 | 3), f(4, "g"), varint(3 << 3 | 4), f(5, f(1, "s")), f(100, "x")),
        "KEY-012", "a:s")  # fmt: skip
    key(
        "proto2-closed-enum-undeclared",
        ask("Proto2Rest", f(1, "a"), f(2, 9), f(5, f(1, "s"))),
        "CONF-040",
        "a:s",
    )
    key(
        "proto2-ill-formed-where-no-component-is",
        ask("Proto2Rest", f(1, "a"), f(5, f(1, "s")), f(100, ill)),
        "CONF-040",
        "a:s",
    )
    key(
        "proto2-collisions",
        ask("Proto2Collisions", f(1, "a"), f(2, "b"), f(3, "c"), f(4, "d")),
        "KEY-012",
        "a:b:c:d",
    )

    # --- editions
    presence = "Edition2023Presence"
    key(
        "edition2023-nothing-but-required", ask(presence, f(3, "r"), f(4, 1)), "KEY-005", ":~:r:1:~"
    )
    key(
        "edition2023-set",
        ask(presence, f(1, "i"), f(2, "e"), f(3, "r"), f(4, -1), f(5, 0)),
        "KEY-006",
        "i:e:r:-1:0",
    )
    key(
        "edition2023-explicit-empty",
        ask(presence, f(2, ""), f(3, ""), f(4, 1)),
        "KEY-006",
        "::" + ":1:~",
    )
    key("edition2023-implicit-zero", ask(presence, f(3, "r"), f(4, 0)), "KEY-004", missing)
    fault("edition2023-required-missing", ask(presence, f(4, 1)), "CONF-040", "PAYLOAD_INVALID")
    text = "Edition2023Text"
    key("edition2023-text", ask(text, f(1, "a"), f(3, "c")), "KEY-005", "a:~:c")
    key("edition2023-unchecked-missing", ask(text), "KEY-004", missing)
    fault(
        "edition2023-unchecked-ill-formed", ask(text, f(1, ill)), "CONF-040 GEN-004", "STRING_UTF8"
    )
    fault(
        "edition2023-unchecked-explicit-ill-formed",
        ask(text, f(1, "a"), f(2, ill)),
        "CONF-040 GEN-004",
        "STRING_UTF8",
    )
    fault(
        "edition2023-checked-ill-formed",
        ask(text, f(1, "a"), f(3, ill)),
        "CONF-040",
        "PAYLOAD_INVALID",
    )
    fault(
        "edition2023-checked-and-unchecked-ill-formed",
        ask(text, f(1, ill), f(3, ill)),
        "CONF-040",
        "PAYLOAD_INVALID",
        "parsing comes first",
    )
    group = varint(3 << 3 | 3) + f(1, "d") + varint(3 << 3 | 4)
    g.add(
        "edition2023-rest",
        ask("Edition2023Rest", f(1, 1), f(2, 1), group, f(4, f(1, "s")), f(5, "t")),
        "KEY-012 HDR-021",
    )
    g.add(
        "edition2023-rest-time",
        ask("Edition2023Rest", f(1, 7), f(4, f(1, "s")), f(6, seconds(NOW))),
        "KEY-005 HDR-021",
    )
    key(
        "edition2023-rest-open-missing", ask("Edition2023Rest", f(4, f(1, "s"))), "KEY-004", missing
    )
    opaque = [f(1, "t"), f(7, f(1, "s")), f(10, "c")]
    g.add("edition2024-opaque-least", ask("Opaque", *opaque, package=NEXT), "KEY-005 HDR-020")
    g.add("edition2024-opaque-zeros", ask("Opaque", f(1, ""), f(2, ""), f(3, 0), f(4, b""), f(5, False), f(6, 0), f(7, b""), f(8, b""), f(9, b""), f(10, "c"),
                                          package=NEXT), "KEY-005 KEY-006 HDR-021")  # fmt: skip
    g.add("edition2024-opaque-set", ask("Opaque", f(1, "t"), f(2, "i"), f(3, -1), f(4, b"\xff"), f(5, True), f(6, 9), f(7, f(1, "s")), f(8, f(1, 2**63 - 1)),
                                        f(9, seconds(NOW)), f(10, "c"), package=NEXT), "KEY-006 HDR-020")  # fmt: skip
    fault(
        "edition2024-opaque-other-member",
        ask("Opaque", f(1, "t"), f(7, b""), f(11, 1), package=NEXT),
        "KEY-004 KEY-013",
        missing,
    )
    fault(
        "edition2024-opaque-biz-key-empty",
        ask("Opaque", f(1, "t"), f(7, b""), f(10, ""), package=NEXT),
        "KEY-013",
        "KEY_EMPTY",
    )
    key("edition2024-opaque-names", ask("OpaqueNames", *[f(number, f"v{number}") for number in range(1, 9)], package=NEXT), "KEY-012",
        ":".join(f"v{number}" for number in range(1, 9)))  # fmt: skip
    key(
        "edition2024-hybrid",
        ask("Hybrid", f(1, "a"), f(5, f(1, "s")), package=NEXT),
        "KEY-005",
        "a:~::~:s",
    )
    key("edition2024-open", ask("Open", f(1, "a"), f(3, ""), package=NEXT), "KEY-005", "a:~:")
    key("edition2024-nested", ask("Nested", f(1, ""), package=NEXT), "KEY-006", "")

    # --- payloads that are no message
    invalid = "PAYLOAD_INVALID"
    for slug, raw in {
        "tag-alone": b"\x0a",
        "length-beyond-the-end": b"\x0a\x05a",
        "text-cut-short": f(1, "abc")[:-1],
        "tag-cut-short": b"\x80",
        "tag-of-field-zero": b"\x02\x01a",
        "wire-type-six": b"\x0e",
        "wire-type-seven": b"\x0f",
        "end-of-no-group": b"\x0c",
        "group-not-closed": varint(9 << 3 | 3) + f(1, "x"),
        "varint-of-eleven-bytes": b"\x10" + b"\xff" * 10 + b"\x01",
        "varint-cut-short": b"\x10\xff",
        "fixed-cut-short": b"\x11\x01\x02",
        "ff-bytes": b"\xff" * 12,
        "good-then-bad": f(1, "a") + b"\x0a",
    }.items():
        fault(
            f"payload-{slug}",
            {"type": PACKAGE + "OneString", "payload": raw.hex()},
            "CONF-040",
            invalid,
        )
    for slug, raw in {
        "ff": b"\xff",
        "surrogate": b"\xed\xa0\x80",
        "overlong": b"\xc0\x80",
        "cut": b"a\xc3",
    }.items():
        fault(f"payload-ill-formed-{slug}", ask("OneString", f(1, raw)), "CONF-040", invalid)
    fault(
        "payload-ill-formed-in-another-field",
        ask("PaymentSucceeded", *payment[:4], payment[4], f(3, b"\xff")),
        "CONF-040",
        invalid,
    )
    fault("payload-inner-message-cut", ask("Paths", f(1, b"\x0a\x05a")), "CONF-040", invalid)
    key(
        "payload-ill-formed-in-an-unknown-field",
        ask("OneString", f(1, "a"), f(99, b"\xff")),
        "KEY-012 CONF-040",
        "a",
    )

    # --- types and shapes
    plain = ask("OneString", f(1, "s"))
    g.faults(
        "CONF-040",
        {
            "type-unknown": {**plain, "type": PACKAGE + "Nothing"},
            "type-empty": {**plain, "type": ""},
            "type-without-package": {**plain, "type": "OneString"},
            "type-with-leading-dot": {**plain, "type": "." + PACKAGE + "OneString"},
            "type-url": {**plain, "type": "type.googleapis.com/" + PACKAGE + "OneString"},
            "type-not-annotated": {**plain, "type": PACKAGE + "Customer"},
            "type-not-annotated-but-around-one": {**plain, "type": PACKAGE + "Outer"},
            "type-of-an-enum": {**plain, "type": PACKAGE + "Color"},
            "type-in-another-case": {**plain, "type": PACKAGE + "onestring"},
            "type-unknown-before-payload": {"type": PACKAGE + "Nothing", "payload": "ff"},
        },
    )
    g.faults(
        "CONF-021 CONF-041",
        {
            "input-without-type": {"payload": ""},
            "input-without-payload": {"type": PACKAGE + "OneString"},
            "input-unknown-member": {**plain, "headers": []},
            "input-type-null": {**plain, "type": None},
            "input-payload-null": {**plain, "payload": None},
            "input-payload-odd": {**plain, "payload": "0"},
            "input-payload-upper-case": {**plain, "payload": "0A0141"},
            "input-payload-base64": {**plain, "payload": "CgFz"},
            "input-context-null": {**plain, "context": None},
            "input-context-list": {**plain, "context": []},
            "input-context-unknown": {**plain, "context": {"partition": "1"}},
            "input-context-of-a-key": {**plain, "context": {"idempotency_key": "k"}},
            "input-context-number": {**plain, "context": {"topic": 1}},
            "input-context-null-member": {**plain, "context": {"event_id": None}},
            "input-produced-at-no-time": {**plain, "context": {"produced_at": "now"}},
            "input-produced-at-offset": {
                **plain,
                "context": {"produced_at": "2025-01-01T05:00:00+01:00"},
            },
            "input-produced-at-of-year-zero": {
                **plain,
                "context": {"produced_at": "0000-01-01T00:00:00Z"},
            },
            "input-before-payload": {
                "type": PACKAGE + "OneString",
                "payload": "ff",
                "context": {"x": "y"},
            },
        },
    )


def _keys() -> dict[str, tuple[str, str]]:
    """What stands before the first placeholder of each message's key, and its event type."""
    from reference import message

    found = {}
    todo = [
        inner
        for name in (
            "a-b digest edition2023 names payment presence proto2 scalars states templates values".split()
        )
        for inner in message.pool()
        .FindFileByName(f"idem/conformance/v1/{name}.proto")
        .message_types_by_name.values()
    ]
    todo += (
        message.pool()
        .FindFileByName("idem/conformance/edition2024/v1/edition2024.proto")
        .message_types_by_name.values()
    )
    for descriptor in todo:
        todo += descriptor.nested_types
        settings = message.options(descriptor, message.MESSAGE_OPTIONS)
        if settings is not None:
            template = settings.idempotency_key
            found[descriptor.full_name] = (template[: template.index("{")], template.split(":")[0])
    return found


KEYS = _keys()
