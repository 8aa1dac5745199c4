"""What an error means, whoever met it (CLASS-001 to CLASS-050)."""

from __future__ import annotations

import re

from .decisions import Outcome
from .errors import IdemError

_HTTP_RETRYABLE = frozenset({408, 409, 421, 423, 425})
_HTTP_THROTTLED = frozenset({429, 503})
_HTTP_NEVER = frozenset({501, 505, 506, 508, 510})

_GRPC_NEVER = frozenset({3, 5, 6, 7, 9, 11, 12, 15, 16})

# Only what its class or the default does not say; the table of CLASS-030 spells out more.
_SQLSTATES = {
    "00000": Outcome.OK,
    "25006": Outcome.RETRYABLE,  # read-only: a failover
    "25P02": Outcome.RETRYABLE,  # aborted by another error, which is not known
    "25P03": Outcome.RETRYABLE,
    "40002": Outcome.NON_RETRYABLE,
}
_SQLSTATE_CLASSES_NEVER = frozenset("0A 21 22 23 25 26 28 2B 3D 3F 42 44".split())
_is_sqlstate = re.compile(r"[0-9A-Z]{5}").fullmatch

_KAFKA_THROTTLED = 89
_KAFKA_NEVER = frozenset(
    map(
        int,
        """
        1 4 10 12 17 18 21 23 24 26 28 29 30 31 32 33 34 35 36 37 38 39 40 42 43 44 50 53 54 57 58
        61 62 63 64 65 66 67 69 73 76 81 85 86 87 91 92 93 94 95 96 97 98 99 101 102 104 105 107
        112 114 115 116 117 118 119 121 125 126 127 128 130 131
        """.split(),
    )
)

_NETWORK_NEVER = frozenset({"tls_certificate", "tls_hostname", "dns_not_found", "url_invalid"})
_is_word = re.compile(r"[a-z_]{1,64}").fullmatch


def classify_http(status: int) -> Outcome:
    """The class of an HTTP status, 100 to 599; with THROTTLED goes its Retry-After."""
    if not 100 <= status <= 599:
        raise IdemError("INPUT_INVALID", "is not an HTTP status from 100 to 599", "http", status)
    if status in _HTTP_THROTTLED:
        return Outcome.THROTTLED
    if status < 200 or status in _HTTP_RETRYABLE:
        return Outcome.RETRYABLE
    if status < 300:
        return Outcome.OK
    if status < 500 or status in _HTTP_NEVER:
        return Outcome.NON_RETRYABLE
    return Outcome.RETRYABLE


def classify_grpc(code: int) -> Outcome:
    """The class of a gRPC status code, 0 to 2147483647."""
    if not 0 <= code < 1 << 31:
        raise IdemError("INPUT_INVALID", "is not a gRPC status code", "grpc", code)
    if code == 0:
        return Outcome.OK
    if code == 8:
        return Outcome.THROTTLED
    return Outcome.NON_RETRYABLE if code in _GRPC_NEVER else Outcome.RETRYABLE


def classify_sqlstate(code: str) -> Outcome:
    """The class of a SQLSTATE, five characters of `0-9A-Z`."""
    if not _is_sqlstate(code):
        raise IdemError("INPUT_INVALID", "is not a SQLSTATE of five characters", "sqlstate", code)
    never = code[:2] in _SQLSTATE_CLASSES_NEVER
    return _SQLSTATES.get(code, Outcome.NON_RETRYABLE if never else Outcome.RETRYABLE)


def classify_kafka(code: int) -> Outcome:
    """The class of an error code of Kafka's protocol, an int16."""
    if not -(1 << 15) <= code < 1 << 15:
        raise IdemError("INPUT_INVALID", "is not an error code of Kafka", "kafka", code)
    if code == 0:
        return Outcome.OK
    if code == _KAFKA_THROTTLED:
        return Outcome.THROTTLED
    return Outcome.NON_RETRYABLE if code in _KAFKA_NEVER else Outcome.RETRYABLE


def classify_network(word: str) -> Outcome:
    """The class of a fault of the network, by a word of `[a-z_]{1,64}`: `timeout`, `refused`."""
    if not _is_word(word):
        raise IdemError("INPUT_INVALID", "is not a word of a-z and _", "net", word)
    return Outcome.NON_RETRYABLE if word in _NETWORK_NEVER else Outcome.RETRYABLE
