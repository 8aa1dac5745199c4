"""Topics that no other test has, and a producer for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from idemspec import Context, Policy, producer_headers
from idemspec_runtime.kafka import Consumer, new_event_id, producer
from services import unique


@contextmanager
def topic(brokers: str, *scopes: str, partitions: int = 2) -> Iterator[str]:
    """A topic, and its retry topic for each scope."""
    admin = AdminClient({"bootstrap.servers": brokers})
    name = unique()
    names = [name, *(f"{name}.retry.{scope}" for scope in scopes)]
    for made in admin.create_topics([NewTopic(n, partitions, 1) for n in names]).values():
        made.result()
    try:
        yield name
    finally:
        for deleted in admin.delete_topics(names).values():
            deleted.result()


def send(brokers: str, to: str, *keys: str, event_type: str = "test.event", **more: Any) -> None:
    """A message for each idempotency key, with the key's text as its payload."""
    client = producer({"bootstrap.servers": brokers})
    biz_key = more.pop("biz_key", None)
    for key in keys:
        headers = producer_headers(
            Context(event_id=new_event_id(), topic=to),
            idempotency_key=key,
            event_type=event_type,
            biz_key=biz_key,
            policy=Policy(backoff_schedule=(10,), backoff_jitter=0, **more),
        )
        client.produce(to, key=biz_key, value=key.encode(), headers=list(headers))
    assert client.flush(30) == 0


@contextmanager
def running(*consumers: Consumer) -> Iterator[None]:
    """Each in a thread of its own, until the block is over."""
    failures: list[BaseException] = []

    def run(consumer: Consumer) -> None:
        try:
            consumer.run()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(consumer,)) for consumer in consumers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for consumer in consumers:
            consumer.stop()
        for thread in threads:
            thread.join(60)
    assert not failures, failures


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it does not come true"
        time.sleep(0.02)
