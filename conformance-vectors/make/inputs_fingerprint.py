"""Fingerprints: HASH-030, KEY-013."""

from group import Group
from inputs_key import component, literal


def fingerprint(template, *segments):
    return {"template": template, "segments": list(segments)}


AMOUNT = "{amount}:{currency}"


def fill(g: Group) -> None:
    def add(slug, value, spec="HASH-030", want=None, note=""):
        g.add(slug, value, spec, want, note)

    hundred = [component(decimal={"text": "100.00", "max_scale": "2"}), component(string="USD")]
    add("amount-and-currency", fingerprint(AMOUNT, *hundred), "HASH-030 KEY-013")
    add("same-amount-written-otherwise",
        fingerprint(AMOUNT, component(decimal={"text": "1e2"}), component(string="USD")),
        "HASH-030 TXT-004", note="equal to that of 100.00")  # fmt: skip
    add("another-amount", fingerprint(AMOUNT, component(decimal={"text": "100.01"}), component(string="USD")),
        note="the same T, another V")  # fmt: skip
    add("another-template", fingerprint("{amount}", hundred[0]), note="another T")
    add("template-with-version", fingerprint("v2:{amount}", literal("v2"), hundred[0]))
    add("template-does-not-change-the-value", fingerprint("{total}:{currency}", *hundred),
        note="another T, the same V as amount-and-currency")  # fmt: skip
    add("template-empty", fingerprint("", component(string="a")))
    add(
        "template-is-hashed-as-it-is",
        fingerprint("not a template: {", component(string="a")),
        "CONF-032",
    )
    add("template-of-two-byte-letters", fingerprint("{caf\u00e9}", component(string="a")))
    add("template-emoji", fingerprint("\U0001f600", component(string="a")))
    add(
        "template-long",
        fingerprint("{a}" * 400, component(string="a")),
        note="a template's length is not looked at here",
    )
    add("literal-alone", fingerprint("v1", literal("v1")))
    add("value-empty", fingerprint("{a}", component(string="")), "HASH-030 KEY-013",
        note="a fingerprint of no bytes is one")  # fmt: skip
    add("value-absent", fingerprint("{a}", component(absent=True)), "HASH-030 KEY-005")
    add("value-tilde", fingerprint("{a}", component(string="~")), "HASH-030 KEY-005")
    add("value-is-escaped", fingerprint("{a}", component(string="a:b")), "HASH-030 KEY-001")
    add(
        "value-of-two-components",
        fingerprint("{a}:{b}", component(string="a"), component(string="b")),
    )
    add(
        "value-digest",
        fingerprint("{a}", component(sha256={"string": "secret"})),
        "HASH-030 KEY-003",
    )
    add("value-timestamp", fingerprint("{at}", component(timestamp={"seconds": "0", "nanos": "0", "fraction_digits": "3"})),
        "HASH-030 KEY-002")  # fmt: skip
    add("template-with-leading-zeros", fingerprint("{f438}", component(string="a")),
        note="T begins with two zero digits")  # fmt: skip
    add("value-with-leading-zeros", fingerprint("{order_id}", component(string="order-8317")),
        note="V begins with three zero digits")  # fmt: skip
    add("length-1024", fingerprint("{a}", component(string="a" * 1024)), "KEY-013 KEY-011")
    add(
        "length-1025",
        fingerprint("{a}", component(string="a" * 1025)),
        "KEY-013 KEY-011",
        "KEY_TOO_LONG",
    )
    add(
        "length-1024-of-bytes",
        fingerprint("{a}", component(bytes="00" * 512)),
        "KEY-013 KEY-011 TXT-054",
    )
    add(
        "length-1026-of-bytes",
        fingerprint("{a}", component(bytes="00" * 513)),
        "KEY-013 KEY-011 TXT-054",
        "KEY_TOO_LONG",
    )
    add("component-missing", fingerprint(AMOUNT, component(missing=True), component(string="USD")), "KEY-013 KEY-004",
        "KEY_COMPONENT_MISSING")  # fmt: skip
    add("component-faulty", fingerprint(AMOUNT, component(decimal={"text": "100,00"}), component(missing=True)),
        "KEY-013 KEY-011", "DECIMAL_SYNTAX")  # fmt: skip
    add("component-before-length", fingerprint("{a}:{b}", component(string="a" * 2000), component(missing=True)),
        "KEY-013 KEY-011", "KEY_COMPONENT_MISSING")  # fmt: skip
    good = fingerprint("{a}", component(string="a"))
    g.faults(
        "CONF-021 CONF-032",
        {
            "input-without-template": {"segments": good["segments"]},
            "input-without-segments": {"template": "{a}"},
            "input-no-segments": fingerprint("{a}"),
            "input-template-null": {**good, "template": None},
            "input-template-number": {**good, "template": 1},
            "input-unknown-member": {**good, "key": "a"},
            "input-literal-colon": fingerprint("a:b", literal("a:b")),
            "input-before-a-fault": fingerprint("{a}:{b}", component(missing=True), literal("")),
        },
    )
