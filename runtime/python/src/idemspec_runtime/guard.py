"""One delivery, or a batch: open, claim, run, decide, settle. A consumer does so for you; a loop of
your own calls `Guard.parse`, `route`, `claim`, `run` or `run_tx`, and `settle`."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
from idemspec import (
    Action,
    Decision,
    IdemError,
    Outcome,
    Policy,
    PolicyValues,
    RecordState,
    Transport,
    decide,
    max_attempts,
    next_headers,
    policy_values,
    resolve,
    timestamp_of_epoch,
)
from idemspec.header_table import printable
from idemspec.timestamps import parse_timestamp

from . import observe
from .audit import SUPERSEDED, Audit, Kind
from .delivery import ACK, OK, Delivery, MissingKey, Mode, New, Order, Rules, Status
from .errors import StoreError
from .failures import NonRetryable, Result, is_interrupted, reason_of, result_of
from .header_text import Headers
from .layouts import biz_key_of, open_quickly
from .message import Fetched, Message
from .opening import Alike
from .postgres.sync import PostgresStore
from .records import (
    DEFAULT_RETENTION,
    MAX_RESULT,
    Claim,
    Completion,
    Fenced,
    Grant,
    Lane,
    Lease,
    NewDone,
    NewKeys,
    NotBegun,
    Renewal,
    Settled,
    Settlement,
    StoredRecord,
)
from .rows import DeadLetter, Retry
from .state import StateFailure
from .topics import origin_of, retry_topic

log = logging.getLogger("idemspec")

LEASE_MARGIN = timedelta(seconds=10)
"""What a lease that nobody renews has beyond the handler's time limit, to settle in."""

_TX_SLACK = (LEASE_MARGIN / 2).total_seconds()

PASSES = 4
"""How often `settle` goes over what turned out otherwise: what is fenced is deferred, under no
claim, which nothing can fence out."""

_is_scope = re.compile(r"[A-Za-z0-9._-]{1,200}").fullmatch
_is_key = re.compile(r"[!-~]{1,1024}").fullmatch
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class GuardConfig:
    """The settings of deliveries."""

    retention: timedelta = DEFAULT_RETENTION
    """How long records are kept, by the store's own setting. A message that was produced before
    cannot be told from new, and is TOO_OLD. (DEDUP-029)"""
    clock_skew: timedelta = timedelta(minutes=5)
    """How far the clocks of producers may be ahead."""
    limits: PolicyValues | None = None
    """The most that the headers of a message can ask for. (RETRY-003)"""
    lease: timedelta = timedelta(seconds=30)
    """How long a claim holds in mode idempotent, renewed at a third. In mode tx it is the handler's
    time limit and ten seconds, and nobody renews it. (DEDUP-028)"""
    handler_timeout: timedelta = timedelta(seconds=30)
    """That of routes which give none."""

    def __post_init__(self) -> None:
        for name in ("retention", "lease", "handler_timeout"):
            if getattr(self, name) <= timedelta(0):
                raise ValueError(f"{name} is {getattr(self, name)}: give a time above 0")
        if self.clock_skew >= self.retention:
            raise ValueError(
                f"clock_skew is {self.clock_skew}, and retention {self.retention}: with no less "
                "every message is TOO_OLD"
            )
        resolve({}, {}, self.limits or {})


