"""What tables and messages become labels of."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from idemspec import Outcome
from idemspec_runtime import observe
from idemspec_runtime.delivery import Delivery, Status
from idemspec_runtime.failures import Result
from idemspec_runtime.message import Fetched
from idemspec_runtime.postgres.jobs import DeadLetterStats


class Gauges:
    def __init__(self) -> None:
        self.values: dict[tuple[str, str], float] = {}

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        self.values[metric, labels["event_type"]] = value


class Tables:
    def __init__(self, *stats: tuple[str, int]) -> None:
        self.stats = stats

    def dead_letter_stats(self) -> list[DeadLetterStats]:
        ago = datetime.now(timezone.utc) - timedelta(seconds=60)
        return [DeadLetterStats("mail", name, count, ago) for name, count in self.stats]


def test_gauges_of_dead_letters_go_back_to_zero() -> None:
    """An alert would last for ever."""
    gauges, shown = observe.DeadLetterGauges(), Gauges()
    tables: Any = Tables(("paid", 2), ("refunded", 1))
    gauges.measure(shown, tables)
    assert shown.values[observe.DEAD_LETTERS, "paid"] == 2
    assert shown.values[observe.DEAD_LETTER_OLDEST, "paid"] >= 60
    tables.stats = (("refunded", 1),)
    gauges.measure(shown, tables)
    assert shown.values[observe.DEAD_LETTERS, "paid"] == 0
    assert shown.values[observe.DEAD_LETTER_OLDEST, "paid"] == 0
    assert shown.values[observe.DEAD_LETTERS, "refunded"] == 1


def test_event_types_of_messages_are_bounded() -> None:
    shown = Gauges()
    names = [f"type-{n}" for n in range(300)] + ["no name\n"]
    tables: Any = Tables(*((name, 1) for name in names))
    observe.DeadLetterGauges().measure(shown, tables)
    assert len(shown.values) == 2 * 201
    assert shown.values[observe.DEAD_LETTERS, "other"] == 101
    shown.values.clear()
    for name in names:
        d = Delivery(Fetched("t", 0, 0, None, b"", []), 0.0, envelope={"event_type": name})
        d.status, d.result, d.ran = Status.ENDED, Result(Outcome.OK), True
        observe.delivery(shown, "bounded", d)
    assert len({name for _, name in shown.values}) == 201
