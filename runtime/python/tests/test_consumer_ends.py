"""A consumer one of whose threads has ended by an error."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import TopicPartition
from idemspec import RecordState
from idemspec_runtime import Message
from idemspec_runtime.engine import claiming
from idemspec_runtime.engine.beats import Beats
from idemspec_runtime.engine.claiming import Claiming
from idemspec_runtime.engine.judging import Judging
from idemspec_runtime.engine.settling import Settling
from idemspec_runtime.engine.workers import Workers
from idemspec_runtime.kafka import Consumer, GuardConfig
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.scheduler import Scheduler
from kafka_topics import running, send, topic, until
from services import unique

EVENT = "test.event"


class Broken(Exception):
    pass


@pytest.fixture
def group() -> str:
    return unique("group")


@pytest.fixture
def origin(brokers: str, group: str) -> Iterator[str]:
    with topic(brokers, group, partitions=1) as name:
        yield name


def error_of(run: Callable[[], None]) -> BaseException | None:
    """What a consumer that ends by itself raises."""
    raised: list[BaseException] = []

    def target() -> None:
        try:
            run()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it goes on, and does nothing"
    return raised[0] if raised else None


def committed(brokers: str, group: str, origin: str) -> int:
    client = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": group})
    (at,) = client.committed([TopicPartition(origin, 0)], timeout=30)
    client.close()
    return max(at.offset, 0)


@pytest.mark.parametrize(
    ("stage", "step", "after", "quick"),
    [
        (Claiming, "_claimed", 2, 0.0),
        (Judging, "ran", 2, 0.0),
        (Settling, "_settled", 2, 0.0),
        (Workers, "_carry", 2, 10.0),
        (Settling, "_settled", 2, 10.0),
        (Beats, "_tick", 0, 0.0),
        (Scheduler, "run", 0, 0.0),
    ],
)
def test_it_ends_with_that_error_and_acknowledges_nothing_that_is_not_durable(
    brokers: str,
    store: PostgresStore,
    group: str,
    origin: str,
    monkeypatch: pytest.MonkeyPatch,
    stage: Any,
    step: str,
    after: int,
    quick: float,
) -> None:
    calls, whole = itertools.count(), getattr(stage, step)

    def fail(*args: Any) -> Any:
        if next(calls) >= after:
            raise Broken(step)
        return whole(*args)

    def consumer() -> Consumer:
        lease = GuardConfig(lease=timedelta(seconds=1))
        made = Consumer(group, [origin], store, brokers, batch=10, guard=lease)

        @made.idempotent(EVENT)
        def handle(message: Message[bytes]) -> None:
            pass

        return made

    keys = [f"key-{n}" for n in range(100)]
    send(brokers, origin, *keys, biz_key="one-partition")
    with monkeypatch.context() as patch:
        patch.setattr(stage, step, fail)
        patch.setattr(claiming, "QUICK_SECONDS", quick)
        assert isinstance(error_of(consumer().run), Broken)
    acknowledged = keys[: committed(brokers, group, origin)]
    records = store.records(group, keys)
    states = {r.key: r.record.state for r in records if r is not None}
    assert {states.get(key) for key in acknowledged} <= {RecordState.SUCCESS}

    def done() -> bool:
        found = store.records(group, keys)
        return all(r is not None and r.record.state is RecordState.SUCCESS for r in found)

    with running(consumer()):
        until(done)
