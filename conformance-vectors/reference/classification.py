"""Chapter 8: what an error means."""

import re

from .errors import Fault

OK, RETRYABLE, THROTTLED, NON_RETRYABLE = "OK", "RETRYABLE", "THROTTLED", "NON_RETRYABLE"


def _invalid(what: str) -> Fault:
    return Fault("INPUT_INVALID", what)


def http(status: int) -> str:
    """CLASS-010."""
    if not 100 <= status <= 599:
        raise _invalid("a status is 100 to 599")
    if status in (408, 409, 421, 423, 425):
        return RETRYABLE
    if status in (429, 503):
        return THROTTLED
    if status in (501, 505, 506, 508, 510):
        return NON_RETRYABLE
    return {1: RETRYABLE, 2: OK, 3: NON_RETRYABLE, 4: NON_RETRYABLE, 5: RETRYABLE}[status // 100]


def grpc(code: int) -> str:
    """CLASS-020 and CLASS-041."""
    if not 0 <= code <= 2**31 - 1:
        raise _invalid("a code is 0 to 2^31-1")
    if code == 0:
        return OK
    if code == 8:
        return THROTTLED
    return NON_RETRYABLE if code in (3, 5, 6, 7, 9, 11, 12, 15, 16) else RETRYABLE


_SQL_CODES = {
    "00000": OK,
    **dict.fromkeys(
        "25006 25P02 25P03 40001 40P01 40003 55006 55P03 57014 57P01 57P02 57P03 57P05".split(),
        RETRYABLE,
    ),
    "40002": NON_RETRYABLE,
}
_SQL_CLASSES = {
    **dict.fromkeys("08 40 53 55 57 58 XX".split(), RETRYABLE),
    **dict.fromkeys("0A 21 22 23 25 26 28 2B 3D 3F 42 44".split(), NON_RETRYABLE),
}


def sqlstate(code: str) -> str:
    """CLASS-030."""
    if not re.fullmatch(r"[0-9A-Z]{5}", code):
        raise _invalid("a SQLSTATE is five of 0-9 and A-Z")
    return _SQL_CODES.get(code) or _SQL_CLASSES.get(code[:2]) or RETRYABLE


_KAFKA_NON_RETRYABLE = frozenset(
    int(code)
    for code in """
1 4 10 12 17 18 21 23 24 26 28 29 30 31 32 33 34 35 36 37 38 39 40 42 43 44 50 53 54 57 58 61 62 63
64 65 66 67 69 73 76 81 85 86 87 91 92 93 94 95 96 97 98 99 101 102 104 105 107 112 114 115 116 117
118 119 121 125 126 127 128 130 131
""".split()
)


def kafka(code: int) -> str:
    """CLASS-040 and CLASS-041."""
    if not -(2**15) <= code <= 2**15 - 1:
        raise _invalid("a code is an int16")
    if code == 0:
        return OK
    if code == 89:
        return THROTTLED
    return NON_RETRYABLE if code in _KAFKA_NON_RETRYABLE else RETRYABLE


def net(word: str) -> str:
    """CLASS-050 and CLASS-041."""
    if not re.fullmatch(r"[a-z_]{1,64}", word):
        raise _invalid("a word is 1 to 64 of a-z and _")
    final = ("tls_certificate", "tls_hostname", "dns_not_found", "url_invalid")
    return NON_RETRYABLE if word in final else RETRYABLE
