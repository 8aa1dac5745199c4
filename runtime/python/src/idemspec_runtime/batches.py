"""`Guard.run` and `Guard.run_tx` for handlers of several deliveries."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .delivery import Delivery, Status
from .failures import Failure
from .guard import Guard, _kept
from .message import Message
from .records import Fenced

Results = Sequence[BaseException | bytes | None]
"""One for each message, in their order: an exception for what failed, else what `Message`'s handler
returns."""


class NoResult(Failure):
    """The batch handler gave no result for a message. (CONS-008)"""


class _SomeFailed(Exception):
    """Rolls a batch back of which some run again."""


def run_batch(
    guard: Guard,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]]], Results],
    decode: Any,
) -> None:
    """Those that are not READY, or whose lease is lost by now, are left out of what it gets."""
    ready, messages = _ready(guard, deliveries, decode)
    if not ready:
        return
    start = time.monotonic()
    try:
        results = _results(handler(messages), len(ready))
    except Exception as error:
        results = [error] * len(ready)
    seconds = time.monotonic() - start
    for d, result in zip(ready, results, strict=True):
        _conclude(guard, d, result, seconds)


def run_tx_batch(
    guard: Guard,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]], Any], Results],
    decode: Any,
) -> None:
    """All within one transaction. Where one fails everything is rolled back, that one ends by its
    result, and the others run again without it; where the handler raises each runs alone. So it may
    be called several times, and only one of its transactions is committed."""
    while True:
        ready, messages = _ready(guard, deliveries, decode)
        if not ready:
            return
        start, asked = time.monotonic(), False
        results: list[BaseException | bytes | None] = []
        raised = True
        try:
            with guard.store.transaction(guard.timeout(ready[0].rules)) as tx:
                answer = handler(messages, tx.connection)
                raised = False
                results = _results(answer, len(ready))
                for d, result in zip(ready, results, strict=True):
                    if not isinstance(result, BaseException):
                        d.value = _kept(result)
                        guard.check_result(d)
                if any(isinstance(result, BaseException) for result in results):
                    raise _SomeFailed
                for d in ready:
                    if d.lease is not None:
                        tx.complete(d.completion())
                asked = True
        except _SomeFailed:
            seconds = time.monotonic() - start
            for d, result in zip(ready, results, strict=True):
                if isinstance(result, BaseException):
                    _conclude(guard, d, result, seconds)
            continue
        except Exception as error:
            alone = raised or isinstance(error, Fenced) or not asked
            if alone and len(ready) > 1:
                for d in ready:
                    run_tx_batch(guard, [d], handler, decode)
                return
            for d in ready:
                guard.conclude_tx(d, error, asked, time.monotonic() - start)
            return
        for d in ready:
            guard.conclude(d, None, time.monotonic() - start)
            d.completed = not d.lost
        return


def _ready(
    guard: Guard, deliveries: list[Delivery], decode: Any
) -> tuple[list[Delivery], list[Message[Any]]]:
    ready, messages = [], []
    for d in deliveries:
        if d.status is Status.READY and guard.refresh(d):
            message = guard.message(d, decode)
            if message is not None:
                ready.append(d)
                messages.append(message)
    return ready, messages


def _results(given: object, n: int) -> list[BaseException | bytes | None]:
    results = list(given) if isinstance(given, Sequence) else []
    missing = NoResult("NO_RESULT: the batch handler gave no result for it")
    return [*results[:n], *[missing] * (n - len(results))]


def _conclude(
    guard: Guard, d: Delivery, result: BaseException | bytes | None, seconds: float
) -> None:
    if isinstance(result, BaseException):
        guard.conclude(d, result, seconds)
        return
    try:
        d.value = _kept(result)
    except Failure as error:
        guard.conclude(d, error, seconds)
    else:
        guard.conclude(d, None, seconds)
