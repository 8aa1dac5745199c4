"""A consumer that is killed in the middle of a handler: `python dying.py DSN BROKERS TOPIC GROUP
DIES`.

It dies at its first try of the key DIES, or at each of them where that is "always:KEY"."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import psycopg
from idemspec_runtime import Message
from idemspec_runtime.kafka import Consumer
from idemspec_runtime.postgres import PostgresStore


def main(dsn: str, brokers: str, topic: str, group: str, dies: str) -> None:
    always, key = dies.startswith("always:"), dies.removeprefix("always:")
    config = {
        "bootstrap.servers": brokers,
        "session.timeout.ms": 6_000,
        "heartbeat.interval.ms": 500,
    }
    with PostgresStore.open(dsn) as store:
        consumer = Consumer(group, [topic], store, config)

        @consumer.tx("test.event")
        def insert(message: Message[bytes], connection: psycopg.Connection[Any]) -> None:
            connection.execute("INSERT INTO effect VALUES (%s)", (message.key,))
            if message.key == key and (always or message.attempts == 1):
                os.kill(os.getpid(), signal.SIGKILL)

        consumer.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
