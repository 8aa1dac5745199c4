"""Reads the shop's events and prints what the notifications service, in Python, makes of each: the
same lines as orders in Java and payments in Go."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "gen"))

import idemspec  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from shop.v1 import (  # noqa: E402
    notification_idem,
    notification_pb2,
    order_idem,
    order_pb2,
    payment_idem,
    payment_pb2,
)

PARTITIONS = 12
TYPES = {
    "shop.v1.OrderCreated": (order_pb2.OrderCreated, order_idem.OrderCreatedIdem),
    "shop.v1.PaymentSucceeded": (payment_pb2.PaymentSucceeded, payment_idem.PaymentSucceededIdem),
    "shop.v1.RefundRequested": (payment_pb2.RefundRequested, payment_idem.RefundRequestedIdem),
    "shop.v1.NotificationSent": (
        notification_pb2.NotificationSent,
        notification_idem.NotificationSentIdem,
    ),
}


def main() -> None:
    for number, line in enumerate(sys.stdin, 1):
        event = json.loads(line)
        message_type, helper = TYPES[event["type"]]
        message = json_format.ParseDict(event["message"], message_type())
        print(f"event {number} {event['type']}")
        try:
            show(message, helper, number)
        except idemspec.IdemError as error:
            print(f"  error {error.code}")


def show(message, helper, number: int) -> None:
    context = idemspec.Context(event_id=f"01941f29-7c00-7000-8000-{number:012d}", topic="shop")
    for name, value in helper.headers(message, context):
        print(f"  header {name}: {value}")
    if hasattr(helper, "kafka_partition"):
        print(f"  partition {helper.kafka_partition(message, PARTITIONS)} of {PARTITIONS}")
    policy = getattr(helper, "POLICY", idemspec.Policy())
    key = helper.idempotency_key(message)
    # The delays of the first five retries.
    delays = [idemspec.backoff(key, retry, policy).delay_ms for retry in range(5)]
    print(f"  delays {' '.join(map(str, delays))} ms")


if __name__ == "__main__":
    main()
