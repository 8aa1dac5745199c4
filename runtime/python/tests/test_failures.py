from __future__ import annotations

import pytest
from idemspec import Outcome
from idemspec_runtime import NonRetryable, OutOfOrder, Retryable, Throttled
from idemspec_runtime.failures import result_of
from psycopg import errors


@pytest.mark.parametrize(
    ("error", "outcome", "reason", "after_ms"),
    [
        (None, Outcome.OK, "", 0),
        (Retryable("busy"), Outcome.RETRYABLE, "busy", 0),
        (Retryable(), Outcome.RETRYABLE, "RETRYABLE", 0),
        (Throttled("slow down", after=1.5), Outcome.THROTTLED, "slow down", 1500),
        (NonRetryable("CARD_EXPIRED"), Outcome.NON_RETRYABLE, "CARD_EXPIRED", 0),
        (OutOfOrder("early"), Outcome.OUT_OF_ORDER, "early", 0),
        (ValueError("no\nnumber"), Outcome.RETRYABLE, "ValueError: no number", 0),
        (TimeoutError(), Outcome.RETRYABLE, "TimeoutError", 0),
        (errors.UniqueViolation("twice"), Outcome.NON_RETRYABLE, "UniqueViolation: twice", 0),
        (errors.DeadlockDetected("two"), Outcome.RETRYABLE, "DeadlockDetected: two", 0),
    ],
)
def test_what_an_error_means(
    error: BaseException | None, outcome: Outcome, reason: str, after_ms: int
) -> None:
    assert result_of(error) == (outcome, reason, after_ms)


def test_a_failure_with_a_cause_names_both() -> None:
    try:
        raise NonRetryable("CARD_EXPIRED") from ValueError("12/20")
    except NonRetryable as error:
        assert result_of(error).reason == "CARD_EXPIRED: ValueError: 12/20"


def test_a_failure_counts_as_the_cause_of_another_error() -> None:
    try:
        raise RuntimeError("while paying") from NonRetryable("CARD_EXPIRED")
    except RuntimeError as error:
        assert result_of(error).outcome is Outcome.NON_RETRYABLE
