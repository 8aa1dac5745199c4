"""What a store on PostgreSQL is told."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone

from ..records import DEFAULT_RETENTION

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class PostgresConfig:
    """A store's settings; the defaults are safe for money."""

    retention: timedelta = DEFAULT_RETENTION
    """How long a record is kept after its last change. It has to exceed the topics'. (DEDUP-029)"""
    lock_timeout: timedelta = timedelta(milliseconds=250)
    """How long a statement waits for what another transaction has locked. A batch of claims that
    runs into it is halved, until the key that is locked is alone, and IN_PROGRESS."""
    wait: timedelta = timedelta(seconds=1)
    """After how long a key is worth asking for again that another transaction has locked."""
    statement_timeout: timedelta = timedelta(seconds=10)
    """Bounds each statement of the store."""
    idle_timeout: timedelta = timedelta(seconds=5)
    """How long the server lets a transaction of the store wait for its next statement."""
    handler_timeout: timedelta = timedelta(minutes=5)
    """The same for a handler's transaction, and each of its statements, where no time is given."""

    def __post_init__(self) -> None:
        for given in fields(self):
            value = getattr(self, given.name)
            if value < _MILLISECOND:
                raise ValueError(f"{given.name} is {value}: give at least a millisecond")
        if self.lock_timeout >= self.statement_timeout:
            raise ValueError(
                f"lock_timeout is {self.lock_timeout}: it has to be less than statement_timeout, "
                f"which is {self.statement_timeout}"
            )

    @property
    def retention_ms(self) -> int:
        return milliseconds(self.retention)

    def expiry(self, now: datetime) -> datetime:
        """When a record expires that changed now."""
        return now + self.retention


def milliseconds(time: timedelta) -> int:
    return time // _MILLISECOND


def epoch_ms(at: datetime) -> int:
    """Milliseconds since 1970, exactly."""
    return (at - _EPOCH) // _MILLISECOND


def from_epoch_ms(ms: int) -> datetime:
    return _EPOCH + ms * _MILLISECOND
