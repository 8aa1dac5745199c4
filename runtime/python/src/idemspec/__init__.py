"""The pure core of idem for Python: what its specification computes, and nothing that does I/O.

Every function gives the bytes that the Go and Java cores give, or raises `IdemError` with a code
of chapter 13. Nothing here reads a clock, a random number, the locale or the environment, and
everything may be called from any thread. Fetching, storing and sending are left to the caller.
"""

from .admission import (
    Admission,
    AdmissionVerdict,
    Delivery,
    Record,
    RecordState,
    admit,
    max_attempts,
)
from .amounts import money
from .classify import (
    classify_grpc,
    classify_http,
    classify_kafka,
    classify_network,
    classify_sqlstate,
)
from .context import Context
from .dates import date
from .decimals import decimal
from .decisions import Action, Decision, Outcome, decide
from .delays import Backoff, backoff
from .digests import digest
from .durations import duration
from .errors import Code, IdemError, Redacted
from .fingerprints import fingerprint, template_tag
from .generated import CONTRACT, SPEC_VERSION
from .hashing import hash64, hash_text
from .headers import (
    ParsedHeaders,
    bind,
    next_headers,
    parse_headers,
    policy_values,
    producer_headers,
    redrive_headers,
)
from .keys import ABSENT, biz_key, bounded, missing, render
from .policies import Policy, PolicyValues, resolve
from .routing import kafka_partition, lane, shard
from .scalars import boolean, enum_number, hexadecimal, integer
from .states import StateMachine, StateVerdict, Transition
from .strings import scannable, text, well_formed
from .timestamps import timestamp, timestamp_of_epoch, timestamp_of_text
from .transports import Transport
from .uuids import uuid

__version__ = "1.0.0"

__all__ = [
    "ABSENT",
    "CONTRACT",
    "SPEC_VERSION",
    "Action",
    "Admission",
    "AdmissionVerdict",
    "Backoff",
    "Code",
    "Context",
    "Decision",
    "Delivery",
    "IdemError",
    "Outcome",
    "ParsedHeaders",
    "Policy",
    "PolicyValues",
    "Record",
    "RecordState",
    "Redacted",
    "StateMachine",
    "StateVerdict",
    "Transition",
    "Transport",
    "admit",
    "backoff",
    "bind",
    "biz_key",
    "boolean",
    "bounded",
    "classify_grpc",
    "classify_http",
    "classify_kafka",
    "classify_network",
    "classify_sqlstate",
    "date",
    "decide",
    "decimal",
    "digest",
    "duration",
    "enum_number",
    "fingerprint",
    "hash64",
    "hash_text",
    "hexadecimal",
    "integer",
    "kafka_partition",
    "lane",
    "max_attempts",
    "missing",
    "money",
    "next_headers",
    "parse_headers",
    "policy_values",
    "producer_headers",
    "redrive_headers",
    "render",
    "resolve",
    "scannable",
    "shard",
    "template_tag",
    "text",
    "timestamp",
    "timestamp_of_epoch",
    "timestamp_of_text",
    "uuid",
    "well_formed",
]
