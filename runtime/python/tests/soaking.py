"""A member of the soak's group: `python soaking.py DSN BROKERS TOPIC GROUP DIRECTORY`.

Handlers do as their message's payload says. What they do is a row in mode tx, and else a line in a
file of DIRECTORY; while there is a file "down" in it the route "rests" fails."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from idemspec_runtime import Message, NonRetryable, Retryable
from idemspec_runtime.breaker import BreakerConfig
from idemspec_runtime.kafka import Consumer, GuardConfig, Order
from idemspec_runtime.postgres import PostgresStore

Text = Message[bytes]
Connection = psycopg.Connection[Any]

SLOW = {"quick": 0.0005, "plain": 0.0, "tx": 0.1}
"""How many of a route's messages are suddenly slow; of the others one in 200."""


class Member:
    def __init__(self, directory: str) -> None:
        self._down = Path(directory) / "down"
        name = f"{directory}/effects-{os.getpid()}"
        self._file = os.open(name, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def idempotent(self, message: Text) -> None:
        self._obey(message)
        line = f"{message.key} {time.monotonic_ns()}\n"
        os.write(self._file, line.encode())

    def tx(self, message: Text, connection: Connection) -> None:
        self._obey(message)
        # So that the order of a lane's rows is that of their commits.
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (message.biz_key,))
        connection.execute("INSERT INTO effect (key) VALUES (%s)", (message.key,))

    def batch(self, messages: list[Text]) -> list[Exception | None]:
        return [self._tried(self.idempotent, message) for message in messages]

    def tx_batch(self, messages: list[Text], connection: Connection) -> list[Exception | None]:
        return [self._tried(self.tx, message, connection) for message in messages]

    def _tried(self, handler: Any, *args: Any) -> Exception | None:
        try:
            handler(*args)
        except Exception as error:
            return error
        return None

    def _obey(self, message: Text) -> None:
        plan = json.loads(message.payload)
        if plan.get("never"):
            raise NonRetryable("NEVER")
        rests = message.event_type == "rests" and self._down.exists()
        if message.retry_count < plan.get("fails", 0) or rests:
            raise Retryable("AGAIN")
        if random.random() < SLOW.get(message.event_type, 0.005):
            time.sleep(random.choice((0.1, 0.3, 6)))


def main(dsn: str, brokers: str, topic: str, group: str, directory: str) -> None:
    member = Member(directory)
    config = {
        "bootstrap.servers": brokers,
        "session.timeout.ms": 6_000,
        "heartbeat.interval.ms": 500,
        "log_level": 2,
    }
    with PostgresStore.open(dsn, connections=16) as store:
        consumer = Consumer(
            group,
            [topic],
            store,
            config,
            workers=6,
            window=2000,
            batch=200,
            commit_interval=timedelta(seconds=0.2),
            rebalance_timeout=timedelta(seconds=0.2),
            guard=GuardConfig(lease=timedelta(seconds=2), handler_timeout=timedelta(seconds=8)),
        )
        breaker = BreakerConfig(pause=0.2, max_pause=1)
        hold = timedelta(seconds=3)
        for name in ("quick", "plain"):
            consumer.idempotent(name)(member.idempotent)
        consumer.idempotent("rests", breaker=breaker)(member.idempotent)
        consumer.tx("tx")(member.tx)
        consumer.idempotent("block", order=Order.BLOCK, hold=hold)(member.idempotent)
        consumer.tx("block-tx", order=Order.BLOCK, hold=hold)(member.tx)
        consumer.idempotent("park", order=Order.PARK)(member.idempotent)
        consumer.tx("park-tx", order=Order.PARK)(member.tx)
        consumer.idempotent("batch", batch=20)(member.batch)
        consumer.tx("batch-tx", batch=20)(member.tx_batch)
        consumer.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
