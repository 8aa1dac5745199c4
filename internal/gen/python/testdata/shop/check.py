"""What the generated code of the case says, by means of its own."""

import hashlib

import idemspec
import pytest
import xxhash
from shop.v1 import payment_pb2
from shop.v1.payment_idem import OrderStateIdem, PayErrorIdem, PaymentSucceededIdem


def payment() -> payment_pb2.PaymentSucceeded:
    m = payment_pb2.PaymentSucceeded(payment_id="p/17", order_id="o-17", amount="100.00")
    m.customer.id = "c ü"
    m.customer.email = "a@b.example"
    m.occurred_at.seconds = 1735704000
    return m


def test_texts():
    m = payment()
    assert PaymentSucceededIdem.EVENT_TYPE == "payments.payment_success"
    key = "payments.payment_success:v2:p%2F17:c%20%C3%BC"
    assert PaymentSucceededIdem.idempotency_key(m) == key
    previous = "payments.payment_success:v1:p%2F17"
    assert PaymentSucceededIdem.idempotency_key_previous(m) == previous
    assert PaymentSucceededIdem.biz_key(m) == "o-17"
    assert PaymentSucceededIdem.kafka_partition(m, 12) == idemspec.kafka_partition("o-17", 12)
    digest = hashlib.sha256(b"a@b.example").hexdigest()[:32]
    template = b"{amount}:{customer.email}:{customer.id}"
    content = f"100:{digest}:c%20%C3%BC".encode()
    tag, hashed = xxhash.xxh64_hexdigest(template)[8:], xxhash.xxh64_hexdigest(content)
    assert PaymentSucceededIdem.fingerprint(m) == f"{tag}-{hashed}"
    context = idemspec.Context(topic="payments", produced_at="2025-01-01T05:00:00+01:00")
    assert PaymentSucceededIdem.headers(m, context) == [
        ("idempotency_key", key),
        ("event_type", "payments.payment_success"),
        ("biz_key", "o-17"),
        ("topic", "payments"),
        ("produced_at", "2025-01-01T04:00:00.000Z"),
        ("occurred_at", "2025-01-01T04:00:00.000Z"),
        ("expected_current_state", "PAYING"),
        ("idempotency_key_previous", previous),
        ("fingerprint", f"{tag}-{hashed}"),
        ("idem_spec", "1"),
        ("max_retry", "3"),
        ("max_hold", "20"),
        ("backoff_jitter", "1000"),
        ("backoff_schedule", "10000,30000"),
    ]
    m.ClearField("occurred_at")
    assert "occurred_at" not in dict(PaymentSucceededIdem.headers(m, context))


def test_faults():
    m = payment()
    m.ClearField("customer")
    with pytest.raises(idemspec.IdemError, match=r"customer\.id .*KEY_COMPONENT_MISSING"):
        PaymentSucceededIdem.idempotency_key(m)
    m.payment_id = "p" * 990
    m.customer.id = "c" * 7
    with pytest.raises(idemspec.IdemError, match="KEY_TOO_LONG"):
        PaymentSucceededIdem.idempotency_key(m)
    m.occurred_at.nanos = -1
    m.payment_id = "p"
    m.customer.email = "e"
    with pytest.raises(idemspec.IdemError, match=r"occurred_at .*TIMESTAMP_RANGE"):
        PaymentSucceededIdem.headers(m, idemspec.Context())


def test_policy_and_transition():
    assert idemspec.Policy(3, 20, 1, 300, 1000, (10000, 30000)) == PaymentSucceededIdem.POLICY
    transition = PaymentSucceededIdem.TRANSITION
    assert transition == idemspec.Transition("shop.v1.OrderState", "PAYING", "PAID", True)
    for state in ("", "CREATED", "PAYING", "PAID", "cancelled.v2"):
        verdict = OrderStateIdem.MACHINE.verdict(state, "PAYING", "PAID")
        assert PaymentSucceededIdem.verdict(state) is verdict
    for state in ("UNSPECIFIED", "paid", "ORDER_STATE_PAID"):
        with pytest.raises(idemspec.IdemError, match="STATE_UNKNOWN"):
            PaymentSucceededIdem.verdict(state)


def test_enums():
    assert OrderStateIdem.text(payment_pb2.ORDER_STATE_CANCELLED) == "cancelled.v2"
    assert OrderStateIdem.text(5) is None
    assert OrderStateIdem.parse("cancelled.v2") == payment_pb2.ORDER_STATE_CANCELLED
    assert OrderStateIdem.parse("CANCELLED") is None
    assert PayErrorIdem.classify(-2) is idemspec.Outcome.NON_RETRYABLE
    assert PayErrorIdem.classify(payment_pb2.PAY_ERROR_BUSY) is idemspec.Outcome.THROTTLED
    assert PayErrorIdem.classify(0) is idemspec.Outcome.RETRYABLE
    assert PayErrorIdem.classify(99) is idemspec.Outcome.RETRYABLE
