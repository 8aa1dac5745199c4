from __future__ import annotations

import re
import warnings

import idemspec
import pytest
from idemspec import Context
from idemspec_runtime.kafka import PARTITIONER, new_event_id, producer_config, record


class Paid:
    def SerializeToString(self) -> bytes:
        return b"paid"


class PaidIdem:
    EVENT_TYPE = "shop.paid"

    @staticmethod
    def headers(message: Paid, context: Context) -> list[tuple[str, str]]:
        return idemspec.producer_headers(
            context, idempotency_key="shop.paid:v1:p-1", event_type="shop.paid", biz_key="order-1"
        )


def test_a_record_has_key_value_and_headers() -> None:
    made = record(PaidIdem, Paid(), Context(event_id="e-1", topic="payments"))
    headers = dict(made.headers)
    assert (made.key, made.value, made.partition_key) == (b"order-1", b"paid", b"order-1")
    assert headers["idempotency_key"] == "shop.paid:v1:p-1" and headers["event_id"] == "e-1"
    assert headers["topic"] == "payments" and headers["produced_at"].endswith("Z")
    assert made.partition(12) == idemspec.kafka_partition("order-1", 12)
    assert made.arguments() == {"key": b"order-1", "value": b"paid", "headers": made.headers}


def test_an_event_id_is_a_uuid_of_version_7() -> None:
    ids = [new_event_id() for _ in range(100)]
    shape = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(shape, text) for text in ids) and len(set(ids)) == 100


def test_a_producer_has_the_partitioner_of_all_languages() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = producer_config({"bootstrap.servers": "localhost:9092"})
    assert (config["partitioner"], config["acks"]) == (PARTITIONER, "all")


def test_another_partitioner_is_warned_of() -> None:
    with pytest.warns(RuntimeWarning, match="partitioner is consistent_random"):
        config = producer_config({"partitioner": "consistent_random"})
    assert config["partitioner"] == "consistent_random"
