"""Shadow mode: it computes and measures, and does nothing."""

from __future__ import annotations

import logging

import pytest
from idemspec import Outcome
from idemspec_runtime import Message
from idemspec_runtime.delivery import Delivery
from idemspec_runtime.kafka import Consumer
from idemspec_runtime.message import Fetched
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.shadow import Shadow
from kafka_topics import running, send, topic, until
from services import unique


class Helper:
    EVENT_TYPE = "test.event"

    @staticmethod
    def idempotency_key(payload: bytes) -> str:
        return payload.decode()


def delivery(key: str, fingerprint: str = "", payload: bytes = b"") -> Delivery:
    envelope = {"idempotency_key": key, "fingerprint": fingerprint}
    return Delivery(
        Fetched("t", 0, 0, None, payload or key.encode(), []), 0.0, envelope=envelope, key=key
    )


def test_it_finds_what_a_record_would_have_found() -> None:
    shadow = Shadow(Helper)
    seen = [
        shadow.judge(d, bytes)
        for d in (
            delivery("a", "00000001-x"),
            delivery("a", "00000001-x"),
            delivery("a", "00000001-y"),
            delivery("a", "00000002-y"),
            delivery("b", payload=b"c"),
            delivery("d", payload=b"\xff"),
        )
    ]
    assert [result.outcome for result in seen[:5]] == [
        Outcome.OK,
        Outcome.DUPLICATE,
        Outcome.KEY_REUSED,
        Outcome.DUPLICATE,
        Outcome.OK,
    ]
    assert seen[4].reason == "the schema's key is c"
    assert seen[5].reason.startswith("the schema gives no key: ")


def test_a_payload_that_cannot_be_decoded_is_malformed() -> None:
    result = Shadow("test.event").judge(delivery("a", payload=b"\xff"), lambda raw: raw.decode())
    assert result.outcome is Outcome.MALFORMED and result.reason.startswith("BAD_PAYLOAD")


class Readings:
    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        if metric == "idem_messages_total":
            self.outcomes.append(labels["outcome"])


def test_nothing_is_called_and_nothing_is_written(
    brokers: str, store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "idemspec")
    group, readings = unique("group"), Readings()
    called: list[str] = []
    with topic(brokers) as origin:  # a shadow needs no retry topic
        consumer = Consumer(group, [origin], store, brokers, shadow=True, observer=readings)

        @consumer.tx(Helper)
        def handle(message: Message[bytes], connection: object) -> None:
            called.append(message.key)

        send(brokers, origin, "a", "b", "a")
        send(brokers, origin, "c", event_type="unknown")
        with running(consumer):
            until(lambda: len(readings.outcomes) == 4)
    assert sorted(readings.outcomes) == [
        "SHADOW_DUPLICATE",
        "SHADOW_NON_RETRYABLE",
        "SHADOW_OK",
        "SHADOW_OK",
    ]
    assert called == [] and store.records(f"{group}.shadow", ["a", "b"]) == [None, None]
    assert store.count_dead_letters() == 0
    assert "shadow, ACK" in caplog.text
