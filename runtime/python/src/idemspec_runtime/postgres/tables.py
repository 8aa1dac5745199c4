"""The rows of msg_retry, dead_letter and outbox as parameters, and read again."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple, cast

from idemspec import Outcome

from ..header_text import Headers, decode_headers, encode_headers
from ..records import Lane
from ..rows import DeadLetter, DeadLetterFilter, Mark, Outgoing, Retry, RetryAction
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
            texts(i.scope for i in ids),
            texts(i.key for i in ids),
            texts(i.topic for i in ids),
            numbers(i.partition for i in ids),
            numbers(i.offset for i in ids),
            numbers(r.redrive_count for r in retries),
            numbers(r.retry_count for r in retries),
            numbers(r.hold_count for r in retries),
            texts(r.action for r in retries),
            texts("PARKED" if row.parked else "PENDING" for row in rows),
            numbers(r.due_ms for r in retries),
            texts(lane.topic for lane in lanes),
            texts(text(lane.biz_key) for lane in lanes),
            texts(text(r.event_id) for r in retries),
            texts(text(r.event_type) for r in retries),
            texts(text(r.biz_key) for r in retries),
            texts(text(r.reason) for r in retries),
            texts(text(r.topic) for r in retries),
            texts(encode_headers(r.headers) for r in retries),
            blobs(r.message_key for r in retries),
            blobs(r.payload for r in retries),
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
            texts(text(d.key) for d in rows),
            texts(text(d.event_type) for d in rows),
            texts(text(d.biz_key) for d in rows),
            texts(text(d.event_id) for d in rows),
            texts(topics),
            numbers(partitions),
            numbers(offsets),
            numbers(d.redrive_count for d in rows),
            numbers(d.retry_count for d in rows),
            numbers(d.hold_count for d in rows),
            texts(d.outcome.value for d in rows),
            texts(text(d.reason) for d in rows),
            texts(text(d.topic) for d in rows),
            texts(encode_headers(d.headers) for d in rows),
            blobs(d.message_key for d in rows),
            blobs(d.payload for d in rows),
        )
        return [Query("dead_put", args)]


def retry_of(row: tuple[Any, ...], token: str) -> Retry:
    """A row of retry_claim."""
    (id_, scope, key, event_type, biz_key, event_id, topic, partition, offset) = row[:9]
    (redrives, retries, holds, action, reason, target, message_key, headers, payload) = row[9:18]
    next_retry_time, _, _, publications, created_at = row[18:23]
    return Retry(
        scope=scope,
        key=key,
        source_topic=topic,
        source_partition=partition,
        source_offset=offset,
        topic=target,
        headers=headers_of(headers, f"msg_retry {id_}"),
        message_key=message_key,
        payload=payload,
        redrive_count=redrives,
        retry_count=retries,
        hold_count=holds,
        action=cast(RetryAction, action),
        event_type=event_type,
        biz_key=biz_key,
        event_id=event_id,
        reason=reason,
        id=id_,
        token=token,
        publications=publications,
        next_retry_time=next_retry_time,
        created_at=created_at,
    )


def dead_letter_of(row: tuple[Any, ...]) -> DeadLetter:
    """A row of dead_list."""
    (id_, scope, key, event_type, biz_key, event_id, topic, partition, offset) = row[:9]
    (redrives, retries, holds, outcome, reason, origin, message_key, headers, payload) = row[9:18]
    return DeadLetter(
        scope=scope,
        key=key,
        source_topic=topic,
        source_partition=partition,
        source_offset=offset,
        topic=origin,
        headers=headers_of(headers, f"dead_letter {id_}"),
        outcome=Outcome[outcome],
        reason=reason,
        message_key=message_key,
        payload=payload,
        redrive_count=redrives,
        retry_count=retries,
        hold_count=holds,
        event_type=event_type,
        biz_key=biz_key,
        event_id=event_id,
        id=id_,
        created_at=row[18],
        redriven_at=row[19],
    )


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
    return Query(
        "outbox_put",
        (
            texts(text(m.topic) for m in messages),
            blobs(m.message_key for m in messages),
            texts(encode_headers(m.headers) for m in messages),
            blobs(m.payload for m in messages),
        ),
    )
