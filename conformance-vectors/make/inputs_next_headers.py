"""The headers of the next delivery: HDR-023, HDR-030 to HDR-045, CONF-039."""

from group import Group, without
from inputs_headers import GOOD, HTTP, TABLE, ask, name_on, number, octets, slug_of, utf8

NOW = 1_735_704_000_000
MAX = 2**63 - 1
LAST = 253_402_300_799_999


def retry(delay=2017, count=3, hold=1, reason="HTTP_502", action="RETRY"):
    return {
        "action": action,
        "delay_ms": str(delay),
        "retry_count": str(count),
        "hold_count": str(hold),
        "reject_reason": reason,
    }


def hold(**given):
    return retry(action="HOLD", **given)


def defer(delay=500, count=3, holds=1):
    return without(retry(delay, count, holds, action="DEFER"), "reject_reason")


def dead(reason="CONFLICT", **counts):
    return {
        "action": "DEAD_LETTER",
        "reject_reason": reason,
        **{k: str(v) for k, v in counts.items()},
    }


def redrive(count=0, drop=False):
    value = {"action": "REDRIVE", "redrive_count": str(count)}
    if drop:
        value["drop_fingerprint"] = True
    return value


def step(decision, *pairs, transport="kafka", now=NOW, scope="payments", topic="orders"):
    return {
        **ask(*pairs, transport=transport),
        "decision": decision,
        "scope": scope,
        "topic": topic,
        "now_ms": str(now),
    }


