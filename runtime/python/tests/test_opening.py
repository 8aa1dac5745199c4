"""`parse_quickly` and `open_quickly` answer as the core's `parse_headers` does."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from idemspec import IdemError, Transport, parse_headers
from idemspec.header_table import HEADERS
from idemspec_runtime.delivery import Delivery
from idemspec_runtime.header_text import Headers
from idemspec_runtime.layouts import open_quickly
from idemspec_runtime.message import Fetched
from idemspec_runtime.opening import parse_quickly

TIME, PRINT = b"2025-01-01T00:00:00Z", b"0123abcd-0123456789abcdef"
VALUES = (b"1", b"2", b"", b"0", b"a-b", b"key 1", b"\xff", TIME, PRINT, b"5,6", None)
names = st.sampled_from([*(header.name for header in HEADERS), "own", "Own"])
pairs = st.tuples(names, st.sampled_from(VALUES) | st.binary(max_size=3))

PRODUCED: Headers = [
    ("idempotency_key", b"k"),
    ("event_type", b"paid"),
    ("biz_key", b"b"),
    ("produced_at", TIME),
    ("fingerprint", PRINT),
    ("retry_count", b"2"),
    ("event_id", b"e"),
]


def answer(parse: object, headers: Headers) -> object:
    try:
        if parse is parse_quickly:
            return parse_quickly(headers)
        return parse_headers(Transport.KAFKA, headers).envelope
    except IdemError as error:
        return error.code, error.field


@given(st.lists(pairs, max_size=6))
def test_it_answers_as_the_core_does(headers: Headers) -> None:
    for _ in range(2):  # the second time of what it remembers
        assert answer(parse_quickly, headers) == answer(parse_headers, headers)


@given(st.dictionaries(names, st.sampled_from(VALUES), max_size=4), st.permutations(PRODUCED))
@example({}, PRODUCED)
def test_what_is_opened_quickly_is_what_the_core_reads(
    others: dict[str, bytes | None], produced: Headers
) -> None:
    headers = list((dict(produced) | others).items())
    for _ in range(2):
        d = Delivery(Fetched("orders", 0, 1, b"key", b"", headers), 0.0)
        if not open_quickly(d):
            assert others, "nothing is unusual about what is produced"
            continue
        envelope = parse_headers(Transport.KAFKA, headers).envelope
        assert d.envelope == envelope and "target_scope" not in envelope
        assert d.key == envelope["idempotency_key"]
        assert d.biz_key == envelope.get("biz_key", "key")
        assert d.event_type == envelope.get("event_type", "")
        assert d.key_previous == envelope.get("idempotency_key_previous", "")
        assert d.fingerprint == envelope.get("fingerprint", "")
        assert d.produced_at == envelope.get("produced_at", "")
        assert d.retry_count == d.header_retries == int(envelope.get("retry_count", "0"))
        assert d.hold_count == d.header_holds == int(envelope.get("hold_count", "0"))
        assert d.redrive_count == int(envelope.get("redrive_count", "0")) == 0
