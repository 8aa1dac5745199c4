"""The messages of the benchmarks, with the values that they have in Go and Java too."""

from __future__ import annotations

import idemspec
from bench.v1.payment_pb2 import PaymentSettled
from shop.v1.payment_pb2 import PaymentSucceeded

VALUES = {
    "order_id": "order-8317",
    "payment_id": "pay_01JGFJJZ008K2V9C3QX7",
    "amount": "149.95",
    "currency": "EUR",
}

SHOP_KEY = "payments.payment_success:v1:pay_01JGFJJZ008K2V9C3QX7"
SETTLED_KEY = (
    "payments.payment_settled:v1:pay_01JGFJJZ008K2V9C3QX7:149.95:EUR:2025-01-01T04:00:00.123Z"
)

CONTEXT = idemspec.Context(
    event_id="0193f8a4-6d2e-7c3b-9a51-4f0e2b7c8d90",
    topic="payments",
    produced_at="2025-01-01T04:00:00.250Z",
    traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
)


def succeeded() -> PaymentSucceeded:
    """The shop's message: a key of one component."""
    m = PaymentSucceeded(**VALUES)
    m.occurred_at.seconds, m.occurred_at.nanos = 1735704000, 123456789
    return m


def settled() -> PaymentSettled:
    """The same with a key of four components."""
    m = PaymentSettled(**VALUES)
    m.occurred_at.seconds, m.occurred_at.nanos = 1735704000, 123456789
    return m
