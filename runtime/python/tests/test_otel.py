"""Metrics and spans through OpenTelemetry's API, read back by its SDK."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from idemspec import Action, Decision, Outcome
from idemspec_runtime import observe
from idemspec_runtime.delivery import Delivery, Status
from idemspec_runtime.failures import Result
from idemspec_runtime.message import Fetched, Message

METRICS = Path(__file__).parents[2] / "go" / "observe" / "METRICS.md"
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_the_metrics_are_those_of_the_go_runtime() -> None:
    """But for what needs Redis in front of PostgreSQL."""
    names = set(re.findall(r"^\| `(idem_\w+)`", METRICS.read_text("utf-8"), re.MULTILINE))
    here = {value for value in vars(observe).values() if str(value).startswith("idem_")}
    assert names - here == {"idem_store_degraded"} and here <= names


def delivery(outcome: Outcome = Outcome.OK, key: str = "key", **more: Any) -> Delivery:
    envelope = {"event_type": "paid", "traceparent": TRACEPARENT, "event_id": "e-1"}
    d = Delivery(Fetched("orders", 1, 7, None, b"", []), 0.0, envelope=envelope, key=key, **more)
    d.status, d.result, d.ran, d.seconds = Status.ENDED, Result(outcome), True, 0.5
    d.decision = Decision(Action.ACK if outcome is Outcome.OK else Action.DEAD_LETTER)
    return d


@pytest.fixture
def exported() -> Any:
    """A Telemetry, what makes one, and what was recorded."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    class Exported:
        def __init__(self) -> None:
            self.spans, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
            self.tracers = TracerProvider()
            self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
            self.meters = MeterProvider([self.reader])

        def telemetry(self, ratio: float = 0.0, **more: Any) -> Any:
            from idemspec_runtime.otel import Telemetry

            more |= {"tracer_provider": self.tracers, "meter_provider": self.meters}
            return Telemetry(ratio, **more)

    return Exported()


def test_a_failure_has_a_span_that_is_linked_to_its_producer(exported: Any) -> None:
    telemetry = exported.telemetry()
    observe.delivery(telemetry, "mail", delivery())
    failed = delivery(Outcome.NON_RETRYABLE, error=ValueError("no"))
    observe.delivery(telemetry, "mail", failed)
    (span,) = exported.spans.get_finished_spans()
    assert span.name == "process orders" and span.parent is None
    assert f"{span.links[0].context.trace_id:032x}" == TRACEPARENT.split("-")[1]
    assert span.attributes["idem.idempotency_key"] == "key"
    assert span.attributes["idem.outcome"] == "NON_RETRYABLE"
    assert span.attributes["messaging.message.id"] == "e-1"
    assert not span.status.is_ok and span.events[0].name == "exception"


def test_a_share_of_the_successes_has_a_span_the_same_in_every_service(exported: Any) -> None:
    keys = [f"key-{n}" for n in range(400)]
    for _ in range(2):
        telemetry = exported.telemetry(0.25, parent=True)
        for key in keys:
            observe.delivery(telemetry, "mail", delivery(key=key))
    spans = exported.spans.get_finished_spans()
    seen = [span.attributes["idem.idempotency_key"] for span in spans]
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :] and 120 < len(seen) < 280
    assert f"{spans[0].parent.span_id:016x}" == TRACEPARENT.split("-")[2]


def test_metrics_are_recorded_under_their_names(exported: Any) -> None:
    telemetry = exported.telemetry()
    observe.delivery(telemetry, "mail", delivery())
    observe.delivery(telemetry, "mail", delivery())
    telemetry.measure(observe.OUTBOX_PENDING, {"store": "postgres"}, 3)
    telemetry.measure(observe.CONSUMER_LAG, {"topic": "t"}, float("nan"))
    data = exported.reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    points = {m.name: m.data.data_points[0] for m in data if m.data.data_points}
    assert points[observe.MESSAGES].value == 2
    assert dict(points[observe.MESSAGES].attributes)["outcome"] == "OK"
    assert points[observe.HANDLER_SECONDS].sum == 1.0
    assert points[observe.OUTBOX_PENDING].value == 3
    assert observe.CONSUMER_LAG not in points


def test_a_handler_goes_on_with_the_trace_of_its_message(exported: Any) -> None:
    from idemspec_runtime.otel import context_of, current_trace
    from opentelemetry import trace

    d = delivery()
    message = Message(b"", d.key, "paid", "", d.envelope, d.fetched, 1, 0)
    tracer = exported.tracers.get_tracer("test")
    with tracer.start_as_current_span("pay", context=context_of(message)) as span:
        assert f"{span.get_span_context().trace_id:032x}" == TRACEPARENT.split("-")[1]
        assert current_trace()["traceparent"].startswith(TRACEPARENT[:36])
    assert trace.get_current_span().get_span_context().is_valid is False
