"""Headers, read and written (HDR-001 to HDR-045)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import (
    Action,
    Code,
    Context,
    Decision,
    Policy,
    Transport,
    bind,
    next_headers,
    parse_headers,
    policy_values,
    producer_headers,
    redrive_headers,
)
from idemspec.header_table import HEADERS, printable
from idemspec.headers import Pair
from idemspec.transports import WIRE_NAMES, HeaderValue

KAFKA, AMQP = Transport.KAFKA, Transport.AMQP
HTTP, CLOUDEVENTS = Transport.HTTP, Transport.CLOUDEVENTS
SPEC = Path(__file__).parents[3] / "spec" / "06-headers.md"

NAMES = [header.name for header in HEADERS]
CONTEXT = {header.name for header in HEADERS if header.is_context}
GOOD = {
    "idempotency_key": ["k", "!~", "k" * 1024],
    "event_id": ["e", "é", "e" * 1024, "\x00", "é" * 512],
    "event_type": ["a", "AZaz09._-", "a" * 200],
    "biz_key": ["b", "b" * 1024],
    "topic": ["t", "t" * 1024],
    "produced_at": ["2025-01-01T00:00:00Z", "0001-01-01T00:00:00.1Z"],
    "occurred_at": ["9999-12-31T23:59:59.123456789Z"],
    "traceparent": ["", "x" * 5000],
    "tracestate": ["", "é"],
    "expected_current_state": ["", "PAYING", "a" * 200],
    "idempotency_key_previous": ["k", "k" * 1024],
    "fingerprint": ["01234567-0123456789abcdef"],
    "idem_spec": ["1"],
    "retry_count": ["0", "10", "2147483647"],
    "max_retry": ["0", "100"],
    "hold_count": ["0", "2147483647"],
    "max_hold": ["0", "100"],
    "redrive_count": ["0", "2147483647"],
    "target_scope": ["payments-2", "a" * 200],
    "backoff_base": ["1", "86400"],
    "backoff_jitter": ["0", "3600000"],
    "backoff_max": ["1", "604800"],
    "backoff_schedule": ["0", "0,1,604800000", ",".join(["1"] * 32)],
    "retry_interval": ["0", "608400000"],
    "next_retry_time": ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"],
    "reject_reason": ["", "CODE: é", "r" * 1024],
}
SYNTAX = {
    "event_id": ["", "e" * 1025, "é" * 513],
    "event_type": ["", "a" * 201, "a:b", "a\n", "é"],
    "topic": ["", "t" * 1025],
    "produced_at": [
        "",
        "2025-01-01T00:00:00+00:00",
        "2025-02-30T00:00:00Z",
        "0000-01-01T00:00:00Z",
    ],
    "occurred_at": ["2025-01-01T00:00:00z", "2025-01-01T00:00:00.Z"],
    "expected_current_state": ["a" * 201, "a b"],
    "fingerprint": ["", "01234567-0123456789ABCDEF", "01234567", "01234567-0123456789abcde\n"],
    "idem_spec": ["", "01", "v1"],
    "retry_count": ["", "-1", "+1", "01", "1.0", " 1", "1\n", "١", "0x1"],
    "max_retry": ["a"],
    "hold_count": ["-1"],
    "max_hold": ["1 "],
    "redrive_count": ["00"],
    "target_scope": ["", "a/b", "a" * 201],
    "backoff_base": ["1s"],
    "backoff_jitter": ["1e3"],
    "backoff_max": ["-1"],
    "backoff_schedule": ["", ",", "1,", ",1", "1, 2", "01", "1,,2", ",".join(["01"] * 33)],
    "retry_interval": ["1.5"],
    "next_retry_time": ["", "2025-01-01", "2025-01-01T00:00:00+01:00", "2025-02-29T00:00:00Z"],
    "reject_reason": ["a\tb", "\x7f", "r" * 1025, "é" * 513, "\x1f"],
}
RANGE = {
    "retry_count": ["2147483648", "9" * 5000],
    "max_retry": ["101"],
    "hold_count": ["2147483648"],
    "max_hold": ["101"],
    "redrive_count": ["2147483648"],
    "backoff_base": ["0", "86401"],
    "backoff_jitter": ["3600001"],
    "backoff_max": ["0", "604801"],
    "backoff_schedule": ["604800001", "0,604800001", "9" * 5000, ",".join(["1"] * 33)],
    "retry_interval": ["608400001"],
    "next_retry_time": ["0000-01-01T00:00:00Z"],
}
KEYS = ["idempotency_key", "biz_key", "idempotency_key_previous"]


def kafka(name: str, *values: HeaderValue) -> dict[str, str]:
    """The envelope of one header on Kafka."""
    return parse_headers(KAFKA, [(name, value) for value in values]).envelope


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, values in table.items() for value in values]


def test_the_table_is_that_of_chapter_6() -> None:
    """Names and order are those of HDR-002."""
    rows = re.findall(r"^\| \d+ \| `(\w+)` \| (\w+)", SPEC.read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == NAMES == list(GOOD)
    assert {name for name, kind in rows if kind == "context"} == CONTEXT


@pytest.mark.parametrize(("name", "value"), cases(GOOD))
def test_good_values(name: str, value: str) -> None:
    """A value within syntax and range is in the envelope as it is."""
    assert kafka(name, value) == {name: value}
    assert kafka(name, value.encode(), value, None) == {name: value}


def refused(name: str, code: Code, *values: HeaderValue, transport: Transport = KAFKA) -> None:
    """A fault is an error, or for a context header a warning."""
    pairs = [(WIRE_NAMES[transport][name], value) for value in values]
    if name in CONTEXT:
        parsed = parse_headers(transport, pairs)
        assert (parsed.envelope, parsed.warnings) == ({}, [name])
    else:
        assert fault(code, parse_headers, transport, pairs).field == name


@pytest.mark.parametrize(("name", "value"), cases(SYNTAX))
def test_syntax(name: str, value: str) -> None:
    """What does not match the header's syntax as a whole is HEADER_SYNTAX."""
    refused(name, "HEADER_SYNTAX", value)


