"""The service and the gateway as processes, on the real Kafka and PostgreSQL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from google.protobuf.timestamp_pb2 import Timestamp
from idemspec_runtime.kafka import producer, record
from idemspec_runtime.texts import postgres_migrations
from shop.v1.payment_idem import PaymentSucceededIdem
from shop.v1.payment_pb2 import PaymentSucceeded

HERE = Path(__file__).parent


def need(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f'no {variable}: scripts/services start && eval "$(scripts/services env)"')
    return value


@pytest.fixture
def database() -> Iterator[str]:
    server = need("DATABASE_URL")
    name = f"shop_python_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        url = urlsplit(server)._replace(path=f"/{name}").geturl()
        with psycopg.connect(url, autocommit=True) as own:
            for version, title, text in postgres_migrations():
                own.execute(text.encode())
                own.execute("INSERT INTO idem_schema VALUES (%s, %s)", (version, title))
        yield url
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def topics() -> Iterator[str]:
    """The names begin with it, so that tests share Kafka with others."""
    admin = AdminClient({"bootstrap.servers": need("KAFKA_BROKERS")})
    prefix = f"test-{uuid.uuid4().hex[:12]}."
    names = [f"{prefix}shop.{topic}" for topic in ("payments", "refunds", "notifications")]
    names += [f"{name}.retry.notifications" for name in names[:2]]
    for made in admin.create_topics([NewTopic(name, 2, 1) for name in names]).values():
        made.result()
    yield prefix
    for deleted in admin.delete_topics(names).values():
        deleted.result()
    for deleted in admin.delete_consumer_groups([f"{prefix}notifications"]).values():
        deleted.exception()  # not each test has it


class Provider(ThreadingHTTPServer):
    """A mail provider that refuses the first call for each of some orders."""

    def __init__(self, refuses: set[str]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.refuses = refuses
        self.taken: list[tuple[str, str]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        mail = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        order = mail["order_id"]
        refused = order in self.server.refuses
        self.server.refuses.discard(order)
        if not refused:
            self.server.taken.append((self.headers["Idempotency-Key"], order))
        self.send_response(503 if refused else 202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def process(program: str, ready: str, **settings: str) -> Iterator[str]:
    """Runs until the end of the block, when Ctrl-C, of which scripts/shop makes a SIGTERM besides,
    has to end it with 0. Gives what it says."""
    running = subprocess.Popen(
        [sys.executable, HERE / program],
        env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    try:
        line = running.stdout.readline()
        assert line.startswith(ready)
        yield line.removeprefix(ready).strip()
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


def payments(topic: str, orders: list[str], without: str = "") -> None:
    """Publishes a payment for each order; without a header, as behind a gateway that drops it."""
    client = producer({"bootstrap.servers": need("KAFKA_BROKERS")})
    for order in orders:
        now = Timestamp()
        now.GetCurrentTime()
        payment = PaymentSucceeded(
            order_id=order, payment_id=f"p-{order}", amount="100.10", currency="EUR"
        )
        payment.occurred_at.CopyFrom(now)
        message = record(PaymentSucceededIdem, payment).arguments()
        message["headers"] = [header for header in message["headers"] if header[0] != without]
        client.produce(topic, **message)
    assert client.flush(30) == 0


def until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it does not come true"
        time.sleep(0.05)


def test_a_customer_is_told_once_however_often_the_payment_comes(
    database: str, topics: str
) -> None:
    """Each payment comes three times, the last time without its key, and some in no other way; and
    the provider refuses one of them first."""
    orders = [f"o-{n}" for n in range(50)]
    provider = Provider(refuses={"o-7"})
    settings = {
        "NOTIFICATIONS_DATABASE_URL": database,
        "MAIL_URL": f"http://127.0.0.1:{provider.server_port}/mail",
        "SHOP_PREFIX": topics,
    }
    payments(f"{topics}shop.payments", orders[10:] + orders[10:])
    payments(f"{topics}shop.payments", orders, without="idempotency_key")
    with psycopg.connect(database, autocommit=True) as connection:

        def count(table: str) -> int:
            row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            return row[0] if row else 0

        with process("notifications.py", "notifications: ready", **settings):
            until(lambda: count("notification") >= len(orders) and count("msg_retry") == 0)
            until(lambda: count("outbox") == 0)
        told = connection.execute("SELECT order_id, idempotency_key FROM notification").fetchall()
        assert sorted(told) == sorted((o, f"payments.payment_success:v1:p-{o}") for o in orders)
        assert count("dead_letter") == 0
    assert sorted(set(provider.taken)) == sorted((key, order) for order, key in told)
    provider.shutdown()
    provider.server_close()


@pytest.mark.parametrize(
    ("amount", "status", "arrives"),
    [
        pytest.param("100.10", 202, "100.10", id="a zero is lost, the amount is not"),
        pytest.param("90071992547409.93", 202, "90071992547409.94", id="the last digit is lost"),
        pytest.param("1e400", 422, "", id="no amount comes out"),
    ],
)
def test_the_gateway_republishes_with_floats(
    topics: str, amount: str, status: int, arrives: str
) -> None:
    event = {"orderId": "o-1", "paymentId": "p-1", "amount": amount, "currency": "EUR"}
    event["occurredAt"] = "2026-11-30T07:00:00Z"
    with process("gateway.py", "gateway: listening on ", SHOP_PREFIX=topics) as url:
        request = urllib.request.Request(
            f"{url}/shop.v1.PaymentSucceeded", json.dumps(event).encode(), method="POST"
        )
        try:
            with urllib.request.urlopen(request) as response:
                answered, answer = response.status, json.load(response)
        except urllib.error.HTTPError as error:
            answered, answer = error.code, json.load(error)
            error.close()
    assert answered == status
    if arrives:
        wanted = PaymentSucceeded(amount=arrives, currency="EUR")
        assert answer == {
            "idempotency_key": "payments.payment_success:v1:p-1",
            "fingerprint": PaymentSucceededIdem.fingerprint(wanted),
        }
