"""The example of RUNTIME.md, as it stands there."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import psycopg
from kafka_topics import send, topic, until


def test_the_example_has_one_effect(brokers: str, tables: str) -> None:
    text = (Path(__file__).parents[1] / "RUNTIME.md").read_text()
    example = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    with (
        topic(brokers, "mail") as orders,
        psycopg.connect(tables, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE mail (order_id text)")
        for shown, real in (
            ("postgres://postgres@localhost/shop", tables),
            ('["orders"]', f'["{orders}"]'),
            ("localhost:9092", brokers),
        ):
            assert shown in example
            example = example.replace(shown, real)
        send(brokers, orders, "a", "a", event_type="shop.order_created", biz_key="order-1")
        names: dict[str, Any] = {}
        thread = threading.Thread(target=exec, args=(example, names))
        thread.start()
        until(lambda: len(connection.execute("SELECT FROM mail").fetchall()) == 1)
        names["consumer"].stop()
        thread.join(60)
        names["store"].close()
        assert connection.execute("SELECT order_id FROM mail").fetchall() == [("order-1",)]
