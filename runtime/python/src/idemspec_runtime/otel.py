"""Metrics and spans through the API of OpenTelemetry: `pip install 'idemspec[otel]'`. Which
exporter they go to is said by the SDK, which is the program's.

    consumer = Consumer(..., observer=Telemetry(success_ratio=0.01))

Metrics and spans have the names that they have in the other languages. Deliveries that did not
succeed have a span, and of the successes a share: which ones is a hash of the idempotency key, so
that services with one ratio record the same messages.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any

from idemspec import Action, hash_text
from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from . import observe

if TYPE_CHECKING:
    from .delivery import Delivery
    from .message import Message

SCOPE = "idemspec_runtime"

_propagator = TraceContextTextMapPropagator()


class Telemetry:
    """An observer. `parent` makes the producer's span the parent of the consumer's, which then
    follows the producer's decision on sampling; by default it is a link, and a failure is recorded
    whatever the producer decided."""

    def __init__(
        self,
        success_ratio: float = 0.0,
        *,
        parent: bool = False,
        tracer_provider: Any = None,
        meter_provider: Any = None,
    ) -> None:
        if not 0 <= success_ratio <= 1:
            raise ValueError(f"success_ratio is {success_ratio}: give 0 to 1")
        self._threshold = success_ratio * 2**64
        self._parent = parent
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        self._meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._instruments: dict[str, Any] = {}
        self._lock = threading.Lock()

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None:
        record = self._instruments.get(metric)
        if record is None:
            with self._lock:
                record = self._instruments.setdefault(metric, self._make(metric))
        if not math.isnan(value):
            record(value, labels)

    def _make(self, metric: str) -> Any:
        unit = "s" if metric.endswith("_seconds") else "1"
        if metric == observe.HANDLER_SECONDS:
            return self._meter.create_histogram(metric, unit).record
        if metric.endswith("_total"):
            return self._meter.create_counter(metric, unit).add
        return self._meter.create_gauge(metric, unit).set

    def delivery(self, scope: str, d: Delivery) -> None:
        """A span of a delivery that is over."""
        if not self._worth_a_span(d):
            return
        end = time.time_ns()
        start = end - int((time.monotonic() - d.received) * 1e9)
        producer = _propagator.extract(d.envelope, context=Context())
        from_ = trace.get_current_span(producer).get_span_context()
        linked = from_.is_valid and not self._parent
        span = self._tracer.start_span(
            f"process {d.fetched.topic}",
            context=producer if self._parent else Context(),
            kind=trace.SpanKind.CONSUMER,
            attributes=_attributes(scope, d),
            links=[trace.Link(from_)] if linked else [],
            start_time=start,
        )
        if d.error is not None:
            span.record_exception(d.error, timestamp=end)
        if d.decision.action is not Action.ACK:
            reason = d.result.reason or d.result.outcome.value
            span.set_status(trace.Status(trace.StatusCode.ERROR, reason))
        span.end(end)

    def _worth_a_span(self, d: Delivery) -> bool:
        if d.skipped:
            return False
        recovered = d.grant is not None and d.grant.recovered
        if d.decision.action is not Action.ACK or recovered or d.superseded or d.error is not None:
            return True
        return self._threshold > 0 and int(hash_text(d.key), 16) < self._threshold


def context_of(message: Message[Any]) -> Any:
    """The trace that a message came with, for spans that its handler starts:
    `tracer.start_span(..., context=context_of(message))`."""
    return _propagator.extract(message.envelope)


def current_trace() -> dict[str, str]:
    """traceparent and tracestate of the present span, for `Context(**current_trace())`."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier


def _attributes(scope: str, d: Delivery) -> dict[str, str | int | float | bool]:
    """Those of the semantic conventions for messaging where they have one, and idem's own."""
    given: dict[str, str | int | float | bool] = {
        "messaging.operation.type": "process",
        "messaging.destination.name": d.fetched.topic,
        "messaging.destination.partition.id": d.fetched.partition,
        "messaging.kafka.offset": d.fetched.offset,
        "messaging.consumer.group.name": scope,
        "idem.idempotency_key": d.key,
        "idem.event_type": d.event_type,
        "idem.outcome": d.result.outcome.value,
        "idem.action": d.decision.action.value,
        "idem.attempts": 0 if d.grant is None else d.grant.attempts,
        "idem.handler_seconds": d.seconds,
    }
    if event_id := d.envelope.get("event_id"):
        given["messaging.message.id"] = event_id
    if d.retry_count or d.hold_count:
        given |= {"idem.retry_count": d.retry_count, "idem.hold_count": d.hold_count}
    if d.redrive_count:
        given["idem.redrive_count"] = d.redrive_count
    if d.superseded:
        given["idem.superseded_by"] = d.superseded_by
    if d.shadow:
        given["idem.shadow"] = True
    return given
