"""The shop's notifications: a mail for each payment and each refund.

    scripts/demo --generate
    PYTHONPATH=examples/shop/python/gen:runtime/python/src \\
        .tools/bin/python examples/shop/python/notifications.py

It takes KAFKA_BROKERS, NOTIFICATIONS_DATABASE_URL, MAIL_URL, SHOP_INSTANCE, and SHOP_PREFIX, which
is put before the names of topics and groups; SHOP_SESSION_SECONDS and SHOP_HANDLER_SECONDS are for
those who kill it on purpose and would not wait long for the next one.

The mail is an effect outside; the row in `notification` and the event NotificationSent are effects
in the database. So the handler first asks for the mails, with the keys of their messages passed on,
and then writes, in the transaction that also makes the messages done:

    mail               at least once, and once for a provider that tells calls apart by their key
    row, outbox, done  one transaction: once

A crash in between leaves no row, and the message comes again: the provider hears the same key. The
event is a row of the outbox before it is on the broker, so that it is there if, and only if, the
mail was taken.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from idemspec import Context
from idemspec_runtime import Message
from idemspec_runtime.guard import GuardConfig
from idemspec_runtime.kafka import Consumer, Relay, producer, record
from idemspec_runtime.message import Fetched
from idemspec_runtime.postgres import PostgresStore
from mail import Mail
from psycopg import Connection
from shop.v1.notification_idem import NotificationSentIdem
from shop.v1.notification_pb2 import CHANNEL_EMAIL, NotificationSent
from shop.v1.payment_idem import PaymentSucceededIdem, RefundRequestedIdem
from shop.v1.payment_pb2 import PaymentSucceeded, RefundRequested

log = logging.getLogger("notifications")

PREFIX = os.environ.get("SHOP_PREFIX", "")
PAYMENTS, REFUNDS = f"{PREFIX}shop.payments", f"{PREFIX}shop.refunds"
NOTIFICATIONS = f"{PREFIX}shop.notifications"
GROUP = "notifications"
CHANNEL = "EMAIL"
BATCH = 16
WORKERS = 2
"""How many batches of a template run at a time."""
SENDERS = 2 * WORKERS * BATCH
"""Each mail of each batch is asked for at once, so that a batch, which ends with its slowest mail,
ends within one timeout of it."""

Messages = list[Message[Any]]
Results = Sequence[BaseException | bytes | None]


class Notifications:
    def __init__(self, store: PostgresStore, mail: Mail, senders: ThreadPoolExecutor) -> None:
        self.store = store
        self.mail = mail
        self.senders = senders

    def handler(self, template: str) -> Callable[[Messages, Connection[Any]], Results]:
        """Tells customers by a template: one result for each message."""

        def notify(messages: Messages, connection: Connection[Any]) -> Results:
            # The transaction has touched nothing yet: it holds a connection, and no lock.
            answers = list(self.senders.map(lambda m: self.send(template, m), messages))
            told = [
                (message, answer)
                for message, answer in zip(messages, answers, strict=True)
                if isinstance(answer, datetime)
            ]
            connection.cursor().executemany(
                "INSERT INTO notification VALUES (%s, %s, %s, %s, %s)",
                [(m.payload.order_id, CHANNEL, template, m.key, at) for m, at in told],
            )
            self.store.store([event(template, m, at) for m, at in told], connection)
            return [a if isinstance(a, Exception) else None for a in answers]

        return notify

    def send(self, template: str, message: Message[Any]) -> datetime | Exception:
        mail = {"order_id": message.payload.order_id, "channel": CHANNEL, "template": template}
        try:
            at = self.mail.send(message.key, mail)
        except Exception as error:
            return error
        log.info("key %s: mail %s for order %s", message.key, template, message.payload.order_id)
        return at


def event(template: str, message: Message[Any], at: datetime) -> Any:
    """NotificationSent, as a row of the outbox, in the trace of what it follows from."""
    sent = NotificationSent(
        order_id=message.payload.order_id, channel=CHANNEL_EMAIL, template=template
    )
    sent.sent_at.FromDatetime(at)
    envelope = message.envelope
    context = Context(
        topic=NOTIFICATIONS,
        traceparent=envelope.get("traceparent"),
        tracestate=envelope.get("tracestate"),
    )
    return record(NotificationSentIdem, sent, context).outgoing(NOTIFICATIONS)


def service(brokers: str, notifications: Notifications) -> Consumer:
    """The consumer, with a handler for each event that a customer is told of."""
    settings: dict[str, Any] = {"bootstrap.servers": brokers}
    if session := os.environ.get("SHOP_SESSION_SECONDS"):
        settings["session.timeout.ms"] = int(session) * 1000
    guard = GuardConfig()
    if limit := os.environ.get("SHOP_HANDLER_SECONDS"):
        guard = GuardConfig(handler_timeout=timedelta(seconds=int(limit)))
    topics = [PAYMENTS, REFUNDS]
    consumer = Consumer(
        PREFIX + GROUP, topics, notifications.store, settings, scope=GROUP, guard=guard
    )
    for helper, payload, template in (
        (PaymentSucceededIdem, PaymentSucceeded, "payment_succeeded"),
        (RefundRequestedIdem, RefundRequested, "refund_requested"),
    ):
        consumer.tx(
            helper,
            decode=payload.FromString,
            batch=BATCH,
            workers=WORKERS,
            missing_key=derived(helper, payload),
        )(notifications.handler(template))
    return consumer


def derived(helper: Any, payload: Any) -> Callable[[Fetched], str]:
    """The key of a message whose header a gateway has dropped: the schema says it once more."""
    return lambda fetched: helper.idempotency_key(payload.FromString(fetched.value or b""))


def make_tables(store: PostgresStore) -> None:
    """Of two instances that start at once one waits for the other."""
    with store.transaction() as tx:
        tx.connection.execute("SELECT pg_advisory_xact_lock(hashtext('shop.notifications'))")
        tx.connection.execute((Path(__file__).parent / "tables.sql").read_bytes())


def setting(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        sys.exit(f"notifications: {name} is not set; the head of {__file__} names all of them")
    return value


def main() -> None:
    instance = os.environ.get("SHOP_INSTANCE", "notifications")
    logging.basicConfig(
        level=logging.INFO, format=f"%(asctime)s {instance} %(levelname)s %(message)s"
    )
    try:
        mail = Mail(setting("MAIL_URL"))
    except ValueError as error:
        sys.exit(f"notifications: {error}")
    brokers = setting("KAFKA_BROKERS")
    with (
        PostgresStore.open(setting("NOTIFICATIONS_DATABASE_URL")) as store,
        ThreadPoolExecutor(SENDERS, "mail") as senders,
    ):
        store.check()
        make_tables(store)
        consumer = service(brokers, Notifications(store, mail, senders))
        threading.Thread(target=say_ready, args=(consumer,), daemon=True).start()
        relay = Relay(store, producer({"bootstrap.servers": brokers}))
        publishing = threading.Thread(target=relay.run)
        publishing.start()
        try:
            consumer.run()  # until SIGTERM, and then until what has begun has ended
        finally:
            relay.stop()
            publishing.join()


def say_ready(consumer: Consumer) -> None:
    consumer.joined.wait()
    print("notifications: ready", flush=True)


if __name__ == "__main__":
    main()