@pytest.mark.parametrize(("name", "value"), cases(RANGE))
def test_range(name: str, value: str) -> None:
    """What is out of the header's range is HEADER_RANGE, however long it is."""
    refused(name, "HEADER_RANGE", value)


@pytest.mark.parametrize("name", KEYS)
def test_keys(name: str) -> None:
    """A key has 1 to 1024 bytes of 21 to 7E; its syntax comes before its length."""
    for value in ("", " ", "a b", "é", "a\n", "\x7f", "k" * 1024 + " ", "\ufeffa"):
        refused(name, "KEY_SYNTAX", value)
    refused(name, "KEY_TOO_LONG", "k" * 1025)


@pytest.mark.parametrize("value", ["0", "2", "9" * 5000])
def test_spec_version(value: str) -> None:
    """A major version that is not 1 is not known."""
    refused("idem_spec", "SPEC_VERSION", value)


@pytest.mark.parametrize("name", NAMES)
def test_utf8(name: str) -> None:
    """Ill-formed bytes, and half a surrogate pair, come before syntax."""
    refused(name, "HEADER_UTF8", b"\xff")
    refused(name, "HEADER_UTF8", "\ud800")


@pytest.mark.parametrize("name", NAMES)
def test_conflict(name: str) -> None:
    """Values that differ come before UTF-8; tracers append, so their last one counts."""
    if name in ("traceparent", "tracestate"):
        assert kafka(name, b"\xff", "a", "b", None) == {name: "b"}
    else:
        refused(name, "HEADER_CONFLICT", b"\xff", b"\xfe")
        refused(name, "HEADER_CONFLICT", GOOD[name][0], None, GOOD[name][0] + "x")


def test_first_fault_in_the_order_of_the_table() -> None:
    """The order of headers in the message does not matter."""
    pairs: list[Pair] = [("max_retry", "x"), ("biz_key", ""), ("retry_count", b"\xff")]
    fault("KEY_SYNTAX", parse_headers, KAFKA, pairs)
    fault("HEADER_UTF8", parse_headers, KAFKA, [*pairs[:1], *pairs[2:]])


def test_parts_of_a_message() -> None:
    """Known headers in the table's order, unknown pairs as given, warnings in the table's order."""
    pairs: list[Pair] = [
        ("x", None),
        ("reject_reason", "\n"),
        ("max_retry", "3"),
        ("Max_Retry", b"\xff"),
        ("idempotency_key", "k"),
        ("biz_key", None),
        ("event_id", ""),
        ("x", "1"),
    ]
    parsed = parse_headers(KAFKA, pairs)
    assert list(parsed.envelope.items()) == [("idempotency_key", "k"), ("max_retry", "3")]
    assert parsed.unknown == [("x", None), ("Max_Retry", b"\xff"), ("x", "1")]
    assert parsed.warnings == ["event_id", "reject_reason"]


