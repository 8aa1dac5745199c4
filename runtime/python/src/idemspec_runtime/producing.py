"""What a producer sends, and the one partitioner that all languages share."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from confluent_kafka import Producer
from idemspec import Context, kafka_partition, timestamp_of_epoch

from .rows import Outgoing

PARTITIONER = "murmur2_random"
"""librdkafka's name of what the producers of Java, Go and this package do with a record's key:
murmur2, and any partition where there is none."""


class Payload(Protocol):
    """A message of protobuf."""

    def SerializeToString(self) -> bytes: ...


@dataclass(frozen=True)
class ProducerRecord:
    """A message for `Producer.produce(topic, **record.arguments())`."""

    key: bytes | None
    """The biz key: what has to stay in order is on one partition."""
    value: bytes
    headers: list[tuple[str, str]]

    @property
    def partition_key(self) -> bytes | None:
        """What decides on the partition; it is the key."""
        return self.key

    def partition(self, partitions: int) -> int | None:
        """Where murmur2 puts it; None where that is any."""
        return None if self.key is None else kafka_partition(self.key.decode(), partitions)

    def arguments(self) -> dict[str, Any]:
        return {"key": self.key, "value": self.value, "headers": self.headers}

    def outgoing(self, topic: str) -> Outgoing:
        """The row of the outbox, for `store.store([record.outgoing(topic)], connection)`."""
        return Outgoing(topic, list(self.headers), self.key, self.value)


def record(helper: Any, message: Payload, context: Context | None = None) -> ProducerRecord:
    """A message with the headers of its generated helper, `record(PaymentSucceededIdem, payment)`.
    A context without them gets an event_id, a UUIDv7, and the present as produced_at."""
    given = context or Context()
    complete = Context(
        event_id=given.event_id or new_event_id(),
        topic=given.topic,
        produced_at=given.produced_at
        or timestamp_of_epoch(time.time_ns() // 1_000_000, "ms", 3, "produced_at"),
        traceparent=given.traceparent,
        tracestate=given.tracestate,
    )
    headers: list[tuple[str, str]] = helper.headers(message, complete)
    biz_key = next((value for name, value in headers if name == "biz_key"), None)
    key = None if biz_key is None else biz_key.encode()
    return ProducerRecord(key, message.SerializeToString(), headers)


def new_event_id() -> str:
    """A UUIDv7: 48 bits of time, and random ones."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def producer_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration for `confluent_kafka.Producer` with what idem needs: the partitioner, acks of
    all replicas, and no reordering. What is given stays as it is, and a RuntimeWarning says what is
    wrong with it."""
    asked: dict[str, Any] = {
        "partitioner": PARTITIONER,
        "acks": "all",
        "enable.idempotence": True,
    } | dict(config)
    warn_of_partitioner(asked)
    return asked


def producer(config: Mapping[str, Any]) -> Producer:
    """A Producer of `producer_config`."""
    return Producer(producer_config(config))


def warn_of_partitioner(config: Mapping[str, Any]) -> None:
    """Warns where a producer's partitioner is not that of the other languages: librdkafka's default
    is another, and messages of one biz key would be on two partitions."""
    partitioner = config.get("partitioner", "consistent_random")
    if partitioner != PARTITIONER:
        warnings.warn(
            f"the producer's partitioner is {partitioner}: messages of one biz key go to another "
            f"partition than those of producers in other languages; set 'partitioner': "
            f"'{PARTITIONER}', or make the producer with idemspec_runtime.kafka.producer",
            RuntimeWarning,
            stacklevel=3,
        )
