"""What an error of a handler means: exceptions that say it, and the reading of those that do not.

Failure
├── Retryable      the same delivery may succeed later; it costs a retry
├── Throttled      it may succeed after a time, and not before; it costs a retry
├── NonRetryable   it can never succeed: a dead letter
└── OutOfOrder     it came before its predecessor; it costs a hold, not a retry
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import NamedTuple

from idemspec import IdemError, Outcome, classify_sqlstate


class Failure(Exception):
    """An error that says what it means for the delivery that ran into it: raise one of its kinds,
    `raise NonRetryable("CARD_EXPIRED") from error`. The text begins the reject_reason."""

    outcome: Outcome = Outcome.RETRYABLE


class Retryable(Failure):
    """The same delivery may succeed later."""


class Throttled(Failure):
    """The same delivery may succeed after a time, and not before. Without one the policy
    decides."""

    outcome: Outcome = Outcome.THROTTLED

    def __init__(self, *reason: object, after: timedelta | float = 0) -> None:
        super().__init__(*reason)
        seconds = after.total_seconds() if isinstance(after, timedelta) else after
        self.after_ms = max(int(seconds * 1000), 0)


class NonRetryable(Failure):
    """The delivery can never succeed."""

    outcome: Outcome = Outcome.NON_RETRYABLE


class OutOfOrder(Failure):
    """The delivery came before its predecessor."""

    outcome: Outcome = Outcome.OUT_OF_ORDER


class Result(NamedTuple):
    """What a delivery came to."""

    outcome: Outcome
    reason: str = ""
    after_ms: int = 0
    """THROTTLED: the Retry-After. IN_PROGRESS and FENCED: the wait."""


def result_of(error: BaseException | None) -> Result:
    """What an error means: a Failure says so itself, also as the cause of another error; an error
    with a `sqlstate`, as those of psycopg, by the spec's table; all else is RETRYABLE.
    (CLASS-001)"""
    if error is None:
        return Result(Outcome.OK)
    reason = reason_of(error)
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, Failure):
            after = seen.after_ms if isinstance(seen, Throttled) else 0
            return Result(seen.outcome, reason, after)
        seen = seen.__cause__
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        try:
            outcome = classify_sqlstate(state)
        except IdemError:
            outcome = Outcome.OK
        if outcome is not Outcome.OK:
            return Result(outcome, reason)
    return Result(Outcome.RETRYABLE, reason)


def reason_of(error: BaseException) -> str:
    """An error in a line: its type where that says more than the text, the text, and the cause."""
    text = str(error)
    name = type(error).__name__
    if not isinstance(error, Failure):
        text = f"{name}: {text}" if text else name
    elif not text:
        text = error.outcome.value
    if isinstance(error, Failure) and error.__cause__ is not None:
        text += f": {reason_of(error.__cause__)}"
    return " ".join(text.split())


def is_echo(error: object) -> bool:
    """Whether PostgreSQL refused a statement since another one had failed in the same
    transaction."""
    seen = error if isinstance(error, BaseException) else None
    while seen is not None:
        if getattr(seen, "sqlstate", None) == "25P02":
            return True
        seen = seen.__cause__
    return False


def is_interrupted(error: BaseException) -> bool:
    """Whether an error comes of a time limit or a cancellation."""
    if isinstance(error, TimeoutError | asyncio.TimeoutError | asyncio.CancelledError):
        return True
    return getattr(error, "sqlstate", None) in ("57014", "25P03", "57P05")
