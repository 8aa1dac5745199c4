from __future__ import annotations

import pytest
from idemspec_runtime.header_text import Headers, decode_headers, encode_headers

CASES: list[tuple[str, Headers]] = [
    ("[]", []),
    (
        '[["event_type","payments.failed"],["note",null]]',
        [("event_type", "payments.failed"), ("note", None)],
    ),
    ('[["blob",{"base64":"/wA="}]]', [("blob", b"\xff\0")]),
    ('[["n",{"integer":"7"}]]', [("n", 7)]),
    ('[["tabs","\\u0009\\"\\\\"],["größe","é"]]', [("tabs", '\t"\\'), ("größe", "é")]),
    ('[[{"base64":"/w=="},""]]', [("\udcff", "")]),
]


@pytest.mark.parametrize(("text", "headers"), CASES)
def test_headers_and_their_text(text: str, headers: Headers) -> None:
    assert encode_headers(headers) == text
    assert decode_headers(text) == headers


def test_bytes_that_are_text_are_written_as_text() -> None:
    assert encode_headers([("a", b"b")]) == '[["a","b"]]'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '["a"]',
        '[["a"]]',
        '[["a",1]]',
        '[[null,"a"]]',
        '[["a",{"base64":"?"}]]',
        '[["a",{"integer":"x"}]]',
        '[["a",{"hex":"00"}]]',
        '[["a","\\ud800"]]',
    ],
)
def test_what_is_no_headers_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode_headers(text)
