"""The rows of msg_retry, dead_letter and outbox as parameters, and read again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from idemspec import Outcome

from ..header_text import Headers, decode_headers, encode_headers
from ..records import Lane
from ..rows import DeadLetter, DeadLetterFilter, Mark, Outgoing, Retry, Row
from .work import Answer, Query, blobs, numbers, text, texts

log = logging.getLogger("idemspec")


class _RetryId(NamedTuple):
    scope: str
    key: str
    topic: str
    partition: int
    offset: int


class _RetryRow(NamedTuple):
    retry: Retry
    lane: Lane | None
    parked: bool


def _retry_id(r: Retry) -> _RetryId:
    names = text(r.scope), text(r.key), text(r.source_topic)
    return _RetryId(*names, r.source_partition, r.source_offset)


def _progress(r: Retry) -> tuple[int, int]:
    return r.redrive_count, r.position


class RetryRows:
    """The rows of msg_retry that a transaction writes, each once."""

    def __init__(self) -> None:
        self._rows: dict[_RetryId, _RetryRow] = {}
        self._asked: list[_RetryId] = []
        self._known: dict[_RetryId, tuple[int, int]] = {}

    def lock(self, retries: list[Retry]) -> list[Query]:
        """Asks how far on the rows of some deliveries are."""
        if not retries:
            return []
        self._asked = sorted({_retry_id(r) for r in retries})
        scopes, keys, topics, partitions, offsets = zip(*self._asked, strict=True)
        names = texts(scopes), texts(keys), texts(topics)
        return [Query("retry_lock", (*names, numbers(partitions), numbers(offsets)))]

    def locked(self, answer: Answer) -> None:
        for n, redrives, position in answer.rows:
            self._known[self._asked[n - 1]] = redrives, position

    def add(self, retry: Retry, lane: Lane | None, parked: bool = False) -> bool:
        """Takes the one that is further on of two for the same delivery, as the table does, and
        says whether it took this one; of rows that were not asked for it believes so."""
        row = _retry_id(retry)
        progress = _progress(retry)
        if row in self._known and progress < self._known[row]:
            return False
        if row in self._rows and progress < _progress(self._rows[row].retry):
            return False
        self._rows[row] = _RetryRow(retry, lane, parked)
        return True

    def writes(self) -> list[Query]:
        """In the order they were given, which is that of their ids."""
        if not self._rows:
            return []
        ids = list(self._rows)
        rows = list(self._rows.values())
        retries = [row.retry for row in rows]
        lanes = [row.lane or Lane("", "") for row in rows]
        args = (
            *_texts(ids, "scope", "key", "topic"),
            *_numbers(ids, "partition", "offset"),
            *_numbers(retries, *_COUNTS),
            texts(r.action for r in retries),
            texts("PARKED" if row.parked else "PENDING" for row in rows),
            *_numbers(retries, "due_ms"),
            texts(lane.topic for lane in lanes),
            *_texts(lanes, "biz_key"),
            *_texts(retries, "event_id", "event_type", "biz_key", "reason", "topic"),
            *_content(retries),
        )
        return [Query("retry_put", args)]


class DeadRows:
    """The dead letters that a transaction writes, each once."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, int, int], DeadLetter] = {}

    def add(self, d: DeadLetter) -> None:
        """Takes the later life of two of the same delivery, else the first, as the table does."""
        row = (text(d.scope), text(d.source_topic), d.source_partition, d.source_offset)
        other = self._rows.setdefault(row, d)
        if d.redrive_count > other.redrive_count:
            self._rows[row] = d

    def writes(self) -> list[Query]:
        if not self._rows:
            return []
        scopes, topics, partitions, offsets = zip(*self._rows, strict=True)
        rows = list(self._rows.values())
        args = (
            texts(scopes),
            *_texts(rows, "key", "event_type", "biz_key", "event_id"),
            texts(topics),
            numbers(partitions),
            numbers(offsets),
            *_numbers(rows, *_COUNTS),
            texts(d.outcome.value for d in rows),
            *_texts(rows, "reason", "topic"),
            *_content(rows),
        )
        return [Query("dead_put", args)]


_COUNTS = ("redrive_count", "retry_count", "hold_count")


def _texts(rows: Sequence[Any], *names: str) -> Iterator[str]:
    """Columns of texts that a database can hold."""
    return (texts(text(getattr(row, name)) for row in rows) for name in names)


def _numbers(rows: Sequence[Any], *names: str) -> Iterator[str]:
    return (numbers(getattr(row, name) for row in rows) for name in names)


def _content(rows: Sequence[Row] | Sequence[Outgoing]) -> tuple[str, str, str]:
    """The columns of what is published."""
    return (
        texts(encode_headers(row.headers) for row in rows),
        blobs(row.message_key for row in rows),
        blobs(row.payload for row in rows),
    )


def _fields(row: tuple[Any, ...], table: str) -> dict[str, Any]:
    """What a row of retry_claim and one of dead_list have in common."""
    names = "id", "scope", "key", "event_type", "biz_key", "event_id"
    source = "source_topic", "source_partition", "source_offset", *_COUNTS
    fields = dict(zip((*names, *source), row[:12], strict=True))
    reason, topic, message_key, headers, payload = row[13:18]
    return fields | {
        "reason": reason,
        "topic": topic,
        "message_key": message_key,
        "headers": headers_of(headers, f"{table} {row[0]}"),
        "payload": payload,
    }


def retry_of(row: tuple[Any, ...], token: str) -> Retry:
    """A row of retry_claim."""
    next_retry_time, _, _, publications, created_at = row[18:23]
    return Retry(
        **_fields(row, "msg_retry"),
        action=row[12],
        token=token,
        publications=publications,
        next_retry_time=next_retry_time,
        created_at=created_at,
    )


def dead_letter_of(row: tuple[Any, ...]) -> DeadLetter:
    """A row of dead_list."""
    fields = _fields(row, "dead_letter")
    outcome = Outcome[row[12]]
    return DeadLetter(**fields, outcome=outcome, created_at=row[18], redriven_at=row[19])


def outgoing_of(row: tuple[Any, ...]) -> Outgoing:
    """A row of outbox_claim."""
    id_, topic, message_key, headers, payload, _, attempts = row[:7]
    return Outgoing(
        topic, headers_of(headers, f"outbox {id_}"), message_key, payload, id_, attempts
    )


def headers_of(encoded: str, row: str) -> Headers:
    """Somebody else's text hides no message: it is delivered without headers, and so is MALFORMED
    or keyless, which is a dead letter that says so."""
    try:
        return decode_headers(encoded)
    except ValueError as error:
        log.error("the headers of %s cannot be read: it goes on without them: %s", row, error)
        return []


def filter_args(f: DeadLetterFilter) -> tuple[Any, ...]:
    """The first parameters of dead_list and dead_count."""
    names = f.scope, f.key, f.event_type, f.outcome, f.reason_prefix
    return (*names, f.since, f.until, f.redriven)


def mark_columns(marks: list[Mark]) -> tuple[str, str, str, str]:
    ids, tokens, redrives, positions = zip(*marks, strict=True)
    return numbers(ids), texts(tokens), numbers(redrives), numbers(positions)


def outbox_put(messages: list[Outgoing]) -> Query:
    headers, keys, payloads = _content(messages)
    return Query("outbox_put", (*_texts(messages, "topic"), keys, headers, payloads))
