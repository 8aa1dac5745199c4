"""Strings, digests, keys and fingerprints (KEY-001 to KEY-013, HASH-030, HASH-031)."""

from __future__ import annotations

import hashlib
import tracemalloc
from functools import partial
from urllib.parse import quote, unquote

import pytest
import xxhash
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import (
    biz_key,
    bounded,
    digest,
    fingerprint,
    missing,
    render,
    scannable,
    template_tag,
    text,
    well_formed,
)
from idemspec.fingerprints import conflict

any_text = st.text(st.characters(exclude_categories=["Cs"]))


@given(any_text)
def test_text_same_as_quote(value: str) -> None:
    """Escaping is percent-encoding of all but 65 bytes, and can be undone."""
    assert text(value) == quote(value, safe="").replace("~", "%7E")
    assert unquote(text(value), errors="strict") == value


@pytest.mark.parametrize(
    ("value", "component"),
    [
        ("", ""),
        ("AZaz09-._", "AZaz09-._"),
        ("p/17", "p%2F17"),
        ("~*'()!:%", "%7E%2A%27%28%29%21%3A%25"),
        ("a b+c", "a%20b%2Bc"),
        ("\x00\n", "%00%0A"),
        ("\ufeffa", "%EF%BB%BFa"),
        ("é", "%C3%A9"),
        ("😀", "%F0%9F%98%80"),
        ("\uffff", "%EF%BF%BF"),
        ("a\n", "a%0A"),
        ("@[`{/", "%40%5B%60%7B%2F"),
    ],
)
def test_text(value: str, component: str) -> None:
    """Nothing is trimmed, folded or normalised."""
    assert text(value) == component


@pytest.mark.parametrize(
    ("value", "offset"), [("\ud800", 0), ("a\udfff", 1), ("é\ud83d", 2), ("\ude00\ud83d", 0)]
)
def test_ill_formed_text(value: str, offset: int) -> None:
    """Half a surrogate pair is refused, with its offset in bytes."""
    for call in (text, well_formed, digest):
        error = fault("STRING_UTF8", call, value, "name")
        assert (error.field, error.offset) == ("name", offset)


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        (b"\xff", 0),
        (b"a\x80", 1),
        (b"\xc0\x80", 0),
        (b"\xed\xa0\x80", 0),
        (b"\xf4\x90\x80\x80", 0),
        (b"ab\xe2\x82", 2),
    ],
)
def test_ill_formed_bytes(value: bytes, offset: int) -> None:
    """Surrogates, overlong forms, bytes above F4 and cut sequences are refused."""
    error = fault("STRING_UTF8", well_formed, value, "name")
    assert (error.field, error.offset) == ("name", offset)


def test_well_formed() -> None:
    """Well-formed text is as it was, well-formed bytes are decoded."""
    assert well_formed("é") == "é"
    assert well_formed("é".encode()) == "é"


def test_scannable() -> None:
    """Ill-formed bytes become text that no scanner takes; the rest is as it was."""
    assert scannable("1.5") == "1.5"
    assert scannable(b"1.5") == "1.5"
    assert scannable(b"1\xff") == "1\udcff"


def test_long_text_is_checked_and_not_written() -> None:
    """Text beyond what a key can hold costs no memory, but its faults are found."""
    long = "é" * 1_000_000
    tracemalloc.start()
    component = text(long)
    assert len(component) == 6 * 1025
    assert tracemalloc.get_traced_memory()[1] < 400_000
    tracemalloc.stop()
    assert len(text("a" * 5000)) == 1025
    assert len(text("a" * 1024)) == 1024
    assert text(long, "", None) == "%C3%A9" * 1_000_000
    assert fault("STRING_UTF8", text, long + "\ud800").offset == 2_000_000


@given(any_text)
def test_digest_same_as_hashlib(value: str) -> None:
    """The first half of SHA-256 of the text before escaping."""
    assert digest(value) == hashlib.sha256(value.encode()).hexdigest()[:32]


def test_missing() -> None:
    """A missing field is an error with its path."""
    assert fault("KEY_COMPONENT_MISSING", missing, "customer.id").field == "customer.id"


@pytest.mark.parametrize(
    ("segments", "key"),
    [
        (["t"], "t"),
        (["t", ""], "t:"),
        (["", ""], ":"),
        ([""], ""),
        (["t", "", "a"], "t::a"),
        (["t", partial(text, "x:y"), "v1"], "t:x%3Ay:v1"),
    ],
)
def test_render(segments: list[str], key: str) -> None:
    """Segments are joined by a colon, empty ones too."""
    assert render(segments) == key


def test_longest_key() -> None:
    """1024 bytes are a key, 1025 are KEY_TOO_LONG, whichever segment they end in."""
    assert len(bounded("k" * 1024)) == 1024
    assert len(render(["t", "k" * 1022])) == 1024
    assert fault("KEY_TOO_LONG", bounded, "k" * 1025).field == "key"
    fault("KEY_TOO_LONG", render, ["t", "k" * 1023])
    fault("KEY_TOO_LONG", render, ["t", "k" * 1022, ""])
    fault("KEY_TOO_LONG", render, ["k" * 1024, ""])
    fault("KEY_TOO_LONG", render, ["k" * 1025, ""])


def test_first_fault_from_the_left() -> None:
    """A component's fault comes before KEY_TOO_LONG, the left one before the right one."""
    faulty = partial(text, "\ud800")
    absent = partial(missing, "b")
    fault("STRING_UTF8", render, ["k" * 2000, faulty, absent])
    fault("KEY_COMPONENT_MISSING", render, [absent, faulty])


def test_render_keeps_no_more_than_a_key() -> None:
    """A million long components take the memory of a few."""
    component = "a" * 1025
    tracemalloc.start()
    fault("KEY_TOO_LONG", render, (component for _ in range(100_000)))
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_biz_key() -> None:
    """A biz key has at least one byte and at most 1024."""
    assert biz_key("o-17") == "o-17"
    assert fault("KEY_EMPTY", biz_key, "").field == "biz_key"
    fault("KEY_TOO_LONG", biz_key, "k" * 1025)


@given(any_text, any_text)
def test_fingerprint_same_as_xxhash(template: str, rendered: str) -> None:
    """The low half of the template's hash, then the hash of the text."""
    low = f"{xxhash.xxh64_intdigest(template.encode()) & 0xFFFFFFFF:08x}"
    expected = f"{low}-{xxhash.xxh64_hexdigest(rendered.encode())}"
    assert fingerprint(template_tag(template), rendered) == expected


def test_comparable_fingerprints() -> None:
    """Fingerprints conflict where both are there, of one template, and differ."""
    one, other = "00000001-aaaaaaaaaaaaaaaa", "00000001-bbbbbbbbbbbbbbbb"
    assert conflict(one, other)
    assert not conflict(one, one)
    assert not conflict(one, "00000002-bbbbbbbbbbbbbbbb")
    assert not conflict("10000001-aaaaaaaaaaaaaaaa", other)
    assert not conflict(None, other)
    assert not conflict(one, None)
    assert not conflict(None, None)
