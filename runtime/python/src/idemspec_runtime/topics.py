"""The names of topics (RETRY-030)."""

from __future__ import annotations

import re

_is_name = re.compile(r"[A-Za-z0-9._-]{1,249}").fullmatch


def retry_topic(origin: str, scope: str) -> str:
    """Where the retries, holds, deferrals and redrives of an origin topic go for a scope."""
    return f"{origin}.retry.{scope}"


def dead_letter_topic(origin: str, scope: str) -> str:
    return f"{origin}.dlq.{scope}"


def origin_of(topic: str, scope: str) -> str:
    """The origin of a scope's retry topic; any other topic is its own."""
    return topic.removesuffix(f".retry.{scope}") or topic


def check_topic(name: str) -> None:
    """Raises where a name is none for Kafka."""
    if not _is_name(name) or name in (".", ".."):
        raise ValueError(
            f"topic {name!r} has {len(name)} characters: a name has 1 to 249 of letters, digits, "
            "'.', '_' and '-'; shorten the origin's name or the scope"
        )
