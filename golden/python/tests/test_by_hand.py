"""Keys and faults written down by hand: what a reference could get wrong in the same way."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import xxhash
from google.protobuf.message import Message
from idem.conformance.v1 import (
    digest_pb2,
    edition2023_pb2,
    names_pb2,
    payment_pb2,
    presence_pb2,
    proto2_pb2,
    scalars_pb2,
    templates_pb2,
    values_pb2,
)
from idem.conformance.v1.digest_idem import DigestsIdem, DigestStringIdem, RedactedPathIdem
from idem.conformance.v1.edition2023_idem import Edition2023TextIdem
from idem.conformance.v1.names_idem import KeywordsIdem, NoneIdem
from idem.conformance.v1.payment_idem import PaymentSucceededIdem
from idem.conformance.v1.presence_idem import PathsAllowIdem, PathsIdem, TreeIdem
from idem.conformance.v1.proto2_idem import (
    Proto2DefaultsAllowIdem,
    Proto2DefaultsIdem,
    Proto2TextIdem,
)
from idem.conformance.v1.scalars_idem import OneBytesIdem, OneIntegerIdem, OneStringIdem
from idem.conformance.v1.templates_idem import FaultsIdem, ManyIdem, OccurredAtIdem
from idem.conformance.v1.values_idem import (
    DateValueIdem,
    DecimalMessageIdem,
    DurationDefaultIdem,
    MoneyValueIdem,
    TimestampDefaultIdem,
)
from idemspec import Context, IdemError


def fault(method: Any, *args: object) -> tuple[str, str, str | None]:
    with pytest.raises(IdemError) as raised:
        method(*args)
    return raised.value.code, raised.value.field, raised.value.value


def test_payment() -> None:
    """The example of spec/01-overview.md."""
    m = payment_pb2.PaymentSucceeded(
        payment_id="p/17", order_id="foobar", amount="100.00", currency="USD"
    )
    m.occurred_at.seconds = 1735704000
    template, content = xxhash.xxh64(b"{amount}:{currency}"), xxhash.xxh64(b"100:USD")
    fingerprint = f"{template.hexdigest()[8:]}-{content.hexdigest()}"
    headers = PaymentSucceededIdem.headers(m, Context(event_id="e-1", tracestate="a=b"))
    assert headers == [
        ("idempotency_key", "payments.payment_success:v1:p%2F17"),
        ("event_id", "e-1"),
        ("event_type", "payments.payment_success"),
        ("biz_key", "foobar"),
        ("occurred_at", "2025-01-01T04:00:00.000Z"),
        ("tracestate", "a=b"),
        ("expected_current_state", "PAYING"),
        ("fingerprint", fingerprint),
        ("idem_spec", "1"),
        ("max_retry", "5"),
        ("max_hold", "20"),
        ("backoff_base", "1"),
        ("backoff_jitter", "1000"),
        ("backoff_max", "300"),
    ]
    # Kafka's own tests say that murmur2("foobar") is -790332482.
    assert PaymentSucceededIdem.kafka_partition(m, 12) == (-790332482 & 0x7FFFFFFF) % 12
    assert fault(PaymentSucceededIdem.kafka_partition, m, 0)[0] == "PARTITION_COUNT"


def test_keywords() -> None:
    m = names_pb2.Keywords()
    for number, field in enumerate(m.DESCRIPTOR.fields):
        setattr(m, field.name, str(number))
    numbers = ":".join(str(n) for n in range(len(m.DESCRIPTOR.fields)))
    expected = "conformance.names.keywords:v1:" + numbers
    assert KeywordsIdem.idempotency_key(m) == expected
    none = getattr(names_pb2, "None")(id="x")
    assert NoneIdem.idempotency_key(none) == "conformance.names.none:v1:x"


def test_unset_and_zero() -> None:
    paths = presence_pb2.PathsAllow()
    assert PathsAllowIdem.idempotency_key(paths) == "conformance.paths.allow:v1:~:~:~:~:~"
    paths.customer.SetInParent()
    assert PathsAllowIdem.idempotency_key(paths) == "conformance.paths.allow:v1::~:0:~:~"
    paths.customer.since.SetInParent()
    paths.customer.mail = ""
    key = "conformance.paths.allow:v1::~:0:1970-01-01T00:00:00.000Z:"
    assert PathsAllowIdem.idempotency_key(paths) == key
    tree = presence_pb2.Tree()
    assert TreeIdem.idempotency_key(tree) == "conformance.paths.tree:v1::~:~"
    tree.parent.SetInParent()
    assert TreeIdem.idempotency_key(tree) == "conformance.paths.tree:v1:::~"
    assert fault(PathsIdem.idempotency_key, presence_pb2.Paths())[:2] == (
        "KEY_COMPONENT_MISSING",
        "customer.id",
    )


def test_defaults_of_proto2() -> None:
    m = proto2_pb2.Proto2DefaultsAllow()
    assert Proto2DefaultsAllowIdem.idempotency_key(m).endswith(":v1:~:~:~:~")
    m.flag, m.text, m.data, m.number = False, "", b"", 0
    assert Proto2DefaultsAllowIdem.idempotency_key(m).endswith(":v1:0:::false")
    assert fault(Proto2DefaultsIdem.idempotency_key, proto2_pb2.Proto2Defaults())[1] == "number"


@pytest.mark.parametrize(
    "raw", [b"\xff", b"a\xed\xa0\x80", b"\xc0\x80", b"\xe6\x9d", b"\xf4\x90\x80\x80"]
)
def test_text_that_nobody_checked(raw: bytes) -> None:
    """protobuf gives such a field as bytes; CONF-040."""
    field = bytes((0x0A, len(raw))) + raw
    m = proto2_pb2.Proto2Text.FromString(field)
    assert fault(Proto2TextIdem.idempotency_key, m)[:2] == ("STRING_UTF8", "text")
    hidden = proto2_pb2.Proto2Text.FromString(bytes((0x12, len(raw))) + raw)
    hidden.text = "x"
    assert fault(Proto2TextIdem.idempotency_key, hidden)[:2] == ("STRING_UTF8", "hidden")
    for tag, name, code in (
        (0x1A, "amount", "DECIMAL_SYNTAX"),
        (0x22, "id", "UUID_SYNTAX"),
        (0x2A, "at", "TIMESTAMP_SYNTAX"),
    ):
        m = proto2_pb2.Proto2Text.FromString(bytes((tag, len(raw))) + raw)
        assert fault(Proto2TextIdem.fingerprint, m)[:2] == (code, name)
    edition = edition2023_pb2.Edition2023Text.FromString(field)
    assert fault(Edition2023TextIdem.idempotency_key, edition)[:2] == ("STRING_UTF8", "unchecked")


def test_well_formed_text_that_nobody_checked() -> None:
    m = proto2_pb2.Proto2Text(text="ü")
    assert Proto2TextIdem.idempotency_key(m) == "conformance.proto2.text:v1:%C3%BC:~"


def test_order_of_faults() -> None:
    """KEY-011 and CONF-042."""
    m = templates_pb2.Faults(key="x", key2="x", content="x")
    m.at.nanos = -1
    assert fault(FaultsIdem.headers, m, Context())[0] == "DECIMAL_SYNTAX"
    m.key = "1"
    assert fault(FaultsIdem.headers, m, Context())[0] == "UUID_SYNTAX"
    m.key2 = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
    assert fault(FaultsIdem.headers, m, Context())[:2] == ("KEY_COMPONENT_MISSING", "previous")
    m.previous = "p" * 1024
    assert fault(FaultsIdem.headers, m, Context())[0] == "KEY_TOO_LONG"
    m.previous = "p"
    assert fault(FaultsIdem.headers, m, Context())[0] == "KEY_EMPTY"
    m.biz = "b"
    assert fault(FaultsIdem.headers, m, Context())[:2] == ("TIMESTAMP_SYNTAX", "content")
    m.content = "2025-01-01T00:00:00Z"
    assert fault(FaultsIdem.headers, m, Context())[:2] == ("TIMESTAMP_RANGE", "at")


def test_bounds() -> None:
    literal = len("conformance.scalars.string:v1:")
    m = scalars_pb2.OneString(s="s" * (1024 - literal))
    assert len(OneStringIdem.idempotency_key(m)) == 1024
    m.s += "s"
    assert fault(OneStringIdem.idempotency_key, m)[0] == "KEY_TOO_LONG"
    m.s = "%" * 10_000_000
    assert fault(OneStringIdem.idempotency_key, m)[0] == "KEY_TOO_LONG"
    data = scalars_pb2.OneBytes(b=bytes(10_000_000))
    assert fault(OneBytesIdem.idempotency_key, data)[0] == "KEY_TOO_LONG"
    # A fault beyond the bound is the answer all the same.
    many = templates_pb2.Many(**{f"p{n:02}": "x" * 5000 for n in range(1, 40)})
    assert fault(ManyIdem.idempotency_key, many)[:2] == ("KEY_COMPONENT_MISSING", "p40")
    many.p40 = "x"
    assert fault(ManyIdem.idempotency_key, many)[0] == "KEY_TOO_LONG"


def test_values_without_a_text() -> None:
    at = values_pb2.TimestampDefault
    assert fault_of_value(TimestampDefaultIdem, at(at={"nanos": 10**9})) == "TIMESTAMP_RANGE"
    before = at(at={"seconds": -62_135_596_801, "nanos": 999_999_999})
    assert fault_of_value(TimestampDefaultIdem, before) == "TIMESTAMP_RANGE"
    wait = values_pb2.DurationDefault(wait={"seconds": 1, "nanos": -1})
    assert fault_of_value(DurationDefaultIdem, wait) == "DURATION_RANGE"
    day = values_pb2.DateValue(day={"year": 2025, "month": 2})
    assert fault_of_value(DateValueIdem, day) == "DATE_RANGE"
    price = values_pb2.MoneyValue(price={"currency_code": "usd"})
    assert fault_of_value(MoneyValueIdem, price) == "MONEY_CURRENCY"
    price = values_pb2.MoneyValue(price={"currency_code": "USD", "units": 1, "nanos": -1})
    assert fault_of_value(MoneyValueIdem, price) == "MONEY_RANGE"
    amount = values_pb2.DecimalMessage(amount={"value": "1,0"})
    assert fault_of_value(DecimalMessageIdem, amount) == "DECIMAL_SYNTAX"


def fault_of_value(idem: Any, message: Message) -> str:
    return fault(idem.idempotency_key, message)[0]


def test_digests_hide_their_value() -> None:
    m = digest_pb2.DigestString(mail="a@b")
    digest = hashlib.sha256(b"a@b").hexdigest()[:32]
    assert DigestStringIdem.idempotency_key(m) == "conformance.digest.string:v1:" + digest
    many = digest_pb2.Digests(flag=False, int32_value=-1, amount="1.50")
    parts = DigestsIdem.idempotency_key(many).split(":")[2:]
    assert parts[0] == hashlib.sha256(b"false").hexdigest()[:32]
    assert parts[1] == hashlib.sha256(b"-1").hexdigest()[:32]
    assert parts[4] == hashlib.sha256(b"1.5").hexdigest()[:32]
    assert parts[2] == "~"
    assert fault(RedactedPathIdem.idempotency_key, digest_pb2.RedactedPath())[1] == "person.mail"


def test_headers_leave_out_what_is_missing() -> None:
    m = templates_pb2.OccurredAt(id="1")
    assert "occurred_at" not in dict(OccurredAtIdem.headers(m, Context()))
    m.at.SetInParent()
    assert dict(OccurredAtIdem.headers(m, Context()))["occurred_at"] == "1970-01-01T00:00:00.000Z"


def test_unknown_fields_and_the_last_one_on_the_wire() -> None:
    m = scalars_pb2.OneInteger.FromString(b"\x08\x05\x08\x06\xf8\x07\x01")
    assert OneIntegerIdem.idempotency_key(m) == "conformance.scalars.integer:v1:6"
