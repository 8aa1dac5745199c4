"""What has no known shape is INPUT_INVALID, before anything else (CONF-020 to CONF-041)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from idemspec import IdemError
from main import encode
from operations import OPERATIONS

POLICY = {"backoff_base": "1", "backoff_max": "300", "backoff_jitter": "1000"}
RECORD = {
    "state": "FAILED",
    "fence": "1",
    "attempts": "1",
    "owner": "w",
    "redrive_count": "0",
    "position": "0",
}
ADMIT = {
    "record": None,
    "delivery": {"redrive_count": "0", "position": "0"},
    "now_ms": "0",
    "lease_ms": "1",
    "max_attempts": "9",
    "owner": "w",
}
DECIDE = {
    "outcome": "RETRYABLE",
    "key": "k",
    "retry_count": "0",
    "max_retry": "5",
    "hold_count": "0",
    "max_hold": "20",
    "policy": POLICY,
}
NEXT = {
    "transport": "kafka",
    "headers": [["x", None], ["y", {"hex": "ff"}], ["z", {"utf8": "z"}]],
    "scope": "s",
    "topic": "t",
    "now_ms": "0",
}
COUNTS = {"delay_ms": "1", "retry_count": "1", "hold_count": "0"}

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("decimal", {"text": "1.50", "max_scale": "2"}),
    ("decimal", {"hex": "31"}),
    ("money", {"currency_code": "USD", "units": "1", "nanos": "0"}),
    ("timestamp", {"rfc3339": "2025-01-01T00:00:00Z", "fraction_digits": "3"}),
    ("timestamp", {"seconds": "0", "nanos": "0", "fraction_digits": "9"}),
    ("timestamp", {"epoch": "0", "unit": "us", "fraction_digits": "0"}),
    ("duration", {"seconds": "0", "nanos": "0", "fraction_digits": "3"}),
    ("date", {"year": "2025", "month": "1", "day": "1"}),
    ("uuid", {"text": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}),
    ("component", {"string": "p/17"}),
    ("component", {"hex_utf8": "61"}),
    ("component", {"utf16": ["d83d", "de00"]}),
    ("component", {"bytes": "00ff"}),
    ("component", {"bool": False}),
    ("component", {"enum": "-1"}),
    ("component", {"int": {"type": "fixed64", "value": "1"}}),
    ("component", {"absent": True}),
    ("component", {"decimal": {"text": "1.50"}}),
    ("component", {"sha256": {"money": {"currency_code": "USD", "units": "1", "nanos": "0"}}}),
    ("component", {"sha256": {"absent": True}}),
    ("key", {"segments": [{"literal": "t"}, {"component": {"string": "x"}}]}),
    ("fingerprint", {"template": "{a}", "segments": [{"component": {"string": ""}}]}),
    ("hash", {"hex": ""}),
    ("shard", {"key": "k", "n": "12"}),
    ("shard", {"hash": "0123456789abcdef", "n": "12"}),
    ("lane", {"key": "k", "n": "12"}),
    ("kafka_partition", {"key": "k", "n": "12"}),
    ("policy", {"header": {"backoff_schedule": ["1"]}, "schema": {}, "limit": {}}),
    ("backoff", {"key": "k", "retry_count": "0", "policy": POLICY, "retry_after_ms": "1"}),
    ("decide", {**DECIDE, "reason": "x", "retry_after_ms": "0"}),
    ("decide", {**DECIDE, "outcome": "FENCED", "wait_ms": "0"}),
    ("admit", ADMIT),
    ("admit", {**ADMIT, "record": RECORD, "fingerprint": "00000000-0000000000000000"}),
    ("admit", {**ADMIT, "record": {**RECORD, "state": "PROCESSING", "lease_until_ms": "0"}}),
    ("admit", {**ADMIT, "record": {**RECORD, "state": "SUCCESS", "result": "00"}}),
    (
        "transition",
        {"transitions": [{"from": "A", "to": "B"}], "current": "A", "from": "A", "to": "B"},
    ),
    ("headers", {"transport": "amqp", "headers": [["max_retry", {"int": "3"}], ["x", None]]}),
    ("next_headers", {**NEXT, "decision": {"action": "RETRY", **COUNTS, "reject_reason": "r"}}),
    ("next_headers", {**NEXT, "decision": {"action": "DEFER", **COUNTS}}),
    ("next_headers", {**NEXT, "decision": {"action": "DEAD_LETTER", "reject_reason": "r"}}),
    ("next_headers", {**NEXT, "decision": {"action": "REDRIVE", "redrive_count": "0"}}),
    ("classify", {"http": "200"}),
    ("classify", {"net": "eof"}),
]


def ask(op: str, given: object) -> str:
    """The code of an operation, or `ok`; what comes out is JSON."""
    try:
        json.loads(encode(OPERATIONS[op](given)))
    except IdemError as error:
        return error.code
    return "ok"


@pytest.mark.parametrize(("op", "given"), GOOD)
def test_good_shapes(op: str, given: dict[str, Any]) -> None:
    """Each example has a shape of its operation."""
    assert ask(op, given) == "ok"


OPTIONAL = {"max_scale", "reason", "retry_after_ms", "fingerprint", "result", "backoff_schedule"}


def twisted(value: Any) -> list[Any]:
    """Values that differ from a good one in one place, and have no known shape there."""
    others: list[Any] = [1, 1.5, True, "", [value], {"x": value}]
    if isinstance(value, dict):
        twists: list[Any] = [{**value, "unknown": "1"}, list(value)]
        for name, member in value.items():
            if name not in OPTIONAL:
                twists.append({key: kept for key, kept in value.items() if key != name})
            twists += [{**value, name: twist} for twist in twisted(member)]
        return twists + [other for other in others if type(other) is not dict]
    if isinstance(value, list):
        twists = [other for other in others if type(other) is not list]
        for n, item in enumerate(value):
            twists += [[*value[:n], twist, *value[n + 1 :]] for twist in twisted(item)]
        return twists
    if isinstance(value, str):
        twists = [None, *(other for other in others if type(other) is not str)]
        if value.lstrip("-").isdigit():
            twists += [f"0{value}", f"+{value}", f"{value}.0", f" {value}", f"{value}\n", "-0"]
            twists += ["-", "x", "１", int(value)]
        return twists
    return ["true", "", 1, []]


@pytest.mark.parametrize(("op", "given"), GOOD)
def test_twisted_shapes(op: str, given: dict[str, Any]) -> None:
    """Another type, a member too many or too few, and an integer that is not canonical."""
    for twist in (None, [], "", 1, *twisted(given)):
        assert ask(op, twist) == "INPUT_INVALID", twist


@pytest.mark.parametrize(
    ("op", "given"),
    [
        ("decimal", {"text": "1", "hex": "31"}),
        ("decimal", {"text": "1", "max_scale": "256"}),
        ("decimal", {"text": "1", "max_scale": "-1"}),
        ("decimal", {"hex": "3"}),
        ("decimal", {"hex": "AA"}),
        ("duration", {"seconds": "0", "nanos": "0", "fraction_digits": "10"}),
        ("timestamp", {"seconds": "0", "nanos": "0", "fraction_digits": "-1"}),
        ("timestamp", {"epoch": "0", "unit": "m", "fraction_digits": "0"}),
        ("component", {"string": "a", "bytes": "00"}),
        ("component", {"absent": False}),
        ("component", {"missing": False}),
        ("component", {"utf16": ["D83D"]}),
        ("component", {"utf16": ["d83"]}),
        ("component", {"sha256": {"sha256": {"string": "a"}}}),
        ("component", {"int": {"type": "int16", "value": "1"}}),
        ("key", {"segments": []}),
        ("key", {"segments": [{"literal": ""}]}),
        ("key", {"segments": [{"literal": "a:b"}]}),
        ("key", {"segments": [{"component": {"missing": True}}, {"literal": "é"}]}),
        ("fingerprint", {"template": "a", "segments": []}),
        ("shard", {"hash": "0123456789abcde", "n": "0"}),
        ("shard", {"hash": "0123456789ABCDEF", "n": "0"}),
        ("shard", {"hash": "0123456789abcdef", "key": "k", "n": "1"}),
        ("policy", {"header": {}, "schema": {}, "limit": {"backoff_schedule": ["1"]}}),
        ("backoff", {"key": "", "retry_count": "-1", "policy": POLICY, "retry_after_ms": "-1"}),
        ("backoff", {"key": "k", "retry_count": "0", "policy": {**POLICY, "max_retry": "1"}}),
        ("decide", {**DECIDE, "key": "", "outcome": "FENCED"}),
        ("decide", {**DECIDE, "outcome": "OK", "wait_ms": "-1"}),
        ("decide", {**DECIDE, "outcome": "ok"}),
        ("admit", {**ADMIT, "lease_ms": "0"}),
        ("admit", {**ADMIT, "max_attempts": "0"}),
        ("admit", {**ADMIT, "now_ms": "-1"}),
        ("admit", {**ADMIT, "now_ms": str(1 << 63)}),
        ("admit", {**ADMIT, "fingerprint": "x"}),
        ("admit", {**ADMIT, "record": {**RECORD, "lease_until_ms": "0"}}),
        ("admit", {**ADMIT, "record": {**RECORD, "result": ""}}),
        ("headers", {"transport": "kafka", "headers": [["max_retry", {"int": "3"}]]}),
        ("headers", {"transport": "kafka", "headers": [["x", {"utf8": "a", "hex": "61"}]]}),
        ("headers", {"transport": "kafka", "headers": [["x"]]}),
        ("headers", {"transport": "nats", "headers": []}),
        ("next_headers", {**NEXT, "decision": {"action": "ACK"}}),
        (
            "next_headers",
            {
                **NEXT,
                "decision": {"action": "REDRIVE", "redrive_count": "0", "drop_fingerprint": False},
            },
        ),
        ("classify", {"http": "99"}),
        ("classify", {"http": "200", "grpc": "0"}),
        ("classify", {"sqlstate": "4000"}),
        ("classify", {"kafka": "32768"}),
        ("classify", {"grpc": "-1"}),
        ("classify", {"net": "EOF"}),
        ("classify", {"ftp": "200"}),
    ],
)
def test_known_faults_of_shape(op: str, given: dict[str, Any]) -> None:
    """Bounds, alternatives together, and words that are none; also beside other faults."""
    assert ask(op, given) == "INPUT_INVALID"


@pytest.mark.parametrize(
    ("op", "given", "code"),
    [
        ("date", {"year": "9" * 5000, "month": "1", "day": "1"}, "DATE_RANGE"),
        ("money", {"currency_code": "USD", "units": "9" * 30, "nanos": "0"}, "MONEY_RANGE"),
        ("component", {"enum": "9" * 30}, "INT_RANGE"),
        ("component", {"sha256": {"missing": True}}, "KEY_COMPONENT_MISSING"),
        ("component", {"utf16": ["d83d"]}, "STRING_UTF8"),
        ("shard", {"hash": "0123456789abcdef", "n": "0"}, "PARTITION_COUNT"),
        ("decimal", {"hex": "ff"}, "DECIMAL_SYNTAX"),
        ("decide", {**DECIDE, "max_retry": "101", "key": ""}, "POLICY_RANGE"),
        ("decide", {**DECIDE, "key": ""}, "KEY_EMPTY"),
    ],
)
def test_faults_of_value(op: str, given: dict[str, Any], code: str) -> None:
    """What has a shape gets the code of the operation."""
    assert ask(op, given) == code


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.sampled_from(sorted(OPERATIONS)), json_values)
def test_any_json(op: str, given: Any) -> None:
    """Whatever JSON comes, the answer is an output or a code."""
    assert ask(op, given) == "INPUT_INVALID"
