"""What the transactions of handlers have in common, whether they wait or not."""

from __future__ import annotations

from .work import BEGIN

DEFAULT_CONNECTIONS = 24
"""Enough for a consumer's 16 handlers, and for what claims, settles and schedules beside them."""

ENDED = "the handler has ended its transaction: it neither commits nor rolls back"


def begin_handler(limit_ms: int) -> bytes:
    """The first statements of a handler's transaction, in one round trip: a handler that hangs
    loses it, and its locks."""
    limit = max(limit_ms, 1)
    return (
        f"{BEGIN}; SET LOCAL statement_timeout = {limit}; "
        f"SET LOCAL idle_in_transaction_session_timeout = {limit}"
    ).encode()
