"""What a producer knows about a message beside its payload (HDR-022)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Context:
    """The context headers of one message. What is None or empty is not written."""

    event_id: str | None = None
    """A UUIDv7, made once for a message and kept by every retry."""
    topic: str | None = None
    """Where the message is sent first."""
    produced_at: str | None = None
    """When it was made, in RFC 3339; written in UTC with three fraction digits."""
    traceparent: str | None = None
    tracestate: str | None = None
