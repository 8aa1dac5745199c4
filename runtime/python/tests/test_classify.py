"""Classes of errors (CLASS-010 to CLASS-050): the tables of chapter 8, read again."""

from __future__ import annotations

import pytest
from faults import fault
from idemspec import (
    Outcome,
    classify_grpc,
    classify_http,
    classify_kafka,
    classify_network,
    classify_sqlstate,
)

OK, RETRYABLE = Outcome.OK, Outcome.RETRYABLE
THROTTLED, NEVER = Outcome.THROTTLED, Outcome.NON_RETRYABLE


def test_http() -> None:
    """Every status of 100 to 599 has the class of the table."""
    for status in range(100, 600):
        if status in (429, 503):
            expected = THROTTLED
        elif status in (408, 409, 421, 423, 425):
            expected = RETRYABLE
        elif status in (501, 505, 506, 508, 510):
            expected = NEVER
        else:
            expected = {1: RETRYABLE, 2: OK, 3: NEVER, 4: NEVER, 5: RETRYABLE}[status // 100]
        assert classify_http(status) is expected, status
    for status in (99, 600, 0, -200):
        fault("INPUT_INVALID", classify_http, status)


def test_grpc() -> None:
    """Every code has the class of the table; unknown ones are retried."""
    classes = [OK, RETRYABLE, RETRYABLE, NEVER, RETRYABLE, NEVER, NEVER, NEVER, THROTTLED, NEVER]
    classes += [RETRYABLE, NEVER, NEVER, RETRYABLE, RETRYABLE, NEVER, NEVER, RETRYABLE]
    for code, expected in enumerate(classes):
        assert classify_grpc(code) is expected, code
    assert classify_grpc((1 << 31) - 1) is RETRYABLE
    for code in (-1, 1 << 31):
        fault("INPUT_INVALID", classify_grpc, code)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ("00000", OK),
        ("25006 25P02 25P03 40001 40P01 40003 55006 55P03", RETRYABLE),
        ("57014 57P01 57P02 57P03 57P05", RETRYABLE),
        ("08006 40000 53300 55000 57000 58030 XX000 99999 01000 P0001 00001", RETRYABLE),
        ("40002", NEVER),
        ("0A000 21000 22003 23505 25001 26000 28P01 2B000 3D000 3F000 42601 44000", NEVER),
    ],
)
def test_sqlstate(codes: str, expected: Outcome) -> None:
    """The whole code comes before its class, and unknown ones are retried."""
    for code in codes.split():
        assert classify_sqlstate(code) is expected, code


@pytest.mark.parametrize("code", ["", "0000", "000000", "4000a", "40 01", "4000\n", "４0001"])
def test_what_is_no_sqlstate(code: str) -> None:
    """Five characters of 0-9A-Z, nothing else."""
    fault("INPUT_INVALID", classify_sqlstate, code)


def test_kafka() -> None:
    """The list of CLASS-040 is never retried; all other codes are, unknown ones among them."""
    never = {1, 4, 10, 12, 17, 18, 21, 23, 24, 26, *range(28, 41), 42, 43, 44, 50, 53, 54, 57, 58}
    never |= {*range(61, 68), 69, 73, 76, 81, 85, 86, 87, *range(91, 100), 101, 102, 104, 105, 107}
    never |= {112, 114, 115, 116, 117, 118, 119, 121, 125, 126, 127, 128, 130, 131}
    for code in (*range(-3, 200), 32_767, -32_768):
        special = {0: OK, 89: THROTTLED}.get(code)
        assert classify_kafka(code) is (special or (NEVER if code in never else RETRYABLE)), code
    for code in (32_768, -32_769):
        fault("INPUT_INVALID", classify_kafka, code)


def test_network() -> None:
    """Mistakes of configuration are never retried, all other words are."""
    for word in "timeout refused reset closed eof unreachable dns_timeout canceled other _".split():
        assert classify_network(word) is RETRYABLE
    for word in "tls_certificate tls_hostname dns_not_found url_invalid".split():
        assert classify_network(word) is NEVER
    assert classify_network("a" * 64) is RETRYABLE
    for word in ("", "a" * 65, "Timeout", "time-out", "eof\n", "eof2"):
        fault("INPUT_INVALID", classify_network, word)