@pytest.mark.parametrize("name", NAMES)
def test_amqp_integers(name: str) -> None:
    """An integer stands for its text in a header that is an integer, and is a fault elsewhere."""
    wanted = "1" in GOOD[name] or name.startswith(("retry_", "max_", "hold_", "redrive_"))
    if wanted or name in ("backoff_base", "backoff_jitter", "backoff_max"):
        assert parse_headers(AMQP, [(name, 1), (name, "1")]).envelope == {name: "1"}
    elif name.startswith("trace"):
        assert parse_headers(AMQP, [(name, 1), (name, "1")]).envelope == {name: "1"}
        assert parse_headers(AMQP, [(name, "1"), (name, 1)]).warnings == [name]
    else:
        refused(name, "HEADER_SYNTAX", 1, "1", transport=AMQP)
        refused(name, "HEADER_CONFLICT", 1, "2", transport=AMQP)


def test_amqp_negative_integers() -> None:
    """A negative integer is no header's text."""
    fault("HEADER_SYNTAX", parse_headers, AMQP, [("retry_count", -1)])
    assert parse_headers(AMQP, [("x", -1)]).unknown == [("x", -1)]


def test_http_names() -> None:
    """Names are compared without case, and only that of ASCII."""
    assert WIRE_NAMES[HTTP]["idempotency_key_previous"] == "Idem-Idempotency-Key-Previous"
    assert WIRE_NAMES[HTTP]["event_id"] == "Idem-Event-Id"
    assert WIRE_NAMES[HTTP]["idem_spec"] == "Idem-Spec"
    assert WIRE_NAMES[HTTP]["traceparent"] == "traceparent"
    for name in NAMES:
        wire = WIRE_NAMES[HTTP][name]
        value = GOOD[name][0]
        for spelled in (wire, wire.lower(), wire.upper()):
            assert parse_headers(HTTP, [(spelled, value)]).envelope == {name: value}
    for unknown in ("Idem-Max-Retr\u0131", "\u212adem-Spec", "idem-bac\u212aoff-max", "max_retry"):
        assert parse_headers(HTTP, [(unknown, "1")]).unknown == [(unknown, "1")]
    assert parse_headers(HTTP, [("IDEM-BACKOFF-MAX", "1")]).envelope == {"backoff_max": "1"}


def test_http_blanks() -> None:
    """Blanks and tabs around a value do not count, others do."""
    parsed = parse_headers(HTTP, [("Idem-Max-Retry", " \t3\t "), ("Idem-Max-Retry", b"3")])
    assert parsed.envelope == {"max_retry": "3"}
    fault("HEADER_SYNTAX", parse_headers, HTTP, [("Idem-Max-Retry", "3\n")])
    fault("HEADER_SYNTAX", parse_headers, KAFKA, [("max_retry", " 3")])


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("abc", "abc"),
        ('"abc"', "abc"),
        (' "abc"\t', "abc"),
        (r'"a\"b\\c"', r'a"b\c'),
        ('a"b', 'a"b'),
        ('abc"', 'abc"'),
        (r"a\b", r"a\b"),
    ],
)
def test_http_key(value: str, key: str) -> None:
    """A quoted key is the key, and both spellings are equal."""
    pairs: list[Pair] = [("Idempotency-Key", value), ("idempotency-key", key)]
    assert parse_headers(HTTP, pairs[:1]).envelope == {"idempotency_key": key}
    assert parse_headers(HTTP, pairs).envelope == {"idempotency_key": key}


@pytest.mark.parametrize(
    "value",
    [
        '"',
        '""',
        '"abc',
        '"abc"d',
        '"abc";p=1',
        r'"a\b"',
        '"abc\\"',
        '"a"b"',
        '"a b"',
        '"é"',
        '"a\x1f"',
        '"a\x7f"',
        "",
        "caf\u00e9",
    ],
)
def test_http_key_syntax(value: str) -> None:
    """What begins with a quote and is no quoted string as a whole is KEY_SYNTAX."""
    fault("KEY_SYNTAX", parse_headers, HTTP, [("Idempotency-Key", value)])


