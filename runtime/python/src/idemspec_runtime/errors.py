"""What a store or a broker did not do."""

from __future__ import annotations


class StoreError(Exception):
    """A store did not do what it was asked; nothing is known of what was written. `__cause__` is
    the driver's own error."""

    sqlstate: str | None = None
    """Of PostgreSQL."""
