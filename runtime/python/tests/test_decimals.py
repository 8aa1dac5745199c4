"""Decimals (TXT-001 to TXT-008), against decimal.Decimal."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal, localcontext

import pytest
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import IdemError, decimal

digits = st.text("0123456789", max_size=40)
texts = st.builds(
    lambda sign, whole, point, fraction, exponent: f"{sign}{whole}{point}{fraction}{exponent}",
    st.sampled_from(["", "+", "-"]),
    digits,
    st.sampled_from(["", "."]),
    digits,
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-300, 300))),
)


def plain(value: str) -> str:
    """The text of TXT-004 by decimal.Decimal, which knows the same numbers."""
    with localcontext() as context:
        context.prec = 2000
        context.Emax = 999_999
        context.Emin = -999_999
        number = Decimal(value)
        if not number:
            return "0"
        text = format(number, "f").lstrip("+")
        return text.rstrip("0").rstrip(".") if "." in text else text


@given(texts)
def test_same_as_decimal(value: str) -> None:
    """Every text of the grammar has the plain notation of the number it stands for."""
    try:
        expected = plain(value)
    except ArithmeticError:
        fault("DECIMAL_SYNTAX", decimal, value)
        return
    if len(expected) > 256:
        fault("DECIMAL_RANGE", decimal, value)
    else:
        assert decimal(value) == expected


@given(texts)
def test_a_text_is_its_own_text(value: str) -> None:
    """What comes out goes in again and stays as it is."""
    try:
        text = decimal(value)
    except IdemError:
        return
    assert decimal(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("+0.00e7", "0"),
        (".0", "0"),
        ("0e9999", "0"),
        ("1.", "1"),
        (".5", "0.5"),
        ("+.5e-1", "0.05"),
        ("-.5", "-0.5"),
        ("1.e3", "1000"),
        ("1e0", "1"),
        ("1E-00", "1"),
        ("1.50e1", "15"),
        ("12.5e1", "125"),
        ("12.5e2", "1250"),
        ("12.5e-1", "1.25"),
        ("12.5e-2", "0.125"),
        ("12.5e-3", "0.0125"),
        ("1e+0000000000000003", "1000"),
        ("1e-0000000000000003", "0.001"),
        ("100.00", "100"),
        ("007.50", "7.5"),
        ("0" * 500 + "1", "1"),
        ("1." + "0" * 500, "1"),
        ("1e" + "0" * 5000 + "2", "100"),
    ],
)
def test_plain_notation(value: str, text: str) -> None:
    """No `+`, no exponent, no zeros that could be left out."""
    assert decimal(value) == text


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        ("", 0),
        (".", 1),
        ("+", 1),
        ("-.", 2),
        ("e5", 2),
        (".e5", 3),
        ("1e", 2),
        ("1e+", 3),
        ("--1", 1),
        ("1..2", 2),
        ("1 ", 1),
        (" 1", 0),
        ("1\n", 1),
        ("1\x00", 1),
        ("1,000", 1),
        ("1_000", 1),
        ("0x1", 1),
        ("1d", 1),
        ("1e5e", 3),
        ("1e5.0", 3),
        ("١", 0),
        ("１", 0),
        ("1٣.5", 1),
        ("−1", 0),
        ("NaN", 0),
        ("Infinity", 0),
        ("1\udcff", 1),
    ],
)
def test_what_is_no_decimal(value: str, offset: int) -> None:
    """Text that does not match as a whole is refused, with where it stops matching."""
    assert fault("DECIMAL_SYNTAX", decimal, value).offset == offset


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("1e10000", "DECIMAL_RANGE"),
        ("0e10000", "DECIMAL_RANGE"),
        ("1e-10000", "DECIMAL_RANGE"),
        ("1e" + "9" * 5000, "DECIMAL_RANGE"),
        ("1e9999", "DECIMAL_RANGE"),
        ("1e-9999", "DECIMAL_RANGE"),
    ],
)
def test_exponents_beyond_four_digits(value: str, code: str) -> None:
    """The exponent's length is looked at before the digits, and a long text is never built."""
    tracemalloc.start()
    fault("DECIMAL_RANGE", decimal, value)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("value", "longer"),
    [
        ("1e255", "1e256"),
        ("-1e254", "-1e255"),
        ("1e-254", "1e-255"),
        ("-1e-253", "-1e-254"),
        ("1" * 256, "1" * 257),
        ("1" * 254 + ".5", "1" * 255 + ".5"),
        ("1" * 253 + ".55", "1" * 253 + ".555"),
        ("-" + "1" * 253 + ".5", "-" + "1" * 254 + ".5"),
        ("0." + "0" * 253 + "1", "0." + "0" * 254 + "1"),
    ],
)
def test_the_longest_text(value: str, longer: str) -> None:
    """256 bytes with sign and point are fine, one more is DECIMAL_RANGE."""
    assert len(decimal(value)) == 256
    fault("DECIMAL_RANGE", decimal, longer)


@pytest.mark.parametrize(
    ("value", "max_scale"),
    [("1.50", 1), ("1.25", 2), ("100", 0), ("1e3", 0), ("1.000", 0), ("0.000", 0), ("12.5e1", 0)],
)
def test_scale_within_bounds(value: str, max_scale: int) -> None:
    """Zeros at the end do not count as scale."""
    assert decimal(value, max_scale) == plain(value)


@pytest.mark.parametrize(
    ("value", "max_scale"), [("1.5", 0), ("1.25", 1), ("1e-3", 2), ("0.001", 2), ("1e-9999", 255)]
)
def test_scale_beyond_bounds(value: str, max_scale: int) -> None:
    """More fraction digits are refused, never rounded, and before the length is looked at."""
    fault("DECIMAL_SCALE", decimal, value, max_scale)


def test_no_input_takes_quadratic_time() -> None:
    """A text of a million bytes is refused or read in one pass."""
    zeros = "0" * 1_000_000
    assert decimal(f"{zeros}1.{zeros}") == "1"
    fault("DECIMAL_SYNTAX", decimal, f"1{zeros}.{zeros}e{zeros}x")