def test_http_key_faults() -> None:
    """Conflict, then UTF-8, then syntax, then length, of the key that the text stands for."""
    name = "Idempotency-Key"
    fault("HEADER_CONFLICT", parse_headers, HTTP, [(name, '"a'), (name, '"b')])
    fault("HEADER_CONFLICT", parse_headers, HTTP, [(name, '"a"'), (name, "b")])
    for other in (r'"\"a"', r'" \"a"', '\n"a'):
        fault("HEADER_CONFLICT", parse_headers, HTTP, [(name, '"a'), (name, other)])
    fault("HEADER_UTF8", parse_headers, HTTP, [(name, b'"\xff"')])
    quoted = '"' + "k" * 1024 + '"'
    assert parse_headers(HTTP, [(name, quoted)]).envelope == {"idempotency_key": "k" * 1024}
    fault("KEY_TOO_LONG", parse_headers, HTTP, [(name, '"' + "k" * 1025 + '"')])
    previous = [("Idem-Idempotency-Key-Previous", '"k"')]
    assert parse_headers(HTTP, previous).envelope == {"idempotency_key_previous": '"k"'}
    assert parse_headers(KAFKA, [("idempotency_key", '"k"')]).envelope == {"idempotency_key": '"k"'}


@pytest.mark.parametrize("value", ["é", "a\tb", "a\x1fb", "\x7f", "a\x80"])
def test_http_bytes(value: str) -> None:
    """Over HTTP a byte outside 20 to 7E is a fault of any value."""
    for name in ("event_id", "topic", "traceparent", "tracestate", "reject_reason"):
        assert parse_headers(HTTP, [(WIRE_NAMES[HTTP][name], value)]).warnings == [name]
    assert parse_headers(HTTP, [("traceparent", " ~")]).envelope == {"traceparent": "~"}


def test_cloudevents_names() -> None:
    """Four attributes have names of their own, the others drop their underscores; exactly."""
    names = WIRE_NAMES[CLOUDEVENTS]
    own = {"event_id": "id", "event_type": "type", "occurred_at": "time", "biz_key": "partitionkey"}
    for name in NAMES:
        assert names[name] == own.get(name, name.replace("_", ""))
    pairs: list[Pair] = [("id", "e"), ("source", "s"), ("retrycount", "1"), ("RetryCount", "x")]
    parsed = parse_headers(CLOUDEVENTS, pairs)
    assert parsed.envelope == {"event_id": "e", "retry_count": "1"}
    assert parsed.unknown == [("source", "s"), ("RetryCount", "x")]


def test_policy_values() -> None:
    """The policy that headers ask for, as integers."""
    envelope = kafka("max_retry", "3") | kafka("backoff_schedule", "0,10") | kafka("topic", "t")
    assert policy_values(envelope) == {"max_retry": 3, "backoff_schedule": (0, 10)}
    assert policy_values({"backoff_base": "1", "max_hold": "0"}) == {
        "backoff_base": 1,
        "max_hold": 0,
    }


FULL = Context("e", "t", "2025-01-01T05:00:00.1239+01:00", "tp", "ts")


def test_producer_headers() -> None:
    """Everything that a producer has, in the table's order."""
    headers = producer_headers(
        FULL,
        idempotency_key="k",
        event_type="a.b",
        idempotency_key_previous="p",
        biz_key="b",
        fingerprint="f",
        occurred_at="o",
        expected_current_state="",
        policy=Policy(),
    )
    assert headers == [
        ("idempotency_key", "k"),
        ("event_id", "e"),
        ("event_type", "a.b"),
        ("biz_key", "b"),
        ("topic", "t"),
        ("produced_at", "2025-01-01T04:00:00.123Z"),
        ("occurred_at", "o"),
        ("traceparent", "tp"),
        ("tracestate", "ts"),
        ("expected_current_state", ""),
        ("idempotency_key_previous", "p"),
        ("fingerprint", "f"),
        ("idem_spec", "1"),
        ("max_retry", "5"),
        ("max_hold", "20"),
        ("backoff_base", "1"),
        ("backoff_jitter", "1000"),
        ("backoff_max", "300"),
    ]


def test_producer_headers_of_little() -> None:
    """What is not there is not written."""
    for context in (Context(), Context("", "", "", "", "")):
        assert producer_headers(context, idempotency_key="k", event_type="a") == [
            ("idempotency_key", "k"),
            ("event_type", "a"),
            ("idem_spec", "1"),
        ]


def test_producer_headers_with_schedule() -> None:
    """A schedule stands in for base and cap."""
    policy = Policy(backoff_schedule=(10, 20))
    headers = producer_headers(Context(), idempotency_key="k", event_type="a", policy=policy)
    assert headers[3:] == [
        ("max_retry", "5"),
        ("max_hold", "20"),
        ("backoff_jitter", "1000"),
        ("backoff_schedule", "10,20"),
    ]


