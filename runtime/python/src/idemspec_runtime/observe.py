"""What a consumer measures, under the names that every runtime uses (METRICS.md of the Go
runtime)."""

from __future__ import annotations

from typing import Protocol

MESSAGES = "idem_messages_total"
HANDLER_SECONDS = "idem_handler_seconds"
STORE_ERRORS = "idem_store_errors_total"
LEASES_LOST = "idem_leases_lost_total"
REBALANCES = "idem_rebalances_total"
RETRIES_PUBLISHED = "idem_retries_published_total"
RECORDS_CLEANED = "idem_records_cleaned_total"
BREAKER_OPEN = "idem_route_breaker_open"


class Observer(Protocol):
    """Gets what is measured, from several threads: a counter's growth, a gauge's value, or one
    value of a histogram."""

    def measure(self, metric: str, labels: dict[str, str], value: float) -> None: ...
