"""A gateway as there are many: it takes events as JSON, makes floats of decimals, and publishes.

    scripts/demo --generate
    PYTHONPATH=examples/shop/python/gen:runtime/python/src \\
        .tools/bin/python examples/shop/python/gateway.py

    POST /shop.v1.PaymentSucceeded   {"order_id": "o-1", "amount": 100.10, ...}
    202                              {"idempotency_key": "...", "fingerprint": "..."}

It takes KAFKA_BROKERS, GATEWAY_ADDRESS and SHOP_PREFIX, and prints its address. What was 100.10 is
100.1 behind it: one amount, and so one fingerprint. What a float does not hold comes out as another
amount: the same key with another content, which consumers refuse. 422 says that what came out is no
amount.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from confluent_kafka import KafkaException, Producer
from google.protobuf import json_format
from idemspec import IdemError
from idemspec_runtime.kafka import producer, record
from shop.v1.order_idem import OrderCreatedIdem
from shop.v1.order_pb2 import OrderCreated
from shop.v1.payment_idem import PaymentSucceededIdem
from shop.v1.payment_pb2 import PaymentSucceeded

PREFIX = os.environ.get("SHOP_PREFIX", "")
ORDERS, PAYMENTS = f"{PREFIX}shop.orders", f"{PREFIX}shop.payments"
ROUTES: dict[str, tuple[Any, Any, str, str]] = {
    "/shop.v1.OrderCreated": (OrderCreated, OrderCreatedIdem, "total", ORDERS),
    "/shop.v1.PaymentSucceeded": (PaymentSucceeded, PaymentSucceededIdem, "amount", PAYMENTS),
}
CONFIRM_SECONDS = 10


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Gateway(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], client: Producer) -> None:
        super().__init__(address, Handler)
        self.client = client


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gateway

    def do_POST(self) -> None:
        try:
            status, answer = 202, self.forward()
        except Refused as refused:
            status, answer = refused.status, {"error": str(refused)}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self) -> dict[str, str]:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path not in ROUTES:
            raise Refused(404, f"{self.path}: there are {', '.join(ROUTES)}")
        message_type, helper, decimal, topic = ROUTES[self.path]
        try:
            fields = json.loads(body)
            fields[decimal] = str(float(fields[decimal]))  # the fault that this gateway is for
            message = json_format.ParseDict(fields, message_type())
            sent = record(helper, message)
        except (ValueError, TypeError, KeyError, json_format.ParseError, IdemError) as error:
            raise Refused(422, f"{type(error).__name__}: {error}") from error
        self.publish(topic, sent.arguments())
        headers = dict(sent.headers)
        return {name: headers[name] for name in ("idempotency_key", "fingerprint")}

    def publish(self, topic: str, arguments: dict[str, Any]) -> None:
        answers: list[object] = []
        try:
            self.server.client.produce(
                topic, **arguments, on_delivery=lambda error, _: answers.append(error)
            )
        except (BufferError, KafkaException) as error:
            raise Refused(503, f"not published: {error}") from error
        self.server.client.flush(CONFIRM_SECONDS)
        if answers != [None]:
            raise Refused(503, f"not confirmed: {answers[0] if answers else 'no answer in time'}")

    def log_message(self, form: str, *args: Any) -> None:
        print(f"gateway: {form % args}", file=sys.stderr)


def main() -> None:
    brokers = os.environ.get("KAFKA_BROKERS", "")
    if not brokers:
        sys.exit("gateway: KAFKA_BROKERS is not set: give host:port of Kafka")
    host, _, port = os.environ.get("GATEWAY_ADDRESS", "127.0.0.1:0").rpartition(":")
    if not port.isdecimal():
        sys.exit("gateway: GATEWAY_ADDRESS has no port: give one such as 127.0.0.1:0")
    server = Gateway((host, int(port)), producer({"bootstrap.servers": brokers}))
    for number in (signal.SIGINT, signal.SIGTERM):  # of which a terminal and a script send one each
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"gateway: listening on http://{host}:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