def fill(g: Group) -> None:
    def add(slug, value, spec, want=None, note=""):
        """`want` is a list of (name, value) or an error code."""
        if isinstance(want, list):
            want = {"headers": [[name, utf8(v) if isinstance(v, str) else v] for name, v in want]}
        g.add(slug, value, spec, want, note)

    due, soon = "2025-01-01T04:00:02.017Z", "2025-01-01T04:00:00.500Z"
    later = [
        ("target_scope", "payments"),
        ("retry_interval", "2017"),
        ("next_retry_time", due),
        ("reject_reason", "HTTP_502"),
    ]
    counts = [("retry_count", "3"), ("hold_count", "1")]
    rule = "HDR-030 HDR-031"

    # --- from nothing
    add("retry-of-no-headers", step(retry()), rule, [("topic", "orders"), *counts, *later])
    add("hold-of-no-headers", step(hold()), rule, [("topic", "orders"), *counts, *later])
    add("defer-of-no-headers", step(defer()), rule,
        [("topic", "orders"), *counts, ("target_scope", "payments"), ("retry_interval", "500"), ("next_retry_time", soon)])  # fmt: skip
    add(
        "dead-letter-of-no-headers",
        step(dead()),
        rule,
        [("topic", "orders"), ("target_scope", "payments"), ("reject_reason", "CONFLICT")],
    )
    add("dead-letter-with-counts", step(dead(retry_count=5, hold_count=2)), rule,
        [("topic", "orders"), ("retry_count", "5"), ("hold_count", "2"), ("target_scope", "payments"), ("reject_reason", "CONFLICT")])  # fmt: skip
    add("redrive-of-no-headers", step(redrive()), "HDR-031 HDR-033",
        [("topic", "orders"), ("retry_count", "0"), ("hold_count", "0"), ("redrive_count", "1"), ("target_scope", "payments")])  # fmt: skip

    # --- from every header, on every transport
    def after(decision_name):
        changed = {"target_scope": "payments"}
        if decision_name in ("retry", "hold"):
            changed |= {
                "retry_count": "3",
                "hold_count": "1",
                "retry_interval": "2017",
                "next_retry_time": due,
                "reject_reason": "HTTP_502",
            }
        elif decision_name == "defer":
            changed |= {
                "retry_count": "3",
                "hold_count": "1",
                "retry_interval": "500",
                "next_retry_time": soon,
            }
        elif decision_name == "dead-letter":
            changed |= {
                "retry_interval": None,
                "next_retry_time": None,
                "reject_reason": "CONFLICT",
            }
        else:
            changed |= {"retry_count": "0", "hold_count": "0", "redrive_count": "4", "retry_interval": None,
                        "next_retry_time": None, "reject_reason": None}  # fmt: skip
        return {
            name: value
            for name, value in {**GOOD, "target_scope": "x", **changed}.items()
            if value is not None
        }

    decisions = {
        "retry": retry(),
        "hold": hold(),
        "defer": defer(),
        "dead-letter": dead(),
        "redrive": redrive(),
    }
    for transport in ("kafka", "amqp", "http", "cloudevents"):
        every = [(name_on(transport, name), GOOD[name]) for name in TABLE]
        for name, decision in decisions.items():
            want = [(name_on(transport, header), value) for header, value in after(name).items()]
            add(
                f"{name}-of-every-header-on-{transport}",
                step(decision, *reversed(every), transport=transport),
                rule,
                want,
            )

    # --- topic
    for name, decision in decisions.items():
        given = step(decision, ("topic", "origin"))
        written = [("topic", "origin")]
        add(f"topic-stays-in-{name}", given, "HDR-031", written + [
            (h, v) for h, v in {
                "retry": [*counts, *later], "hold": [*counts, *later],
                "defer": [*counts, ("target_scope", "payments"), ("retry_interval", "500"), ("next_retry_time", soon)],
                "dead-letter": [("target_scope", "payments"), ("reject_reason", "CONFLICT")],
                "redrive": [("retry_count", "0"), ("hold_count", "0"), ("redrive_count", "1"), ("target_scope", "payments")],
            }[name]
        ])  # fmt: skip
    plain = [("target_scope", "payments"), ("reject_reason", "CONFLICT")]
    add(
        "topic-null-is-set",
        step(dead(), ("topic", None)),
        "HDR-010 HDR-031",
        [("topic", "orders"), *plain],
    )
    add(
        "topic-empty-stays",
        step(dead(), ("topic", "")),
        "HDR-031 HDR-032",
        [("topic", ""), *plain],
        "faulty, and there",
    )
    add(
        "topic-ill-formed-stays",
        step(dead(), ("topic", octets(b"\xff"))),
        "HDR-031 HDR-032",
        [("topic", octets(b"\xff")), *plain],
    )

    # --- what stays, and how
    def kept(slug, pairs, want, spec="HDR-032", note="", transport="kafka", decision=None):
        """A dead letter without counts, on top of a topic."""
        scope, reason = name_on(transport, "target_scope"), name_on(transport, "reject_reason")
        topic = (name_on(transport, "topic"), "t")
        order = {name_on(transport, name): i for i, name in enumerate(TABLE)}
        known = sorted(
            [topic, *want, (scope, "payments"), (reason, "CONFLICT")],
            key=lambda pair: order[pair[0]],
        )
        add(slug, step(decision or dead(), topic, *pairs, transport=transport), spec, known, note)

    kept("key-stays", [("idempotency_key", "k")], [("idempotency_key", "k")])
    kept("faulty-key-stays", [("idempotency_key", "a b")], [("idempotency_key", "a b")])
    kept("empty-key-stays", [("idempotency_key", "")], [("idempotency_key", "")])
    kept("long-key-stays", [("idempotency_key", "k" * 1100)], [("idempotency_key", "k" * 1100)])
    kept(
        "ill-formed-key-stays-as-bytes",
        [("idempotency_key", octets(b"\xff\x00"))],
        [("idempotency_key", octets(b"\xff\x00"))],
    )
    kept(
        "bytes-that-are-text-come-out-as-text",
        [("idempotency_key", octets(b"abc"))],
        [("idempotency_key", "abc")],
        "CONF-039 HDR-032",
    )
    kept("faulty-integer-stays", [("max_retry", "007")], [("max_retry", "007")])
    kept("integer-out-of-range-stays", [("max_retry", "999")], [("max_retry", "999")])
    kept(
        "counts-stay-without-new-ones",
        [("retry_count", "4"), ("hold_count", "x")],
        [("retry_count", "4"), ("hold_count", "x")],
        "HDR-031 HDR-032",
    )
    kept("one-count-replaced", [("retry_count", "4"), ("hold_count", "2")], [("retry_count", "5"), ("hold_count", "2")], "HDR-031",
         decision=dead(retry_count=5))  # fmt: skip
    kept("other-count-replaced", [("retry_count", "4"), ("hold_count", "2")], [("retry_count", "4"), ("hold_count", "3")], "HDR-031",
         decision=dead(hold_count=3))  # fmt: skip
    kept("unknown-version-stays", [("idem_spec", "2")], [("idem_spec", "2")])
    kept("null-is-dropped", [("idempotency_key", None), ("max_retry", None)], [])
    kept(
        "null-beside-a-value-is-dropped",
        [("biz_key", None), ("biz_key", "b"), ("biz_key", None)],
        [("biz_key", "b")],
    )
    kept(
        "equal-values-are-written-once",
        [("biz_key", "b"), ("biz_key", "b"), ("biz_key", "b")],
        [("biz_key", "b")],
    )
    kept(
        "equal-as-text-and-bytes-once",
        [("biz_key", octets(b"b")), ("biz_key", "b")],
        [("biz_key", "b")],
    )
    kept(
        "different-values-all-stay",
        [("biz_key", "b"), ("biz_key", "a")],
        [("biz_key", "b"), ("biz_key", "a")],
    )
    kept("different-values-in-the-order-of-their-first", [("biz_key", "c"), ("biz_key", "a"), ("biz_key", "c"), ("biz_key", "b"), ("biz_key", "a")],
         [("biz_key", "c"), ("biz_key", "a"), ("biz_key", "b")])  # fmt: skip
    twelve = [("biz_key", f"b{number % 12}") for number in range(30)]
    kept("twelve-different-values-each-once", twelve, twelve[:12])
    keys = [("Idempotency-Key", f'"k{number % 12}"') for number in range(24)] + [
        ("Idempotency-Key", "k3")
    ]
    kept(
        "http-twelve-different-keys-each-once", keys, keys[:12], "HDR-032 HDR-043", transport="http"
    )
    kept(
        "different-values-apart",
        [("biz_key", "b"), ("max_hold", "1"), ("biz_key", "a")],
        [("biz_key", "b"), ("biz_key", "a"), ("max_hold", "1")],
    )
    kept(
        "different-values-of-context",
        [("event_id", "b"), ("event_id", "a")],
        [("event_id", "b"), ("event_id", "a")],
    )
    kept("empty-state-stays", [("expected_current_state", "")], [("expected_current_state", "")])
    for name in ("traceparent", "tracestate"):
        kept(f"{name}-last-alone", [(name, "a"), (name, "b")], [(name, "b")])
        kept(f"{name}-last-is-null", [(name, "a"), (name, None)], [(name, "a")])
        kept(
            f"{name}-last-is-ill-formed",
            [(name, "a"), (name, octets(b"\xff"))],
            [(name, octets(b"\xff"))],
        )
        kept(f"{name}-equal", [(name, "a"), (name, "a")], [(name, "a")])
    add("different-values-of-what-is-set", step(dead(), ("target_scope", "a"), ("target_scope", "b"), ("topic", "t")), "HDR-031",
        [("topic", "t"), *plain], "all of them are replaced")  # fmt: skip
    add("different-counts-are-replaced", step(retry(), ("retry_count", "1"), ("retry_count", "2"), ("topic", "t")), "HDR-031",
        [("topic", "t"), *counts, *later])  # fmt: skip
    add("old-interval-is-replaced", step(retry(), ("retry_interval", "x"), ("next_retry_time", "y"), ("topic", "t")), "HDR-031",
        [("topic", "t"), *counts, *later])  # fmt: skip
    add("defer-keeps-the-reason", step(defer(), ("reject_reason", "OLD"), ("topic", "t")), "HDR-031",
        [("topic", "t"), *counts, ("target_scope", "payments"), ("retry_interval", "500"), ("next_retry_time", soon), ("reject_reason", "OLD")])  # fmt: skip
    add(
        "dead-letter-replaces-the-reason",
        step(dead(), ("reject_reason", "OLD"), ("topic", "t")),
        "HDR-031",
        [("topic", "t"), *plain],
    )
    add("retry-keeps-the-redrive-count", step(retry(), ("redrive_count", "7"), ("topic", "t")), "HDR-031 HDR-032",
        [("topic", "t"), *counts, ("redrive_count", "7"), *later])  # fmt: skip
    add("retry-keeps-the-fingerprint", step(retry(), ("fingerprint", GOOD["fingerprint"]), ("topic", "t")), "HDR-031 HDR-032",
        [("topic", "t"), ("fingerprint", GOOD["fingerprint"]), *counts, *later])  # fmt: skip

    # --- unknown pairs
    odd = [
        ("z", "1"),
        ("a", octets(b"\xff")),
        ("a", None),
        ("", "x"),
        ("z", "1"),
        ("Retry_Count", "9"),
        ("hex", octets(b"plain")),
    ]
    given = step(dead(), ("topic", "t"), *odd)
    add(
        "unknown-pairs-come-last-as-given", given, "HDR-030 HDR-015", [("topic", "t"), *plain, *odd]
    )
    given = step(dead(), odd[0], ("biz_key", "b"), odd[1], ("topic", "t"), odd[2])
    add(
        "unknown-pairs-between-known-ones",
        given,
        "HDR-030",
        [("biz_key", "b"), ("topic", "t"), *plain, *odd[:3]],
    )
    hundred = step(retry(), *[(name, GOOD[name]) for name in after("retry")], ("x", "y"))
    add("same-size-after-a-retry", hundred, "HDR-031", [*[(n, v) for n, v in after("retry").items()], ("x", "y")],
        "what a retry wrote, retried again")  # fmt: skip

    # --- redrive
    def redriven(slug, header, record, want, spec="HDR-033", note="", transport="kafka"):
        pairs = [(name_on(transport, "redrive_count"), value) for value in header]
        topic = (name_on(transport, "topic"), "t")
        written = [topic, *[(name_on(transport, n), v) for n, v in (
            ("retry_count", "0"), ("hold_count", "0"), ("redrive_count", str(want)), ("target_scope", "payments"))]]  # fmt: skip
        add(
            f"redrive-{slug}",
            step(redrive(record), topic, *pairs, transport=transport),
            spec,
            written,
            note,
        )

    redriven("header-larger", ["5"], 2, 6)
    redriven("record-larger", ["2"], 5, 6)
    redriven("both-equal", ["5"], 5, 6)
    redriven("both-zero", ["0"], 0, 1)
    redriven("compared-as-numbers", ["9"], 10, 11)
    redriven("largest-header", [str(2**31 - 1)], 0, 2**31 - 1)
    redriven("second-largest-header", [str(2**31 - 2)], 0, 2**31 - 1)
    redriven("largest-record", [], 2**31 - 1, 2**31 - 1)
    redriven("record-above-int32", [], 2**31, 2**31 - 1)
    redriven("record-largest-int64", ["3"], MAX, 2**31 - 1)
    for slug, header in {
        "header-out-of-range": [str(2**31)], "header-no-number": ["x"], "header-leading-zero": ["07"], "header-negative": ["-1"],
        "header-ill-formed": [octets(b"\xff")], "header-empty": [""], "header-conflict": ["5", "6"], "header-null": [None],
        "header-five-thousand-digits": ["9" * 5000],
    }.items():  # fmt: skip
        redriven(slug, header, 2, 3)
    redriven("header-twice-equal", ["5", "5"], 2, 6)
    redriven("header-on-amqp", [number(5)], 2, 6, "HDR-033 HDR-041", transport="amqp")
    redriven("header-on-http", [" 5 "], 2, 6, "HDR-033 HDR-042", transport="http")
    redriven("header-on-cloudevents", ["5"], 2, 6, "HDR-033 HDR-045", transport="cloudevents")
    life = [
        ("retry_count", "0"),
        ("hold_count", "0"),
        ("redrive_count", "1"),
        ("target_scope", "payments"),
    ]
    print_ = GOOD["fingerprint"]
    add(
        "redrive-keeps-the-fingerprint",
        step(redrive(), ("topic", "t"), ("fingerprint", print_)),
        "HDR-031",
        [("topic", "t"), ("fingerprint", print_), *life],
    )
    add(
        "redrive-drops-the-fingerprint",
        step(redrive(drop=True), ("topic", "t"), ("fingerprint", print_)),
        "HDR-031",
        [("topic", "t"), *life],
    )
    add(
        "redrive-drops-no-fingerprint",
        step(redrive(drop=True), ("topic", "t")),
        "HDR-031",
        [("topic", "t"), *life],
    )
    add(
        "redrive-drops-every-fingerprint",
        step(redrive(drop=True), ("topic", "t"), ("fingerprint", print_), ("fingerprint", "x")),
        "HDR-031",
        [("topic", "t"), *life],
    )

    # --- times
    def timed(slug, now, delay, text, spec="HDR-031"):
        want = text if text == "TIMESTAMP_RANGE" else [
            ("topic", "t"), *counts, ("target_scope", "payments"), ("retry_interval", str(delay)), ("next_retry_time", text),
            ("reject_reason", "HTTP_502"),
        ]  # fmt: skip
        add(f"time-{slug}", step(retry(delay=delay), ("topic", "t"), now=now), spec, want)

    timed("epoch", 0, 0, "1970-01-01T00:00:00.000Z")
    timed("one-millisecond", 0, 1, "1970-01-01T00:00:00.001Z")
    timed("three-digits", NOW, 120, "2025-01-01T04:00:00.120Z")
    timed("into-a-leap-day", 1_709_164_799_999, 1, "2024-02-29T00:00:00.000Z")
    timed("above-int32-seconds", 2**31 * 1000, 5, "2038-01-19T03:14:08.005Z")
    timed("largest-delay", NOW, 608_400_000, "2025-01-08T05:00:00.000Z")
    timed("delay-above-its-range", NOW, 608_400_001, "2025-01-08T05:00:00.001Z")
    timed("last", LAST, 0, "9999-12-31T23:59:59.999Z", "HDR-034")
    timed("last-by-delay", LAST - 1000, 1000, "9999-12-31T23:59:59.999Z", "HDR-034")
    timed("one-too-late", LAST + 1, 0, "TIMESTAMP_RANGE", "HDR-034")
    timed("one-too-late-by-delay", LAST, 1, "TIMESTAMP_RANGE", "HDR-034")
    timed("largest-now", MAX, 0, "TIMESTAMP_RANGE", "HDR-034")
    timed("sum-above-int64", MAX, MAX, "TIMESTAMP_RANGE", "HDR-034")
    timed("largest-delay-of-int64", 0, MAX, "TIMESTAMP_RANGE", "HDR-034")
    add("time-too-late-of-a-hold", step(hold(delay=1), now=LAST), "HDR-034", "TIMESTAMP_RANGE")
    add("time-too-late-of-a-deferral", step(defer(delay=1), now=LAST), "HDR-034", "TIMESTAMP_RANGE")
    add(
        "time-not-needed-for-a-dead-letter",
        step(dead(), ("topic", "t"), now=MAX),
        "HDR-034",
        [("topic", "t"), *plain],
    )
    add(
        "time-not-needed-for-a-redrive",
        step(redrive(), ("topic", "t"), now=MAX),
        "HDR-034",
        [("topic", "t"), *life],
    )
    add("counts-as-given", step(retry(count=MAX, hold=2**31), ("topic", "t")), "HDR-031 CONF-039",
        [("topic", "t"), ("retry_count", str(MAX)), ("hold_count", str(2**31)), *later])  # fmt: skip
    add("counts-of-zero-are-written", step(defer(count=0, holds=0), ("topic", "t")), "HDR-031",
        [("topic", "t"), ("retry_count", "0"), ("hold_count", "0"), ("target_scope", "payments"), ("retry_interval", "500"), ("next_retry_time", soon)])  # fmt: skip

    # --- reasons
    def reason(slug, text, written, spec="HDR-023", transport="kafka", note=""):
        names = [
            (name_on(transport, n), v)
            for n, v in (("topic", "t"), ("target_scope", "payments"), ("reject_reason", written))
        ]
        add(f"reason-{slug}", step(dead(text), names[0], transport=transport), spec, names, note)

    reason("plain", "CARD_STOLEN: reported", "CARD_STOLEN: reported")
    reason("empty", "", "")
    reason("line-feed", "a\nb", "a b")
    reason("each-control-character-apart", "a\r\n\tb", "a   b")
    reason("nul-and-delete", "\x00a\x7f", " a ")
    reason("last-control-character", "\x1f!", " !")
    reason("control-of-two-bytes-stays", "a\u0085b", "a\u0085b")
    reason("line-separator-stays", "a\u2028b", "a\u2028b")
    reason("1024-bytes", "r" * 1024, "r" * 1024)
    reason("1025-bytes", "r" * 1025, "r" * 1024)
    reason("cut-before-a-two-byte-letter", "r" * 1023 + "\u00e9", "r" * 1023)
    reason("cut-after-a-two-byte-letter", "r" * 1022 + "\u00e9x", "r" * 1022 + "\u00e9")
    reason("cut-before-a-three-byte-letter", "r" * 1022 + "\u20ac", "r" * 1022)
    reason("cut-before-an-emoji", "r" * 1021 + "\U0001f600", "r" * 1021)
    reason("cut-before-an-emoji-that-lacks-one-byte", "r" * 1023 + "\U0001f600", "r" * 1023)
    reason("cut-after-an-emoji", "r" * 1020 + "\U0001f600\U0001f600", "r" * 1020 + "\U0001f600")
    reason(
        "cut-ends-there",
        "r" * 1023 + "\u00e9" + "s",
        "r" * 1023,
        note="what is shorter and later does not come in",
    )
    reason("of-600-two-byte-letters", "\u00e9" * 600, "\u00e9" * 512)
    reason("control-characters-then-cut", "\n" * 1025, " " * 1024)
    reason("blanks-stay", "  a  ", "  a  ")
    reason("on-amqp", "caf\u00e9\n", "caf\u00e9 ", transport="amqp")
    reason("on-cloudevents", "caf\u00e9\n", "caf\u00e9 ", transport="cloudevents")
    web = "HDR-023 HDR-044"
    reason("on-http", "CARD_STOLEN: ~", "CARD_STOLEN: ~", web, "http")
    reason("two-byte-letter-on-http", "caf\u00e9!", "caf?!", web, "http")
    reason("emoji-on-http", "a\U0001f600b", "a?b", web, "http", "one mark for each character")
    reason("decomposed-letter-on-http", "e\u0301", "e?", web, "http")
    reason("control-characters-on-http", "a\nb\x7fc", "a b c", web, "http")
    reason("control-of-two-bytes-on-http", "a\u0085b", "a?b", web, "http")
    reason("cut-then-replaced-on-http", "\u00e9" * 600, "?" * 512, web, "http")
    for action in ("RETRY", "HOLD"):
        value = step(retry(reason="a\nb", action=action), ("topic", "t"))
        add(f"reason-of-a-{action.lower()}", value, "HDR-023 HDR-031",
            [("topic", "t"), *counts, *later[:3], ("reject_reason", "a b")])  # fmt: skip

    # --- bindings
    kept(
        "amqp-integer-becomes-text",
        [("max_retry", number(5))],
        [("max_retry", "5")],
        "HDR-041",
        transport="amqp",
    )
    kept(
        "amqp-negative-integer-becomes-text",
        [("max_retry", number(-5))],
        [("max_retry", "-5")],
        "HDR-041",
        transport="amqp",
    )
    kept(
        "amqp-huge-integer-becomes-text",
        [("max_retry", number(10**29))],
        [("max_retry", str(10**29))],
        "HDR-041",
        transport="amqp",
    )
    kept(
        "amqp-integer-in-a-key-becomes-text",
        [("biz_key", number(5))],
        [("biz_key", "5")],
        "HDR-041",
        transport="amqp",
    )
    kept(
        "amqp-integer-equal-to-text",
        [("max_retry", number(5)), ("max_retry", "5")],
        [("max_retry", "5")],
        "HDR-032 HDR-041",
        transport="amqp",
    )
    kept("amqp-integer-against-text", [("max_retry", number(5)), ("max_retry", "05")], [("max_retry", "5"), ("max_retry", "05")],
         "HDR-032 HDR-041", transport="amqp")  # fmt: skip
    given = step(dead(), ("topic", "t"), ("x-delay", number(-5)), transport="amqp")
    add(
        "amqp-unknown-integer-stays",
        given,
        "HDR-041 HDR-015",
        [("topic", "t"), *plain, ("x-delay", number(-5))],
    )
    add(
        "http-first-topic-stays-as-it-is",
        step(dead(), transport="http", topic="caf\u00e9"),
        "HDR-044",
        None,
        "a mark is written in a reason alone",
    )
    web_name = HTTP.__getitem__
    kept("http-names-are-written-as-in-the-table", [("idem-max-retry", "5"), ("IDEMPOTENCY-KEY", "k")],
         [(web_name("max_retry"), "5"), (web_name("idempotency_key"), "k")], "HDR-042", transport="http")  # fmt: skip
    kept(
        "http-quoted-key-stays-quoted",
        [("Idempotency-Key", '"abc"')],
        [("Idempotency-Key", '"abc"')],
        "HDR-032",
        transport="http",
    )
    kept(
        "http-unquoted-key-stays-unquoted",
        [("Idempotency-Key", "abc")],
        [("Idempotency-Key", "abc")],
        "HDR-032",
        transport="http",
    )
    kept("http-quoted-then-unquoted-key-is-one", [("Idempotency-Key", '"abc"'), ("Idempotency-Key", "abc")], [("Idempotency-Key", '"abc"')],
         "HDR-032 HDR-043", transport="http")  # fmt: skip
    kept("http-unquoted-then-quoted-key-is-one", [("Idempotency-Key", "abc"), ("Idempotency-Key", '"abc"')], [("Idempotency-Key", "abc")],
         "HDR-032 HDR-043", transport="http")  # fmt: skip
    kept(
        "http-trace-loses-its-blanks",
        [("traceparent", " a "), ("traceparent", " b ")],
        [("traceparent", "b")],
        "HDR-032",
        transport="http",
    )
    kept("http-key-not-closed-is-no-other-key", [("Idempotency-Key", '"abc'), ("Idempotency-Key", '"\\"abc"')],
         [("Idempotency-Key", '"abc'), ("Idempotency-Key", '"\\"abc"')], "HDR-032 HDR-043", transport="http")  # fmt: skip
    kept(
        "http-faulty-key-stays",
        [("Idempotency-Key", '"abc')],
        [("Idempotency-Key", '"abc')],
        "HDR-032",
        transport="http",
    )
    kept(
        "http-blanks-around-a-value-go",
        [("Idem-Max-Retry", " 5\t")],
        [("Idem-Max-Retry", "5")],
        "HDR-032 HDR-042",
        transport="http",
    )
    kept("http-values-that-differ-in-blanks-are-one", [("Idem-Max-Retry", " 5"), ("Idem-Max-Retry", "5 ")], [("Idem-Max-Retry", "5")],
         "HDR-032 HDR-042", transport="http")  # fmt: skip
    kept("http-names-that-differ-in-case-are-one", [("idem-biz-key", "b"), ("Idem-Biz-Key", "a")], [("Idem-Biz-Key", "b"), ("Idem-Biz-Key", "a")],
         "HDR-032 HDR-042", transport="http")  # fmt: skip
    given = step(
        dead(), ("Idem-Topic", "t"), ("X-Tenant", " acme "), ("retry_count", "3"), transport="http"
    )
    add("http-unknown-pairs-stay", given, "HDR-030 HDR-042",
        [("Idem-Topic", "t"), ("Idem-Target-Scope", "payments"), ("Idem-Reject-Reason", "CONFLICT"), ("X-Tenant", " acme "), ("retry_count", "3")])  # fmt: skip
    given = step(
        dead(), ("specversion", "1.0"), ("id", "e-1"), ("source", "/p"), transport="cloudevents"
    )
    add("cloudevents-attributes", given, "HDR-045",
        [("id", "e-1"), ("topic", "orders"), ("targetscope", "payments"), ("rejectreason", "CONFLICT"), ("specversion", "1.0"), ("source", "/p")])  # fmt: skip
    kept("cloudevents-names-in-the-order-of-the-table", [("partitionkey", "b"), ("time", "x"), ("type", "y"), ("id", "z")],
         [("id", "z"), ("type", "y"), ("partitionkey", "b"), ("time", "x")], "HDR-030 HDR-045", transport="cloudevents")  # fmt: skip
    add(
        "scope-as-given",
        step(dead(), ("topic", "t"), scope="a b"),
        "CONF-039",
        [("topic", "t"), ("target_scope", "a b"), ("reject_reason", "CONFLICT")],
    )
    add("topic-as-given", step(dead(), topic=""), "CONF-039", [("topic", ""), *plain])

    # --- shapes
    good, dropped = step(retry()), redrive(drop=True)
    g.faults(
        "CONF-021 CONF-039",
        {
            **{f"input-without-{slug_of(name)}": without(good, name) for name in good},
            "input-unknown-member": {**good, "partition": "0"},
            "input-transport-unknown": {**good, "transport": "nats"},
            "input-header-faulty": {**good, "headers": [["x", {"hex": "0"}]]},
            "input-integer-on-kafka": step(retry(), ("retry_count", number(1))),
            "input-decision-text": {**good, "decision": "RETRY"},
            "input-decision-without-action": {**good, "decision": without(retry(), "action")},
            "input-action-ack": {**good, "decision": {"action": "ACK"}},
            "input-action-unknown": {**good, "decision": {**retry(), "action": "PARK"}},
            "input-action-lower-case": {**good, "decision": {**retry(), "action": "retry"}},
            **{
                f"input-retry-without-{slug_of(name)}": step(without(retry(), name))
                for name in ("delay_ms", "retry_count", "hold_count", "reject_reason")
            },
            "input-hold-without-reason": step(without(hold(), "reject_reason")),
            "input-defer-with-reason": step({**defer(), "reject_reason": "x"}),
            "input-defer-without-delay": step(without(defer(), "delay_ms")),
            "input-dead-letter-without-reason": step({"action": "DEAD_LETTER"}),
            "input-dead-letter-with-delay": step({**dead(), "delay_ms": "1"}),
            "input-redrive-without-count": step({"action": "REDRIVE"}),
            "input-redrive-with-reason": step({**redrive(), "reject_reason": "x"}),
            "input-redrive-with-retry-count": step({**redrive(), "retry_count": "0"}),
            "input-retry-with-redrive-count": step({**retry(), "redrive_count": "0"}),
            "input-retry-with-drop": step({**retry(), "drop_fingerprint": True}),
            "input-drop-false": step({**dropped, "drop_fingerprint": False}),
            "input-drop-text": step({**dropped, "drop_fingerprint": "true"}),
            "input-delay-negative": step(retry(delay=-1)),
            "input-delay-above-int64": step(retry(delay=2**63)),
            "input-count-negative": step(retry(count=-1)),
            "input-count-number": step({**retry(), "retry_count": 3}),
            "input-hold-count-above-int64": step(retry(hold=2**63)),
            "input-redrive-count-negative": step(redrive(-1)),
            "input-redrive-count-padded": step({"action": "REDRIVE", "redrive_count": "00"}),
            "input-now-negative": step(retry(), now=-1),
            "input-now-above-int64": step(retry(), now=2**63),
            "input-now-number": {**good, "now_ms": NOW},
            "input-scope-null": {**good, "scope": None},
            "input-topic-number": {**good, "topic": 1},
            "input-reason-null": step({**retry(), "reject_reason": None}),
            "input-before-time": step(without(retry(delay=1), "reject_reason"), now=LAST),
        },
    )