def test_producer_headers_faults() -> None:
    """A time that is none is refused."""
    context = Context(produced_at="now")
    call = {"idempotency_key": "k", "event_type": "a"}
    assert fault("TIMESTAMP_SYNTAX", producer_headers, context, **call).field == "produced_at"


def test_bind() -> None:
    """Each transport has its names; HTTP quotes the key and writes a reason in ASCII."""
    headers = [("idempotency_key", 'a"b\\c'), ("max_retry", "5"), ("reject_reason", "é: 1 ~\x1f")]
    assert bind(KAFKA, headers) == headers
    assert bind(AMQP, headers) == headers
    assert bind(HTTP, headers) == [
        ("Idempotency-Key", r'"a\"b\\c"'),
        ("Idem-Max-Retry", "5"),
        ("Idem-Reject-Reason", "?: 1 ~?"),
    ]
    assert bind(CLOUDEVENTS, headers)[1] == ("maxretry", "5")
    assert bind(HTTP, [("topic", "é")]) == [("Idem-Topic", "é")]


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1))
def test_a_bound_key_is_read_again(key: str) -> None:
    """A key comes back from every transport as it was."""
    for transport in Transport:
        pairs: list[Pair] = [*bind(transport, [("idempotency_key", key)])]
        assert parse_headers(transport, pairs).envelope == {"idempotency_key": key}


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("CODE: a\tb\nc\x7f", "CODE: a b c "),
        ("x" * 1025, "x" * 1024),
        ("é" * 513, "é" * 512),
        ("x" + "é" * 512, "x" + "é" * 511),
        ("😀" * 300, "😀" * 256),
        ("\u0080\u2028", "\u0080\u2028"),
    ],
)
def test_printable(reason: str, text: str) -> None:
    """Control characters are blanks, and the cut is before a character."""
    assert printable(reason) == text


def test_ill_formed_reason() -> None:
    """Half a surrogate pair is no reason."""
    assert fault("STRING_UTF8", printable, "\ud800").field == "reject_reason"


NOW = 1_735_704_000_000
WAS: list[Pair] = [
    ("x", None),
    ("reject_reason", "old"),
    ("retry_count", "1"),
    ("hold_count", "0"),
    ("idempotency_key", "k"),
    ("idempotency_key", b"k"),
    ("fingerprint", "F"),
    ("biz_key", b"\xff"),
    ("event_id", None),
    ("topic", "origin"),
    ("traceparent", "a"),
    ("traceparent", "b"),
    ("retry_interval", "9"),
    ("next_retry_time", "z"),
    ("max_retry", "3"),
    ("max_retry", "4"),
    ("max_retry", "3"),
    ("x", b"1"),
]


def following(decision: Decision, pairs: list[Pair] = WAS) -> list[Pair]:
    return next_headers(KAFKA, pairs, decision, scope="s", topic="here", now_ms=NOW)


@pytest.mark.parametrize("action", [Action.RETRY, Action.HOLD])
def test_next_retry(action: Action) -> None:
    """Headers are replaced, never appended; what is not replaced stays as it was."""
    assert following(Decision(action, 1500, 2, 1, "busy\n")) == [
        ("idempotency_key", "k"),
        ("biz_key", b"\xff"),
        ("topic", "origin"),
        ("traceparent", "b"),
        ("fingerprint", "F"),
        ("retry_count", "2"),
        ("max_retry", "3"),
        ("max_retry", "4"),
        ("hold_count", "1"),
        ("target_scope", "s"),
        ("retry_interval", "1500"),
        ("next_retry_time", "2025-01-01T04:00:01.500Z"),
        ("reject_reason", "busy "),
        ("x", None),
        ("x", b"1"),
    ]


def test_next_defer() -> None:
    """A deferral leaves the reason as it was."""
    found = dict(following(Decision(Action.DEFER, 0, 1, 0)))
    assert found["reject_reason"] == "old"
    assert found["next_retry_time"] == "2025-01-01T04:00:00.000Z"
    assert found["retry_interval"] == "0"


def test_next_dead_letter() -> None:
    """A dead letter is due at no time; counts that the decision has not are kept."""
    found = dict(following(Decision(Action.DEAD_LETTER, None, None, 7, "CONFLICT")))
    assert (found["retry_count"], found["hold_count"]) == ("1", "7")
    assert found["reject_reason"] == "CONFLICT"
    assert "retry_interval" not in found
    assert "next_retry_time" not in found
    found = dict(following(Decision(Action.DEAD_LETTER, None, 8, None, "CONFLICT")))
    assert (found["retry_count"], found["hold_count"]) == ("8", "0")


