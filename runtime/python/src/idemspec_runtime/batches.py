"""`Guard.run` and `Guard.run_tx` for handlers of several deliveries, `def` and `async def`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .delivery import Delivery, Status
from .failures import Failure, is_echo
from .guard.handling import Handling, kept
from .message import Message
from .postgres.asynchronous import AsyncPostgresStore
from .records import Completion, Fenced

Results = Sequence[BaseException | bytes | None]
"""One for each message, in their order: an exception for what failed, else what `Message`'s handler
returns."""


class NoResult(Failure):
    """The batch handler gave no result for a message. (CONS-008)"""


def run_batch(
    handling: Handling,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]]], Results],
    decode: Any,
) -> None:
    """Those that are not READY, or whose lease is lost by now, are left out of what it gets."""
    batch = _Batch(handling, deliveries, decode)
    if batch.prepare():
        try:
            batch.results = results_of(handler(batch.messages), len(batch.ready))
        except Exception as error:
            batch.results = [error] * len(batch.ready)
        batch.conclude()


async def run_batch_async(
    handling: Handling,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]]], Awaitable[Results]],
    decode: Any,
) -> None:
    batch = _Batch(handling, deliveries, decode)
    if await asyncio.to_thread(batch.prepare):
        try:
            given = await asyncio.wait_for(handler(batch.messages), batch.seconds)
            batch.results = results_of(given, len(batch.ready))
        except (Exception, asyncio.CancelledError) as error:
            batch.results = [error] * len(batch.ready)
        batch.conclude()


def run_tx_batch(
    handling: Handling,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]], Any], Results],
    decode: Any,
) -> None:
    """All within one transaction. Where one fails everything is rolled back, that one ends by its
    result, and the others run again without it, those, too, whose statements the database refused
    since that one's had failed; where the handler raises, or no result says which one failed, each
    runs alone. So it may be called several times, and only one of its transactions is
    committed."""
    batch = _Batch(handling, deliveries, decode)
    while batch.prepare():
        try:
            with handling.store.transaction(handling.timeout(batch.ready[0].rules)) as tx:
                for completion in batch.take(handler(batch.messages, tx.connection)):
                    tx.complete(completion)
                batch.asked = True
        except Exception as error:
            for d in batch.failed(error):
                run_tx_batch(handling, [d], handler, decode)
        else:
            batch.succeeded()


async def run_tx_batch_async(
    handling: Handling,
    store: AsyncPostgresStore,
    deliveries: list[Delivery],
    handler: Callable[[list[Message[Any]], Any], Awaitable[Results]],
    decode: Any,
) -> None:
    batch = _Batch(handling, deliveries, decode)
    while await asyncio.to_thread(batch.prepare):
        try:
            async with store.transaction(handling.timeout(batch.ready[0].rules)) as tx:
                given = handler(batch.messages, tx.connection)
                for completion in batch.take(await asyncio.wait_for(given, batch.seconds)):
                    tx.complete(completion)
                batch.asked = True
        except (Exception, asyncio.CancelledError) as error:
            for d in await asyncio.to_thread(batch.failed, error):
                await run_tx_batch_async(handling, store, [d], handler, decode)
        else:
            batch.succeeded()


class _SomeFailed(Exception):
    """Rolls a batch back of which some run again."""


class _Batch:
    """One call of the handler after the other, until each delivery has ended."""

    def __init__(self, handling: Handling, deliveries: list[Delivery], decode: Any) -> None:
        self._handling = handling
        self._deliveries = deliveries
        self._decode = decode
        self.ready: list[Delivery] = []
        self.messages: list[Message[Any]] = []
        self.results: list[BaseException | bytes | None] = []
        self.asked = False
        """COMMIT was sent, or is about to be."""
        self._answered = False
        self._start = 0.0

    def prepare(self) -> bool:
        """Gathers what is to be handled; False where nothing is left."""
        self.ready, self.messages = [], []
        for d in self._deliveries:
            if d.status is Status.READY and self._handling.leases.refresh(d):
                message = self._handling.message(d, self._decode)
                if message is not None:
                    self.ready.append(d)
                    self.messages.append(message)
        self.asked = self._answered = False
        self._start = time.monotonic()
        return bool(self.ready)

    @property
    def seconds(self) -> float:
        """How long a coroutine may take."""
        return self._handling.timeout(self.ready[0].rules).total_seconds()

    def conclude(self) -> None:
        """Ends each delivery by its result."""
        took = time.monotonic() - self._start
        for d, result in zip(self.ready, self.results, strict=True):
            error = result if isinstance(result, BaseException) else None
            if error is None:
                try:
                    d.value = kept(result)
                except Failure as bad:
                    error = bad
            self._handling.conclude(d, error, took)

    def take(self, answer: object) -> list[Completion]:
        """What to complete with the commit; raises where it is to be rolled back."""
        self._answered = True
        self.results = results_of(answer, len(self.ready))
        for d, result in zip(self.ready, self.results, strict=True):
            if not isinstance(result, BaseException):
                d.value = kept(result)
                self._handling.check_result(d)
        if any(isinstance(result, BaseException) for result in self.results):
            raise _SomeFailed
        return [d.completion() for d in self.ready if d.lease is not None]

    def failed(self, error: BaseException) -> list[Delivery]:
        """What is left of a transaction that was rolled back. Returns those that are to run alone;
        those that stay READY run again."""
        took = time.monotonic() - self._start
        if isinstance(error, _SomeFailed):
            several = len(self.ready) > 1
            wrong = [r for r in self.results if isinstance(r, BaseException)]
            if several and all(map(is_echo, wrong)):  # none says whose statement had failed
                return self.ready
            for d, result in zip(self.ready, self.results, strict=True):
                if isinstance(result, BaseException) and not (several and is_echo(result)):
                    self._handling.conclude(d, result, took)
            return []
        alone = not self._answered or isinstance(error, Fenced) or not self.asked
        if alone and len(self.ready) > 1 and not isinstance(error, asyncio.CancelledError):
            return self.ready
        for d in self.ready:
            self._handling.conclude_tx(d, error, self.asked, took)
        return []

    def succeeded(self) -> None:
        for d in self.ready:
            self._handling.conclude(d, None, time.monotonic() - self._start)
            d.completed = not d.lost


def results_of(given: object, n: int) -> list[BaseException | bytes | None]:
    """One for each of n messages, whatever the handler gave."""
    results = list(given) if isinstance(given, Sequence) else []
    missing = NoResult("NO_RESULT: the batch handler gave no result for it")
    return [*results[:n], *[missing] * (n - len(results))]
