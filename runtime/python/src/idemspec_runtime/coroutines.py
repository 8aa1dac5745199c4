"""`Guard.run` and `Guard.run_tx` for handlers that are coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from .delivery import Delivery, Status
from .guard import Guard, _kept
from .message import Message
from .postgres.asynchronous import AsyncPostgresStore


async def run(
    guard: Guard,
    d: Delivery,
    handler: Callable[[Message[Any]], Awaitable[bytes | None]],
    decode: Any,
) -> None:
    """A handler that takes too long is cancelled; so is one whose lease is lost, by the caller."""
    message = await _begin(guard, d, decode)
    if message is None:
        return
    start = time.monotonic()
    error: BaseException | None = None
    try:
        d.value = _kept(await _limited(guard, d, handler(message)))
    except (Exception, asyncio.CancelledError) as raised:
        error = raised
    guard.conclude(d, error, time.monotonic() - start)


async def run_tx(
    guard: Guard,
    store: AsyncPostgresStore,
    d: Delivery,
    handler: Callable[[Message[Any], Any], Awaitable[bytes | None]],
    decode: Any,
) -> None:
    """The same for a handler whose effect and SUCCESS are one transaction."""
    message = await _begin(guard, d, decode)
    if message is None:
        return
    start, asked = time.monotonic(), False
    try:
        async with store.transaction(guard.timeout(d.rules)) as tx:
            d.value = _kept(await _limited(guard, d, handler(message, tx.connection)))
            guard.check_result(d)
            if d.lease is not None:
                tx.complete(d.completion())
            asked = True
    except Exception as error:
        await asyncio.to_thread(guard.conclude_tx, d, error, asked, time.monotonic() - start)
        return
    guard.conclude(d, None, time.monotonic() - start)
    d.completed = not d.lost


async def _begin(guard: Guard, d: Delivery, decode: Any) -> Message[Any] | None:
    if d.status is not Status.READY:
        return None
    if guard.needs_refresh(d) and not await asyncio.to_thread(guard.refresh, d):
        return None
    return guard.message(d, decode)


async def _limited(guard: Guard, d: Delivery, handling: Awaitable[bytes | None]) -> bytes | None:
    return await asyncio.wait_for(handling, guard.timeout(d.rules).total_seconds())
