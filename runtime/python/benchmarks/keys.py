"""What a key costs, beside what people write by hand and what AWS Powertools does.

    PYTHONPATH=src python benchmarks/keys.py

Prints nanoseconds for each, the best of several runs, and ratios to `generated`.
"""

from __future__ import annotations

import hashlib
import json
import re
import timeit
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from idemspec import bounded, decimal, missing, text, timestamp


def message_class() -> Any:
    """A message class without a compiler: strings, an int64, and a Timestamp."""
    file = descriptor_pb2.FileDescriptorProto(
        name="bench.proto",
        package="bench",
        syntax="proto3",
        dependency=[timestamp_pb2.DESCRIPTOR.name],
    )
    message = file.message_type.add(name="Payment")
    kinds = descriptor_pb2.FieldDescriptorProto
    fields = ("payment_id", "order_id", "region", "amount", "sequence", "at")
    for number, name in enumerate(fields, 1):
        field = message.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL)
        field.type = kinds.TYPE_STRING
        if name == "sequence":
            field.type = kinds.TYPE_INT64
        if name == "at":
            field.type = kinds.TYPE_MESSAGE
            field.type_name = ".google.protobuf.Timestamp"
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Payment"))


m = message_class()(
    payment_id="f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    order_id="o-128312",
    region="eu-west-1",
    amount="100.50",
    sequence=123456789,
)
m.at.seconds = 1735704000
m.at.nanos = 123456789

is_safe = re.compile("[A-Za-z0-9._-]{1,1024}").fullmatch


# One string


def generated_1() -> str:
    return bounded(
        f"payments.payment_success:v1:{text(m.payment_id or missing('payment_id'), 'payment_id')}"
    )


def by_hand_1() -> str:
    payment_id = m.payment_id
    if not is_safe(payment_id):
        raise ValueError
    return f"payments.payment_success:v1:{payment_id}"


def by_quote_1() -> str:
    return f"payments.payment_success:v1:{quote(m.payment_id, safe='')}"


def unchecked_1() -> str:
    return f"payments.payment_success:v1:{m.payment_id}"


def powertools_1() -> str:
    return powertools({"payment_id": m.payment_id})


# Three strings and an integer


def generated_4() -> str:
    return bounded(
        f"payments.payment_success:v1:{text(m.payment_id or missing('payment_id'), 'payment_id')}"
        f":{text(m.order_id or missing('order_id'), 'order_id')}"
        f":{text(m.region or missing('region'), 'region')}"
        f":{m.sequence or missing('sequence')}"
    )


def by_hand_4() -> str:
    payment_id, order_id, region = m.payment_id, m.order_id, m.region
    if not (is_safe(payment_id) and is_safe(order_id) and is_safe(region)):
        raise ValueError
    key = f"payments.payment_success:v1:{payment_id}:{order_id}:{region}:{m.sequence}"
    if len(key) > 1024:
        raise ValueError
    return key


def by_quote_4() -> str:
    return (
        f"payments.payment_success:v1:{quote(m.payment_id, safe='')}:{quote(m.order_id, safe='')}"
        f":{quote(m.region, safe='')}:{m.sequence}"
    )


def unchecked_4() -> str:
    return f"payments.payment_success:v1:{m.payment_id}:{m.order_id}:{m.region}:{m.sequence}"


def powertools_4() -> str:
    return powertools(
        {
            "payment_id": m.payment_id,
            "order_id": m.order_id,
            "region": m.region,
            "sequence": m.sequence,
        }
    )


# A string, a decimal and a timestamp


def generated_typed() -> str:
    at = m.at if m.HasField("at") else missing("at")
    return bounded(
        f"refunds.requested:v1:{text(m.order_id or missing('order_id'), 'order_id')}"
        f":{decimal(m.amount or missing('amount'), 2, 'amount')}"
        f":{timestamp(at.seconds, at.nanos, 3, 'at')}"
    )


def by_hand_typed() -> str:
    order_id = m.order_id
    if not is_safe(order_id) or not m.HasField("at"):
        raise ValueError
    amount = format(Decimal(m.amount).normalize(), "f")
    at = datetime.fromtimestamp(m.at.seconds, timezone.utc)
    moment = f"{at:%Y-%m-%dT%H:%M:%S}.{m.at.nanos // 1_000_000:03d}Z"
    return f"refunds.requested:v1:{order_id}:{amount}:{moment}"


def powertools_typed() -> str:
    return powertools(
        {
            "order_id": m.order_id,
            "amount": m.amount,
            "at": m.at.ToJsonString(),
        }
    )


def powertools(payload: dict[str, object]) -> str:
    """As aws_lambda_powertools.utilities.idempotency hashes what a JMESPath selects."""
    return hashlib.md5(json.dumps(payload, sort_keys=True).encode()).hexdigest()


def best(calls: list[Callable[[], str]]) -> list[float]:
    """Nanoseconds of each call: the best of many short runs that take turns, so that a busy machine
    slows all of them."""
    number = 2_000
    rounds = [[timeit.timeit(call, number=number) for call in calls] for _ in range(100)]
    return [min(column) / number * 1e9 for column in zip(*rounds, strict=True)]


def main() -> None:
    assert generated_1() == by_hand_1() == by_quote_1() == unchecked_1()
    assert generated_4() == by_hand_4() == by_quote_4() == unchecked_4()
    assert generated_typed() == by_hand_typed()
    rows: list[list[Callable[[], str]]] = [
        [generated_1, by_hand_1, by_quote_1, unchecked_1, powertools_1],
        [generated_4, by_hand_4, by_quote_4, unchecked_4, powertools_4],
        [generated_typed, by_hand_typed, powertools_typed],
    ]
    for calls in rows:
        figures = best(calls)
        for call, figure in zip(calls, figures, strict=True):
            print(f"{call.__name__:18} {figure:6.0f} ns  {figure / figures[0]:5.2f}")


if __name__ == "__main__":
    main()
