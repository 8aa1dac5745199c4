"""Handlers: what they are given, and what comes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from idemspec import Outcome, RecordState

from ..delivery import OK, Delivery, Status
from ..errors import StoreError
from ..failures import NonRetryable, Result, is_interrupted, reason_of, result_of
from ..message import Message
from ..records import MAX_RESULT, Fenced, NotBegun
from ..state import StateFailure
from .leases import Leases, is_ours


class Handling:
    def __init__(self, leases: Leases) -> None:
        self.leases = leases
        self.store = leases.store
        self.timeout = leases.timeout

    def message(self, d: Delivery, decode: Callable[[bytes], Any] | None) -> Message[Any] | None:
        """What the handler gets; None where the payload cannot be decoded, which ends the delivery
        as MALFORMED."""
        payload: Any = d.fetched.value
        if decode is not None:
            try:
                payload = decode(d.fetched.value or b"")
            except Exception as error:
                d.end(Result(Outcome.MALFORMED, f"BAD_PAYLOAD: {reason_of(error)}"), error)
                return None
        attempts = 1 if d.new is not None or d.grant is None else d.grant.attempts
        known, fetched = d.given_envelope, d.fetched
        d.message = Message(
            payload, d.key, d.event_type, d.biz_key, known, fetched, attempts, d.retry_count
        )
        return d.message

    def run(
        self,
        d: Delivery,
        handler: Callable[[Message[Any]], bytes | None],
        decode: Any,
        now: float | None = None,
    ) -> None:
        """Calls the handler of a READY delivery in mode idempotent, and ends it with what came of
        it."""
        start = time.monotonic() if now is None else now
        if d.status is not Status.READY:
            return
        if start - d.claimed >= self.leases.slack:
            if not self.leases.refresh(d):
                return
            start = time.monotonic()
        message = self.message(d, decode)
        if message is None:
            return
        error: BaseException | None = None
        try:
            result = handler(message)
            if result is not None:
                d.value = kept(result)
        except Exception as raised:
            error = raised
        self.conclude(d, error, time.monotonic() - start)

    def run_tx(
        self, d: Delivery, handler: Callable[[Message[Any], Any], bytes | None], decode: Any
    ) -> None:
        """The same for a handler whose effect and SUCCESS are one transaction. Where the claim is
        no longer held everything is rolled back, and the outcome is FENCED. Where the reply to
        COMMIT is lost, the record says whether it was committed. (DEDUP-020, DEDUP-022)"""
        if d.status is not Status.READY or not self.leases.refresh(d):
            return
        message = self.message(d, decode)
        if message is None:
            return
        start, asked = time.monotonic(), False
        try:
            with self.store.transaction(self.timeout(d.rules)) as tx:
                d.value = kept(handler(message, tx.connection))
                self.check_result(d)
                if d.lease is not None:
                    tx.complete(d.completion())
                asked = True
        except Exception as error:
            self.conclude_tx(d, error, asked, time.monotonic() - start)
            return
        self.conclude(d, None, time.monotonic() - start)
        d.completed = not d.lost

    def check_result(self, d: Delivery) -> None:
        """Keeps a result that does not fit from being lost: what is in the transaction can still be
        taken back."""
        if len(d.value) > MAX_RESULT:
            raise NonRetryable(f"RESULT_TOO_LARGE: {len(d.value)} bytes, the limit is {MAX_RESULT}")

    def conclude(self, d: Delivery, error: BaseException | None, seconds: float) -> None:
        """Ends a delivery by its handler's error. The handler is waited for, also beyond its time:
        one that succeeds all the same has succeeded."""
        d.status, d.error, d.seconds, d.ran = Status.ENDED, error, seconds, True
        if d.lost:
            self.leases.fenced(d)
        elif error is None:
            if d.result is not OK:
                d.result = OK
        elif seconds >= self.timeout(d.rules).total_seconds() and is_interrupted(error):
            reason = f"TIMEOUT: the handler took longer than {self.timeout(d.rules)}"
            d.result = Result(Outcome.RETRYABLE, reason)
        else:
            d.result = result_of(error)
            if isinstance(error, StateFailure):
                d.layer, d.superseded = "state", error.superseded
                d.superseded_by = error.superseded_by

    def conclude_tx(self, d: Delivery, error: BaseException, asked: bool, seconds: float) -> None:
        """Ends a delivery whose transaction failed; `asked` says that its COMMIT was sent."""
        if isinstance(error, NotBegun):
            self.leases.not_started(d, error)
        elif isinstance(error, Fenced):
            self.leases.fenced(d)
            d.error = error
        elif not (asked and d.lease is not None and self._committed(d, error)):
            self.conclude(d, error, seconds)

    def _committed(self, d: Delivery, error: BaseException) -> bool:
        """Finds out what became of a COMMIT that came back with an error; True where d has ended by
        it. Otherwise it may still come true: what is written under the lease then finds the claim
        gone, and looks again."""
        d.error, d.unsure = error, True
        try:
            record = self.leases.record(d)
        except StoreError:
            return False
        if not is_ours(d, record):
            self.leases.fenced(d)
            return True
        if record is not None and record.record.state is RecordState.SUCCESS:
            d.status, d.result, d.completed = Status.ENDED, Result(Outcome.OK), True
            return True
        return False


def kept(result: object) -> bytes:
    """What a handler returned: bytes to keep for duplicates, or nothing."""
    if result is None:
        return b""
    if isinstance(result, bytes):
        return result
    raise NonRetryable(
        f"BAD_RESULT: the handler returned a {type(result).__name__}: return bytes, or None"
    )
