"""What follows from a delivery: the decision, and the rows that it takes."""

from __future__ import annotations

import re
import time

from idemspec import Action, Decision, Outcome, RecordState, Transport, decide, next_headers
from idemspec.header_table import printable

from ..delivery import ACK, OK, Delivery, Status
from ..failures import Result
from ..header_text import Headers
from ..records import Settlement
from ..rows import DeadLetter, Retry
from ..topics import retry_topic

_is_key = re.compile(r"[!-~]{1,1024}").fullmatch
_DONE = (Outcome.OK, Outcome.DUPLICATE, Outcome.STALE)


class FollowUps:
    """Those of one scope."""

    def __init__(self, scope: str) -> None:
        self._scope = scope

    def decide(self, d: Delivery) -> None:
        d.in_place = False
        if d.status is Status.SKIPPED:
            d.result, d.decision = OK, ACK
            return
        if d.status is Status.PARKED:
            # It waits for the head of its lane, and not for a time.
            d.result = Result(Outcome.IN_PROGRESS)
            d.decision = Decision(Action.DEFER, 0, d.retry_count, d.hold_count)
            return
        outcome, reason, after = d.result
        if outcome in _DONE:
            d.decision = ACK
            return
        waits = outcome in (Outcome.IN_PROGRESS, Outcome.FENCED)
        d.decision = decide(
            outcome,
            d.backoff_key(),
            d.retry_count,
            d.hold_count,
            d.policy,
            reason=printable(reason),
            retry_after_ms=0 if waits else after,
            wait_ms=after if waits else -1,
        )

    def leaves(self, d: Delivery) -> bool:
        """Whether a duplicate was the head of its lane, which goes on."""
        if d.result.outcome is not Outcome.DUPLICATE or d.completed or d.lane is None:
            return False
        return d.grant is not None and d.grant.head

    def plan(self, d: Delivery) -> Settlement | None:
        """What follows from a delivery that is not acknowledged; None where nothing is written."""
        if d.status is Status.SKIPPED:
            return None
        action = d.decision.action
        if d.hold_in_place and action in (Action.RETRY, Action.DEFER):
            d.in_place = True
            return None if d.lease is None else self.in_place(d, action is Action.DEFER)
        if action is Action.DEAD_LETTER:
            return self._dead(d)
        retries, holds = d.decision.retry_count or 0, d.decision.hold_count or 0
        return Settlement(
            d.lease,
            RecordState.FAILED,
            give_back=action is not Action.RETRY,
            redrive_count=d.redrive_count,
            retry_count=retries,
            hold_count=holds,
            retry=self._retry(d, retries, holds),
            lane=d.lane,
            leave=action is Action.HOLD,
        )

    def in_place(self, d: Delivery, give_back: bool) -> Settlement:
        """Leaves the record at this very delivery, with the counts that it has come to.
        (DEDUP-011)"""
        kept = d.decision.retry_count, d.decision.hold_count
        return Settlement(
            d.lease,
            RecordState.FAILED,
            give_back=give_back,
            redrive_count=d.redrive_count,
            retry_count=d.header_retries,
            hold_count=d.header_holds,
            kept_retry_count=d.retry_count if kept[0] is None else kept[0],
            kept_hold_count=d.hold_count if kept[1] is None else kept[1],
        )

    def _dead(self, d: Delivery) -> Settlement:
        """Ends a life. One whose payload could not be read gives the claim back: the same key may
        come with a payload that can. (DEDUP-012)"""
        if d.result.outcome is Outcome.MALFORMED:
            settlement = self.in_place(d, True)
            settlement.lane = d.lane
        else:
            settlement = Settlement(
                d.lease,
                RecordState.DEAD,
                redrive_count=d.redrive_count,
                retry_count=d.retry_count,
                hold_count=d.hold_count,
                lane=d.lane,
            )
        settlement.leave = d.lane is not None and d.lease is not None
        settlement.dead_letter = self._dead_letter(d)
        return settlement

    def _retry(self, d: Delivery, retries: int, holds: int) -> Retry:
        action = d.decision.action
        assert action in (Action.RETRY, Action.HOLD, Action.DEFER), "nothing else is still to come"
        parked = d.status is Status.PARKED
        return Retry(
            scope=self._scope,
            key=d.key,
            source_topic=d.fetched.topic,
            source_partition=d.fetched.partition,
            source_offset=d.fetched.offset,
            topic=retry_topic(d.origin, self._scope),
            headers=self._headers(d),
            message_key=d.fetched.key,
            payload=d.fetched.value,
            redrive_count=d.redrive_count,
            retry_count=retries,
            hold_count=holds,
            action="RETRY"
            if action is Action.RETRY
            else "HOLD"
            if action is Action.HOLD
            else "DEFER",
            due_ms=d.decision.delay_ms or 0,
            event_type=d.event_type,
            biz_key=d.biz_key,
            event_id=_column(d.envelope.get("event_id", "")),
            reason="PARKED" if parked else printable(d.result.reason or d.result.outcome.value),
            park=parked,
        )

    def _dead_letter(self, d: Delivery) -> DeadLetter:
        names = {name: d.envelope.get(name, "") for name in ("event_type", "event_id")}
        key, biz_key = d.key, d.biz_key
        if not d.envelope:  # faulty headers: what of them is sound all the same, to find it by
            names = {name: _raw_text(d.fetched.headers, name) for name in names}
            key = key or _raw_text(d.fetched.headers, "idempotency_key")
            biz_key = _raw_text(d.fetched.headers, "biz_key")
        return DeadLetter(
            scope=self._scope,
            key=key,
            source_topic=d.fetched.topic,
            source_partition=d.fetched.partition,
            source_offset=d.fetched.offset,
            topic=d.origin,
            headers=self._headers(d),
            outcome=d.result.outcome,
            reason=printable(d.result.reason or d.result.outcome.value),
            message_key=d.fetched.key,
            payload=d.fetched.value,
            redrive_count=d.redrive_count,
            retry_count=d.retry_count,
            hold_count=d.hold_count,
            event_type=names["event_type"],
            biz_key=biz_key,
            event_id=_column(names["event_id"]),
        )

    def _headers(self, d: Delivery) -> Headers:
        """Those of what follows. Faulty headers keep their counts, which nobody could read.
        (HDR-031)"""
        decision = d.decision
        if not d.envelope and not d.key and d.result.outcome is Outcome.MALFORMED:
            decision = Decision(Action.DEAD_LETTER, reject_reason=decision.reject_reason)
        now_ms = time.time_ns() // 1_000_000
        return next_headers(
            Transport.KAFKA,
            d.fetched.headers,
            decision,
            scope=self._scope,
            topic=d.origin,
            now_ms=now_ms,
        )


def _column(text: str) -> str:
    """A text as a database can hold it: one with a NUL is left to the headers."""
    return "" if "\0" in text else text


def _raw_text(headers: Headers, name: str) -> str:
    """The value of a header that is there once and is sound enough to be a column of a dead letter
    whose headers are faulty."""
    values = {v if isinstance(v, bytes) else str(v).encode() for n, v in headers if n == name}
    if len(values) != 1:
        return ""
    text = values.pop().decode("latin-1")
    return text if _is_key(text) else ""