class Guard:
    """Guards the deliveries of one scope. Its methods may be called from several threads, each with
    deliveries of its own."""

    def __init__(
        self,
        store: PostgresStore,
        scope: str,
        config: GuardConfig | None = None,
        observer: observe.Observer | None = None,
    ) -> None:
        if not _is_scope(scope):
            raise ValueError(
                f"scope is {scope!r}: give 1 to 200 characters of [A-Za-z0-9._-], usually the "
                "consumer group's name"
            )
        if not store.follow_ups:
            raise ValueError(
                f"the store {store.name} keeps records alone: give one with the tables msg_retry "
                "and dead_letter (PostgresStore)"
            )
        self.store = store
        self.scope = scope
        self.config = config or GuardConfig()
        self.observer = observer
        self.audit: Audit | None = None
        """What counts deliveries for the store, if anything."""
        self._retention_ms = self.config.retention // _MILLISECOND
        self._skew_ms = max(self.config.clock_skew // _MILLISECOND, 0)
        self._slack = (self.config.lease / 3).total_seconds()
        self._policies: dict[tuple[int, Alike | None], tuple[Rules, Policy]] = {}

    def measure(self, metric: str, value: float, **labels: str) -> None:
        if self.observer is not None:
            self.observer.measure(metric, labels, value)

    # Opening

    def parse(self, fetched: Fetched, received: float | None = None) -> Delivery:
        """What a delivery is by its headers. Faulty ones end it as MALFORMED (HDR-016), and a
        target_scope of another scope skips it. It was received now, unless a time on the monotonic
        clock says otherwise."""
        d = Delivery(fetched, time.monotonic() if received is None else received)
        d.origin = origin_of(fetched.topic, self.scope)
        if not open_quickly(d):
            self._open(d)
        return d

    def _open(self, d: Delivery) -> None:
        try:
            envelope = d.envelope
        except IdemError as error:
            d.given_envelope = {}
            d.end(Result(Outcome.MALFORMED, f"BAD_HEADERS: {error}"), error)
            return
        if envelope.get("target_scope", self.scope) != self.scope:
            d.status = Status.SKIPPED
            return
        d.key = envelope.get("idempotency_key", "")
        d.key_previous = envelope.get("idempotency_key_previous", "")
        d.fingerprint = envelope.get("fingerprint", "")
        d.produced_at = envelope.get("produced_at", "")
        d.header_retries = d.retry_count = int(envelope.get("retry_count", "0"))
        d.header_holds = d.hold_count = int(envelope.get("hold_count", "0"))
        d.redrive_count = int(envelope.get("redrive_count", "0"))
        d.biz_key = envelope.get("biz_key", "") or biz_key_of(d.fetched.key)

    def route(self, d: Delivery, rules: Rules) -> None:
        """Applies the rules of a route: size, key, policy, lane."""
        d.rules = rules
        if d.status is not Status.OPENED:
            return
        size = len(d.fetched.value or b"")
        if rules.max_bytes is not None and size > rules.max_bytes:
            reason = f"MESSAGE_TOO_LARGE: {size} bytes, the limit is {rules.max_bytes}"
            d.end(Result(Outcome.MALFORMED, reason))
            return
        if not d.key and not self._take_key(d, rules):
            return
        d.policy = self._policy(d, rules)
        if rules.order is not Order.UNORDERED and d.key and d.biz_key:
            d.lane = Lane(d.origin, d.biz_key)

    def _take_key(self, d: Delivery, rules: Rules) -> bool:
        """Finds a key for a message without one, as the route says. (KEY-022)"""
        if rules.missing_key is MissingKey.PASS_THROUGH:
            return True
        if isinstance(rules.missing_key, MissingKey):
            reason = (
                "MISSING_KEY: no idempotency_key header; a route takes such messages by missing_key"
            )
            d.end(Result(Outcome.MALFORMED, reason))
            return False
        try:
            key = rules.missing_key(d.fetched)
            if not _is_key(key):
                raise ValueError(f"{key!r} is no key of 1 to 1024 bytes from 21 to 7E")
        except Exception as error:
            d.end(Result(Outcome.MALFORMED, f"BAD_KEY: {reason_of(error)}"), error)
            return False
        d.key = key
        return True

    def _policy(self, d: Delivery, rules: Rules) -> Policy:
        """That of the headers, within the limits; headers that are alike have one."""
        asked = id(rules), d.alike
        known = None if d.alike is None else self._policies.get(asked)
        if known is None:
            policy = resolve(policy_values(d.envelope), rules.policy, self.config.limits or {})
            if len(self._policies) >= 1024:  # of producers that send what no schema says
                self._policies.clear()
            self._policies[asked] = known = rules, policy  # with the rules, whose id it has
        return known[1]

    def shadow(self, d: Delivery, judged: Result | None) -> None:
        """Tells what would become of a delivery, and skips it."""
        if judged is not None:
            d.end(judged)
        d.shadow = True
        self._decide(d)
        if self.observer is not None:
            observe.delivery(self.observer, self.scope, d)
        if d.result.outcome is not Outcome.OK or d.result.reason:
            _say(logging.INFO, d, f"shadow, {d.decision.action.value}")
        d.status = Status.SKIPPED

    # Claiming

    def claim(self, deliveries: Iterable[Delivery]) -> None:
        """Asks the store which of the opened deliveries may run. They are READY, ENDED or PARKED
        then. Where it raises some of them are still OPENED: call it again with the same ones, which
        then claim by the same owner. (DEDUP-013)"""
        prefix, now = secrets.token_urlsafe(12), time.monotonic()
        oldest_ms = time.time_ns() // 1_000_000 + self._skew_ms - self._retention_ms
        oldest = timestamp_of_epoch(max(oldest_ms, 0), "ms", 3, "now")[:19] + "~"  # of that second
        new: dict[str, Delivery] = {}
        others: list[Delivery] = []
        for d in deliveries:
            if d.status is not Status.OPENED:
                continue
            key = d.key
            if not key:
                d.status = Status.READY
            elif (
                d.owner  # its reply was lost
                or d.retry_count
                or d.hold_count
                or d.redrive_count
                or d.key_previous
                or d.lane is not None
                or key in new
                or (d.produced_at <= oldest and _is_old(d, oldest_ms))
            ):
                others.append(d)
            else:
                new[key] = d
        for n, d in enumerate(others):
            if not d.owner:
                d.owner, d.claimed = f"{prefix}-{n}", now
        if new:
            others += self._claim_new(list(new.values()), prefix, now)
        if others:
            self._claim_any(others, oldest_ms)

    def _claim_new(self, batch: list[Delivery], prefix: str, now: float) -> list[Delivery]:
        """Returns those whose key was not new after all."""
        owners = [f"{prefix}.{n}" for n in range(len(batch))]
        for d, owner in zip(batch, owners, strict=True):
            d.owner, d.claimed = owner, now
        keys, fingerprints = [d.key for d in batch], [d.fingerprint for d in batch]
        leases_ms = [self._lease_ms(d.rules) for d in batch]
        claims = NewKeys(self.scope, keys, owners, fingerprints, leases_ms)
        made = self._call(self.store.claim_new, claims)
        ready, others = Status.READY, []
        new, lease_ms = New(self.scope, made.now_ms, leases_ms[0]), leases_ms[0]
        for d, own_ms in zip(batch, leases_ms, strict=True):
            if made.keys is not None and d.key not in made.keys:
                others.append(d)
                continue
            if own_ms != lease_ms:
                new, lease_ms = New(self.scope, made.now_ms, own_ms), own_ms
            d.status, d.new = ready, new
        return others

    def _claim_any(self, batch: list[Delivery], oldest_ms: int) -> None:
        claims = [self._claim_of(d, _is_old(d, oldest_ms)) for d in batch]
        grants = self._call(self.store.claim, claims)
        for d, grant in zip(batch, grants, strict=True):
            self._granted(d, grant)

    def _claim_of(self, d: Delivery, old: bool) -> Claim:
        return Claim(
            self.scope,
            d.key,
            d.owner,
            self._lease_ms(d.rules),
            max_attempts(d.policy.max_retry),
            d.fingerprint,
            d.key_previous,
            d.redrive_count,
            d.header_retries,
            d.header_holds,
            old,
            d.lane,
        )

    def _granted(self, d: Delivery, grant: Grant) -> None:
        d.grant = grant
        d.retry_count = max(d.retry_count, grant.retry_count)
        d.hold_count = max(d.hold_count, grant.hold_count)
        if grant.parked:
            d.status = Status.PARKED
            return
        outcome = grant.outcome()
        d.layer = "" if outcome is None else "store"
        if outcome is None:
            d.status = Status.READY
            d.alone = grant.recovered and grant.attempts >= 2
            return
        reason, after = "", 0
        if outcome is Outcome.DUPLICATE:
            d.value = grant.result
        elif outcome is Outcome.IN_PROGRESS:
            after = grant.wait_ms
        elif outcome is Outcome.KEY_REUSED:
            reason = f"KEY_REUSED: its fingerprint is {d.fingerprint}, and the key was used with "
            reason += grant.record_fingerprint
        elif outcome is Outcome.CRASH_LOOP:
            most = max_attempts(d.policy.max_retry)
            reason = f"CRASH_LOOP: {most} attempts are used up"
        elif outcome is Outcome.TOO_OLD:
            produced = d.produced_at or f"{d.fetched.time_ms} ms since 1970"
            reason = f"TOO_OLD: it was produced at {produced}, and records are kept for "
            reason += str(self.config.retention)
        d.end(Result(outcome, reason, after))

    # Running

    def timeout(self, rules: Rules) -> timedelta:
        return rules.handler_timeout or self.config.handler_timeout

    def _lease_ms(self, rules: Rules) -> int:
        if rules.mode is Mode.IDEMPOTENT:
            return self.config.lease // _MILLISECOND
        return (self.timeout(rules) + LEASE_MARGIN) // _MILLISECOND

    def message(self, d: Delivery, decode: Callable[[bytes], Any] | None) -> Message[Any] | None:
        """What the handler gets; None where the payload cannot be decoded, which ends the delivery
        as MALFORMED."""
        payload: Any = d.fetched.value
        if decode is not None:
            try:
                payload = decode(d.fetched.value or b"")
            except Exception as error:
                d.end(Result(Outcome.MALFORMED, f"BAD_PAYLOAD: {reason_of(error)}"), error)
                return None
        attempts = 1 if d.new is not None or d.grant is None else d.grant.attempts
        known, fetched = d.given_envelope, d.fetched
        d.message = Message(
            payload, d.key, d.event_type, d.biz_key, known, fetched, attempts, d.retry_count
        )
        return d.message

    def run(
        self,
        d: Delivery,
        handler: Callable[[Message[Any]], bytes | None],
        decode: Any,
        now: float | None = None,
    ) -> None:
        """Calls the handler of a READY delivery in mode idempotent, and ends it with what came of
        it."""
        start = time.monotonic() if now is None else now
        if d.status is not Status.READY:
            return
        if start - d.claimed >= self._slack:
            if not self.refresh(d):
                return
            start = time.monotonic()
        message = self.message(d, decode)
        if message is None:
            return
        error: BaseException | None = None
        try:
            result = handler(message)
            if result is not None:
                d.value = _kept(result)
        except Exception as raised:
            error = raised
        self.conclude(d, error, time.monotonic() - start)

    def run_tx(
        self, d: Delivery, handler: Callable[[Message[Any], Any], bytes | None], decode: Any
    ) -> None:
        """The same for a handler whose effect and SUCCESS are one transaction. Where the claim is
        no longer held everything is rolled back, and the outcome is FENCED. Where the reply to
        COMMIT is lost, the record says whether it was committed. (DEDUP-020, DEDUP-022)"""
        if d.status is not Status.READY or not self.refresh(d):
            return
        message = self.message(d, decode)
        if message is None:
            return
        start, asked = time.monotonic(), False
        try:
            with self.store.transaction(self.timeout(d.rules)) as tx:
                d.value = _kept(handler(message, tx.connection))
                self.check_result(d)
                if d.lease is not None:
                    tx.complete(d.completion())
                asked = True
        except Exception as error:
            self.conclude_tx(d, error, asked, time.monotonic() - start)
            return
        self.conclude(d, None, time.monotonic() - start)
        d.completed = not d.lost

    def check_result(self, d: Delivery) -> None:
        """Keeps a result that does not fit from being lost: what is in the transaction can still be
        taken back."""
        if len(d.value) > MAX_RESULT:
            raise NonRetryable(f"RESULT_TOO_LARGE: {len(d.value)} bytes, the limit is {MAX_RESULT}")

    def conclude(self, d: Delivery, error: BaseException | None, seconds: float) -> None:
        """Ends a delivery by its handler's error. The handler is waited for, also beyond its time:
        one that succeeds all the same has succeeded."""
        d.status, d.error, d.seconds, d.ran = Status.ENDED, error, seconds, True
        if d.lost:
            self.fenced(d)
        elif error is None:
            if d.result is not OK:
                d.result = OK
        elif seconds >= self.timeout(d.rules).total_seconds() and is_interrupted(error):
            reason = f"TIMEOUT: the handler took longer than {self.timeout(d.rules)}"
            d.result = Result(Outcome.RETRYABLE, reason)
        else:
            d.result = result_of(error)
            if isinstance(error, StateFailure):
                d.layer, d.superseded = "state", error.superseded
                d.superseded_by = error.superseded_by

    def conclude_tx(self, d: Delivery, error: BaseException, asked: bool, seconds: float) -> None:
        """Ends a delivery whose transaction failed; `asked` says that its COMMIT was sent."""
        if isinstance(error, NotBegun):
            self.not_started(d, error)
        elif isinstance(error, Fenced):
            self.fenced(d)
            d.error = error
        elif not (asked and d.lease is not None and self._committed(d, error)):
            self.conclude(d, error, seconds)

    def _committed(self, d: Delivery, error: BaseException) -> bool:
        """Finds out what became of a COMMIT that came back with an error; True where d has ended by
        it. Otherwise it may still come true: what is written under the lease then finds the claim
        gone, and looks again."""
        d.error, d.unsure = error, True
        try:
            record = self._record(d)
        except StoreError:
            return False
        if not _is_ours(d, record):
            self.fenced(d)
            return True
        if record is not None and record.record.state is RecordState.SUCCESS:
            d.status, d.result, d.completed = Status.ENDED, Result(Outcome.OK), True
            return True
        return False

    def _record(self, d: Delivery) -> StoredRecord | None:
        lease = d.lease
        assert lease is not None, "only of one that is held"
        return self.store.records(self.scope, [lease.key])[0]

    def refresh(self, d: Delivery) -> bool:
        """Renews a lease that has been waiting for its turn, so that the handler begins with nearly
        all of it. False: it is lost, or nobody can say."""
        if not self.needs_refresh(d):
            return True
        assert d.lease is not None, "needs_refresh says so"
        sent = time.monotonic()
        try:
            (held,) = self._call(self.store.renew, [Renewal(d.lease, self._lease_ms(d.rules))])
        except StoreError as error:
            self.not_started(d, error)
            return False
        if not held:
            self.fenced(d)
            return False
        d.claimed = sent
        return True

    def needs_refresh(self, d: Delivery) -> bool:
        slack = self._slack if d.rules.mode is Mode.IDEMPOTENT else _TX_SLACK
        return time.monotonic() - d.claimed >= slack and d.lease is not None

    def not_started(self, d: Delivery, error: Exception) -> None:
        """Ends a delivery whose handler was never called, for what is no fault of it: it is
        deferred, and no outage costs it a retry. (DEDUP-023)"""
        d.end(Result(Outcome.IN_PROGRESS, f"NOT_STARTED: {reason_of(error)}", 1000), error)

    def fenced(self, d: Delivery) -> None:
        """Ends a delivery whose lease is lost. Another claim of its key is live, or was."""
        d.status, d.completed = Status.ENDED, False
        d.result = Result(Outcome.FENCED, "", self._lease_ms(d.rules))
        if d.grant is not None:
            d.grant.lease = None

    # Settling

    def settle(self, deliveries: Iterable[Delivery]) -> list[Exception]:
        """Decides what follows from deliveries that are ENDED, PARKED or SKIPPED, and makes it
        durable: successes are completed in one call to the store, and all else is settled in
        another. Those that are `settled` may be acknowledged, unless they are `in_place`. One whose
        lane is free by now, where it had to park, is OPENED again: claim it.

        What comes back says that some are not durable, and are not `settled`: settle them again, as
        often as it takes, and never acknowledge them. (DEDUP-021)"""
        plain: list[Delivery] = []
        todo: list[Delivery] = []
        failures: list[Exception] = []
        for d in deliveries:
            if d.settled or d.status not in _TO_SETTLE:
                continue
            if (
                d.new is not None
                and d.result is OK
                and d.status is Status.ENDED
                and not (d.completed or d.unsure or d.lost)
                and d.lane is None
                and len(d.value) <= MAX_RESULT
            ):
                plain.append(d)
            else:
                todo.append(d)
        if plain:
            todo += self._complete_new(plain, failures)
        for _ in range(PASSES):
            if not todo:
                return failures
            todo = self._settle_pass(todo, failures)
        failures += [StoreError(f"settle {d.fetched.place()}: fenced out again") for d in todo]
        return failures

    def _complete_new(self, plain: list[Delivery], failures: list[Exception]) -> list[Delivery]:
        """What nearly all deliveries come to: the handler of a new key succeeded. Returns those
        that are fenced out."""
        keys, owners = [d.key for d in plain], [d.owner for d in plain]
        done = NewDone(self.scope, keys, owners, [d.value or None for d in plain])
        try:
            held = self._call(self.store.complete_new, done)
        except StoreError as error:
            failures.append(error)
            _unsure(plain)
            return []
        again: list[Delivery] = []
        if not all(held):
            for d, is_held in zip(plain, held, strict=True):
                if not is_held:
                    self._refused(d, RecordState.SUCCESS, again, failures)
            plain = [d for d, is_held in zip(plain, held, strict=True) if is_held]
        counts: dict[str, int] = {}
        for d in plain:
            d.completed = d.settled = True
            name = d.event_type
            counts[name] = counts.get(name, 0) + 1
        if self.audit is not None:
            for name, n in counts.items():
                self.audit.add((self.scope, name, Outcome.OK.value, Action.ACK.value, ""), n)
        if self.observer is not None:
            observe.successes(self.observer, self.scope, counts, plain)
        return again

    def _settle_pass(self, todo: list[Delivery], failures: list[Exception]) -> list[Delivery]:
        """Returns those that turned out to be fenced: they are settled again, without a claim."""
        completing: list[Delivery] = []
        completions: list[Completion] = []
        settling: list[Delivery] = []
        settlements: list[Settlement] = []
        again: list[Delivery] = []
        for d in todo:
            self._decide(d)
            if d.status is Status.SKIPPED or d.decision.action is not Action.ACK:
                settlement = self._plan(d)
                if settlement is None:
                    self._done(d)
                else:
                    settling.append(d)
                    settlements.append(settlement)
            elif not d.completed and d.lease is not None:
                if len(d.value) > MAX_RESULT:
                    # The effect is there, and cannot be taken back.
                    _say(logging.ERROR, d, f"result of {len(d.value)} bytes dropped")
                    d.value = b""
                completing.append(d)
                completions.append(d.completion())
            elif self._leaves(d):
                settling.append(d)
                lease = Lease(self.scope, d.key)
                settlements.append(Settlement(lease, lane=d.lane, leave=True))
            else:
                self._done(d)
        if completing:
            try:
                held = self._call(self.store.complete, completions)
            except StoreError as error:
                failures.append(error)
                _unsure(completing)
            else:
                for d, is_held in zip(completing, held, strict=True):
                    if is_held:
                        d.completed = True
                        self._done(d)
                    else:
                        self._refused(d, RecordState.SUCCESS, again, failures)
        self._settle_some(settling, settlements, again, failures)
        return again

    def _settle_some(
        self,
        settling: list[Delivery],
        settlements: list[Settlement],
        again: list[Delivery],
        failures: list[Exception],
    ) -> None:
        """Writes a batch; one that the store refuses for what is in it is cut in two, so that one
        bad row does not hold back the others."""
        if not settling:
            return
        try:
            answers = self._call(self.store.settle, settlements)
        except StoreError as error:
            _unsure(settling)
            half = len(settling) // 2
            if half and (error.sqlstate or "")[:2] in ("22", "23", "54"):
                self._settle_some(settling[:half], settlements[:half], again, failures)
                self._settle_some(settling[half:], settlements[half:], again, failures)
            else:
                failures.append(error)
            return
        for d, settlement, answer in zip(settling, settlements, answers, strict=True):
            if answer is Settled.WRITTEN:
                self._done(d)
            elif answer is Settled.UNPARKED:
                d.again()
            else:
                self._refused(d, settlement.state, again, failures)

    def _refused(
        self, d: Delivery, wanted: RecordState, again: list[Delivery], failures: list[Exception]
    ) -> None:
        """A write under a lease that is no longer held. It may be this very write, whose reply was
        lost: the record says so, by its fence. Else the delivery is deferred."""
        if d.unsure and d.lease is not None:
            try:
                record = self._record(d)
            except StoreError as error:
                failures.append(error)
                return
            if record is not None and _is_ours(d, record):
                state = record.record.state
                if state is RecordState.SUCCESS and wanted is not state:
                    # A COMMIT that came true late.
                    d.result, d.decision = Result(Outcome.OK), Decision(Action.ACK)
                    d.in_place = False
                if state in (wanted, RecordState.SUCCESS):
                    d.completed = state is RecordState.SUCCESS
                    self._done(d)
                    return
        self.measure(observe.LEASES_LOST, 1, group=self.scope)
        self.fenced(d)
        again.append(d)

    def _decide(self, d: Delivery) -> None:
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

    def _leaves(self, d: Delivery) -> bool:
        """Whether a duplicate was the head of its lane, which goes on."""
        if d.result.outcome is not Outcome.DUPLICATE or d.completed or d.lane is None:
            return False
        return d.grant is not None and d.grant.head

    def _plan(self, d: Delivery) -> Settlement | None:
        """What follows from a delivery that is not acknowledged; None where nothing is written."""
        if d.status is Status.SKIPPED:
            return None
        action = d.decision.action
        if d.hold_in_place and action in (Action.RETRY, Action.DEFER):
            d.in_place = True
            return None if d.lease is None else self._in_place(d, action is Action.DEFER)
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

    def _in_place(self, d: Delivery, give_back: bool) -> Settlement:
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
            settlement = self._in_place(d, True)
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
            scope=self.scope,
            key=d.key,
            source_topic=d.fetched.topic,
            source_partition=d.fetched.partition,
            source_offset=d.fetched.offset,
            topic=retry_topic(d.origin, self.scope),
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
            scope=self.scope,
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
            scope=self.scope,
            topic=d.origin,
            now_ms=now_ms,
        )

    def _done(self, d: Delivery) -> None:
        """What follows from a delivery is durable."""
        d.settled = True
        if d.shadow:
            return
        if self.audit is not None and d.status is not Status.SKIPPED:
            self.audit.add(self._kind(d))
        if self.observer is not None:
            observe.delivery(self.observer, self.scope, d)
        if d.superseded:
            _say(logging.WARNING, d, f"superseded by {d.superseded_by or 'another key'}")
        elif d.decision.action is Action.DEAD_LETTER:
            _say(logging.ERROR, d, "dead letter")
        elif d.decision.action is not Action.ACK:
            _say(logging.WARNING if d.ran else logging.INFO, d, d.decision.action.value)

    def _kind(self, d: Delivery) -> Kind:
        outcome = d.result.outcome
        layer = ""
        if d.superseded:
            layer = "state"
        elif outcome is Outcome.DUPLICATE:
            layer = d.layer or "handler"
        elif outcome in (Outcome.STALE, Outcome.KEY_REUSED):
            layer = d.layer
        name = SUPERSEDED if d.superseded else outcome.value
        return self.scope, d.event_type, name, d.decision.action.value, layer

    def settled_by_handler(self, d: Delivery) -> bool:
        """Settles a delivery whose SUCCESS was in its handler's transaction: nothing is left to be
        written."""
        if d.result.outcome is not Outcome.OK or d.status is not Status.ENDED:
            return False
        d.decision, d.in_place = ACK, False
        self._done(d)
        return True

    # Giving back

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Returns the claims of READY deliveries whose handler never started, and the attempts with
        them: they are OPENED again, and must not be acknowledged. (DEDUP-023)"""
        settlements = []
        for d in deliveries:
            if d.status is not Status.READY:
                continue
            d.decision = Decision(Action.ACK)
            if d.lease is not None:
                settlements.append(self._in_place(d, True))
            d.again()
        if settlements:
            self._call(self.store.settle, settlements)

    def _call(self, call: Callable[[Any], Any], batch: Sequence[Any]) -> Any:
        """A call to the store, whose errors are counted."""
        try:
            return call(batch)
        except StoreError:
            self.measure(observe.STORE_ERRORS, 1, store=self.store.name)
            raise
        except psycopg.Error as error:  # of the pool: no connection
            self.measure(observe.STORE_ERRORS, 1, store=self.store.name)
            raise StoreError(str(error)) from error


_TO_SETTLE = (Status.ENDED, Status.PARKED, Status.SKIPPED)
_DONE = (Outcome.OK, Outcome.DUPLICATE, Outcome.STALE)


def _kept(result: object) -> bytes:
    """What a handler returned: bytes to keep for duplicates, or nothing."""
    if result is None:
        return b""
    if isinstance(result, bytes):
        return result
    raise NonRetryable(
        f"BAD_RESULT: the handler returned a {type(result).__name__}: return bytes, or None"
    )


def _is_old(d: Delivery, oldest_ms: int) -> bool:
    """Whether a message was produced before a time in milliseconds, by its produced_at, else by the
    broker. (DEDUP-029)"""
    if not d.produced_at:
        return 0 < d.fetched.time_ms < oldest_ms
    seconds, nanos = parse_timestamp(d.produced_at)
    return seconds * 1000 + nanos // 1_000_000 < oldest_ms


def _is_ours(d: Delivery, record: StoredRecord | None) -> bool:
    """Whether a record is as the delivery's claim left it: under its fence, and under its owner
    while it is claimed."""
    lease = d.lease
    if record is None or lease is None or record.record.fence != lease.fence:
        return False
    return record.record.state is not RecordState.PROCESSING or record.record.owner == lease.owner


def _unsure(deliveries: list[Delivery]) -> None:
    for d in deliveries:
        d.unsure = True


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


def _say(level: int, d: Delivery, what: str) -> None:
    if log.isEnabledFor(level):
        log.log(
            level,
            "%s: %s at %s, key %s: %s %s",
            what,
            d.event_type or "no event_type",
            d.fetched.place(),
            d.key or "none",
            d.result.outcome.value,
            d.result.reason,
        )