def test_next_topic() -> None:
    """A message without its origin, or with a null one, gets the topic that it came from."""
    for pairs in ([], [("topic", None)]):
        assert ("topic", "here") in following(Decision(Action.DEFER, 0, 0, 0), [*pairs])
    assert ("topic", "") in following(Decision(Action.DEFER, 0, 0, 0), [("topic", "")])


def test_next_is_the_same_again() -> None:
    """A message has the same size after 100 retries."""
    decision = Decision(Action.RETRY, 1500, 2, 1, "busy")
    once = following(decision)
    assert following(decision, once) == once


def test_next_time_range() -> None:
    """A time beyond the year 9999 is TIMESTAMP_RANGE."""
    last = 253_402_300_799_999
    decision = Decision(Action.DEFER, 1, 0, 0)
    common = {"scope": "s", "topic": "t"}
    assert next_headers(KAFKA, [], decision, now_ms=last - 1, **common)
    error = fault("TIMESTAMP_RANGE", next_headers, KAFKA, [], decision, now_ms=last, **common)
    assert error.field == "next_retry_time"


def test_next_over_http() -> None:
    """Kept values lose the blanks around them and stay as they came; written ones are ASCII."""
    pairs: list[Pair] = [
        ("idempotency-key", ' "k" '),
        ("Idempotency-Key", "k"),
        ("IDEM-RETRY-COUNT", "1"),
        ("X", " 1 "),
    ]
    decision = Decision(Action.DEAD_LETTER, None, 2, None, "é" * 600)
    found = next_headers(HTTP, pairs, decision, scope="s", topic="t", now_ms=NOW)
    assert found == [
        ("Idempotency-Key", '"k"'),
        ("Idem-Topic", "t"),
        ("Idem-Retry-Count", "2"),
        ("Idem-Target-Scope", "s"),
        ("Idem-Reject-Reason", "?" * 512),
        ("X", " 1 "),
    ]


def test_next_over_amqp() -> None:
    """An integer in a known header is written as text, in an unknown one it stays."""
    pairs: list[Pair] = [("max_retry", 3), ("max_retry", "3"), ("x", 4)]
    decision = Decision(Action.DEAD_LETTER, None, 1, 0, "r")
    found = next_headers(AMQP, pairs, decision, scope="s", topic="t", now_ms=NOW)
    assert [pair for pair in found if pair[0] in ("max_retry", "x")] == [
        ("max_retry", "3"),
        ("x", 4),
    ]


def redriven(pairs: list[Pair], record: int = 0, drop: bool = False) -> list[Pair]:
    return redrive_headers(
        KAFKA, pairs, record_redrive_count=record, scope="s", topic="here", drop_fingerprint=drop
    )


def test_redrive() -> None:
    """A new life begins with no retries, no reason and no time."""
    assert redriven(WAS) == [
        ("idempotency_key", "k"),
        ("biz_key", b"\xff"),
        ("topic", "origin"),
        ("traceparent", "b"),
        ("fingerprint", "F"),
        ("retry_count", "0"),
        ("max_retry", "3"),
        ("max_retry", "4"),
        ("hold_count", "0"),
        ("redrive_count", "1"),
        ("target_scope", "s"),
        ("x", None),
        ("x", b"1"),
    ]
    assert "fingerprint" not in dict(redriven(WAS, drop=True))
    assert redriven(WAS) == redrive_headers(
        KAFKA, WAS, record_redrive_count=0, scope="s", topic="here"
    )


@pytest.mark.parametrize(
    ("values", "record", "count"),
    [
        ([], 0, "1"),
        ([], 4, "5"),
        ([None], 4, "5"),
        (["7"], 4, "8"),
        (["4"], 7, "8"),
        (["7", "7"], 4, "8"),
        (["7", "9"], 4, "5"),
        (["x"], 4, "5"),
        ([b"\xff"], 4, "5"),
        (["2147483648"], 4, "5"),
        (["2147483646"], 0, "2147483647"),
        (["2147483647"], 0, "2147483647"),
        ([], 1 << 62, "2147483647"),
    ],
)
def test_redrive_count(values: list[HeaderValue], record: int, count: str) -> None:
    """One more than the larger of header and record; a faulty header is 0."""
    pairs: list[Pair] = [("redrive_count", value) for value in values]
    assert ("redrive_count", count) in redriven(pairs, record)
