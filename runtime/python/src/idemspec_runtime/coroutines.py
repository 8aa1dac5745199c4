"""`Guard.run` and `Guard.run_tx` for handlers that are coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from .delivery import Delivery, Status
from .guard.handling import Handling, kept
from .message import Message
from .postgres.asynchronous import AsyncPostgresStore


async def run(
    handling: Handling,
    d: Delivery,
    handler: Callable[[Message[Any]], Awaitable[bytes | None]],
    decode: Any,
) -> None:
    """A handler that takes too long is cancelled; so is one whose lease is lost, by the caller."""
    message = await _begin(handling, d, decode)
    if message is None:
        return
    start = time.monotonic()
    error: BaseException | None = None
    try:
        d.value = kept(await _limited(handling, d, handler(message)))
    except (Exception, asyncio.CancelledError) as raised:
        error = raised
    handling.conclude(d, error, time.monotonic() - start)


async def run_tx(
    handling: Handling,
    store: AsyncPostgresStore,
    d: Delivery,
    handler: Callable[[Message[Any], Any], Awaitable[bytes | None]],
    decode: Any,
) -> None:
    """The same for a handler whose effect and SUCCESS are one transaction."""
    message = await _begin(handling, d, decode)
    if message is None:
        return
    start, asked = time.monotonic(), False
    try:
        async with store.transaction(handling.timeout(d.rules)) as tx:
            d.value = kept(await _limited(handling, d, handler(message, tx.connection)))
            handling.check_result(d)
            if d.lease is not None:
                tx.complete(d.completion())
            asked = True
    except Exception as error:
        await asyncio.to_thread(handling.conclude_tx, d, error, asked, time.monotonic() - start)
        return
    handling.conclude(d, None, time.monotonic() - start)
    d.completed = not d.lost


async def _begin(handling: Handling, d: Delivery, decode: Any) -> Message[Any] | None:
    if d.status is not Status.READY:
        return None
    if handling.leases.needs_refresh(d) and not await asyncio.to_thread(handling.leases.refresh, d):
        return None
    return handling.message(d, decode)


async def _limited(handling: Handling, d: Delivery, given: Awaitable[bytes | None]) -> bytes | None:
    return await asyncio.wait_for(given, handling.timeout(d.rules).total_seconds())
