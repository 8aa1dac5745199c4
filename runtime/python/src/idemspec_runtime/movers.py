"""Handlers behind the guard of a state machine."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from . import state
from .batches import results_of
from .delivery import Mode
from .failures import NonRetryable
from .message import Message
from .postgres.sync import PostgresStore

Handler = Callable[..., Any]
Id = Callable[[Message[Any]], object]


class Mover:
    """Moves the row that a message is about."""

    def __init__(
        self, table: state.Table, helper: Any, id_: Id | None, dead_letter: bool | None
    ) -> None:
        if not hasattr(helper, "TRANSITION"):
            raise ValueError(
                f"the route has a state table, and {helper!r} has no TRANSITION: give the "
                "generated helper of a message with the option idem.v1.transition"
            )
        self.table = table
        self._id = id_
        self._verdict = helper.verdict
        self._transition = helper.TRANSITION
        if dead_letter is not None:
            self._transition = replace(self._transition, dead_letter_superseded=dead_letter)

    def _move(self, message: Message[Any], columns: Mapping[str, object] | None) -> state.Move:
        of = message.biz_key if self._id is None else self._id(message)
        if of is None or of == "":
            raise NonRetryable("MISSING_BIZ_KEY: it says of no object which one it moves")
        previous = message.envelope.get("idempotency_key_previous", "")
        args = self._transition, self._verdict, columns or {}
        return state.Move(of, message.key, previous, *args)

    def apply(
        self,
        connection: Any,
        message: Message[Any],
        columns: Mapping[str, object] | None = None,
    ) -> None:
        state.run(connection, state.move(self.table, self._move(message, columns)))
        message.moved = True

    def read(self, connection: Any, message: Message[Any]) -> None:
        state.run(connection, state.read(self.table, self._move(message, None)))

    async def apply_async(
        self,
        connection: Any,
        message: Message[Any],
        columns: Mapping[str, object] | None = None,
    ) -> None:
        await state.run_async(connection, state.move(self.table, self._move(message, columns)))
        message.moved = True


def behind(
    mover: Mover, store: PostgresStore, mode: Mode, handler: Handler, batch: bool
) -> Handler:
    """A handler that is called for what moves. In mode tx guard, handler and SUCCESS are one
    transaction; in mode idempotent the guard reads before it, and moves the row after it."""
    is_async = inspect.iscoroutinefunction(handler)
    if batch:
        if is_async or mode is not Mode.TX:
            raise ValueError("a batch handler with a state table is a `def` in mode tx")
        return _batch(mover, handler)
    if mode is Mode.TX:
        return _tx_async(mover, handler) if is_async else _tx(mover, handler)
    return _idempotent_async(mover, store, handler) if is_async else _outside(mover, store, handler)


def guarded(mover: Mover, columns: Handler) -> Handler:
    """A handler in mode tx that moves the row, and has no other effect."""
    if not mover.table.last_key:
        raise ValueError(
            f"state table {mover.table.name} has no last_key, and mode guarded needs it: name a "
            "column of text that keeps the key of the last move"
        )

    def handle(message: Message[Any], connection: Any) -> None:
        mover.apply(connection, message, columns(message))

    async def handle_async(message: Message[Any], connection: Any) -> None:
        await mover.apply_async(connection, message, await columns(message))

    return handle_async if inspect.iscoroutinefunction(columns) else handle


def _tx(mover: Mover, handler: Handler) -> Handler:
    def handle(message: Message[Any], connection: Any) -> Any:
        mover.apply(connection, message)
        return handler(message, connection)

    return handle


def _tx_async(mover: Mover, handler: Handler) -> Handler:
    async def handle(message: Message[Any], connection: Any) -> Any:
        await mover.apply_async(connection, message)
        return await handler(message, connection)

    return handle


def _batch(mover: Mover, handler: Handler) -> Handler:
    def handle(messages: list[Message[Any]], connection: Any) -> list[Any]:
        results: list[Any] = []
        for message in messages:
            try:
                mover.apply(connection, message)
            except (state.StateFailure, NonRetryable) as error:
                results.append(error)
            else:
                results.append(message)
        moved = [result for result in results if isinstance(result, Message)]
        given = iter(results_of(handler(moved, connection), len(moved)) if moved else [])
        return [next(given) if isinstance(r, Message) else r for r in results]

    return handle


def _outside(mover: Mover, store: PostgresStore, handler: Handler) -> Handler:
    def handle(message: Message[Any]) -> Any:
        with store.transaction() as tx:
            mover.read(tx.connection, message)
        result = handler(message)
        with store.transaction() as tx:
            mover.apply(tx.connection, message)
        return result

    return handle


def _idempotent_async(mover: Mover, store: PostgresStore, handler: Handler) -> Handler:
    def transact(do: Handler, message: Message[Any]) -> None:
        with store.transaction() as tx:
            do(tx.connection, message)

    async def handle(message: Message[Any]) -> Any:
        await asyncio.to_thread(transact, mover.read, message)
        result = await handler(message)
        await asyncio.to_thread(transact, mover.apply, message)
        return result

    return handle
