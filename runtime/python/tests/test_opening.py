"""`parse_quickly` answers as `parse_headers` does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from idemspec import IdemError, Transport, parse_headers
from idemspec.header_table import HEADERS
from idemspec_runtime.header_text import Headers
from idemspec_runtime.opening import parse_quickly

VALUES = (b"1", b"2", b"", b"0", b"a-b", b"key 1", b"\xff", b"2025-01-01T00:00:00Z", b"5,6", None)
names = st.sampled_from([*(header.name for header in HEADERS), "own", "Own"])
pairs = st.tuples(names, st.sampled_from(VALUES) | st.binary(max_size=3))


def answer(parse: object, headers: Headers) -> object:
    try:
        if parse is parse_quickly:
            return parse_quickly(headers)[0]
        return parse_headers(Transport.KAFKA, headers).envelope
    except IdemError as error:
        return error.code, error.field


@given(st.lists(pairs, max_size=6))
def test_it_answers_as_the_core_does(headers: Headers) -> None:
    for _ in range(2):  # the second time of what it remembers
        assert answer(parse_quickly, headers) == answer(parse_headers, headers)
