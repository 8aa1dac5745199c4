"""Settlement: what follows from deliveries is made durable."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from idemspec import Action, Decision, Outcome, RecordState

from .. import observe
from ..audit import SUPERSEDED, Audit, Kind
from ..delivery import ACK, OK, Delivery, Status
from ..errors import StoreError
from ..failures import Result
from ..records import MAX_RESULT, Completion, Lease, NewDone, Settled, Settlement
from .followups import FollowUps
from .leases import Leases, is_ours

log = logging.getLogger("idemspec")

PASSES = 4
"""How often `settle` goes over what turned out otherwise: what is fenced is deferred, under no
claim, which nothing can fence out."""

_TO_SETTLE = (Status.ENDED, Status.PARKED, Status.SKIPPED)


class Settler:
    def __init__(self, leases: Leases, audit: Audit | None) -> None:
        self._leases = leases
        self._scope = leases.scope
        self._observer = leases.observer
        self._audit = audit
        self._follow_ups = FollowUps(leases.scope)

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
        done = NewDone(self._scope, keys, owners, [d.value or None for d in plain])
        try:
            held = self._leases.call(self._leases.store.complete_new, done)
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
        if self._audit is not None:
            for name, n in counts.items():
                self._audit.add((self._scope, name, Outcome.OK.value, Action.ACK.value, ""), n)
        if self._observer is not None:
            observe.successes(self._observer, self._scope, counts, plain)
        return again

    def _settle_pass(self, todo: list[Delivery], failures: list[Exception]) -> list[Delivery]:
        """Returns those that turned out to be fenced: they are settled again, without a claim."""
        completing: list[Delivery] = []
        completions: list[Completion] = []
        settling: list[Delivery] = []
        settlements: list[Settlement] = []
        again: list[Delivery] = []
        for d in todo:
            self._follow_ups.decide(d)
            if d.status is Status.SKIPPED or d.decision.action is not Action.ACK:
                settlement = self._follow_ups.plan(d)
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
            elif self._follow_ups.leaves(d):
                settling.append(d)
                lease = Lease(self._scope, d.key)
                settlements.append(Settlement(lease, lane=d.lane, leave=True))
            else:
                self._done(d)
        if completing:
            try:
                held = self._leases.call(self._leases.store.complete, completions)
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
            answers = self._leases.call(self._leases.store.settle, settlements)
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
                record = self._leases.record(d)
            except StoreError as error:
                failures.append(error)
                return
            if record is not None and is_ours(d, record):
                state = record.record.state
                if state is RecordState.SUCCESS and wanted is not state:
                    # A COMMIT that came true late.
                    d.result, d.decision = Result(Outcome.OK), Decision(Action.ACK)
                    d.in_place = False
                if state in (wanted, RecordState.SUCCESS):
                    d.completed = state is RecordState.SUCCESS
                    self._done(d)
                    return
        self._leases.measure(observe.LEASES_LOST, 1, group=self._scope)
        self._leases.fenced(d)
        again.append(d)

    def _done(self, d: Delivery) -> None:
        """What follows from a delivery is durable."""
        d.settled = True
        if d.shadow:
            return
        if self._audit is not None and d.status is not Status.SKIPPED:
            self._audit.add(self._kind(d))
        if self._observer is not None:
            observe.delivery(self._observer, self._scope, d)
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
        return self._scope, d.event_type, name, d.decision.action.value, layer

    def settled_by_handler(self, d: Delivery) -> bool:
        """Settles a delivery whose SUCCESS was in its handler's transaction: nothing is left to be
        written."""
        if d.result.outcome is not Outcome.OK or d.status is not Status.ENDED:
            return False
        d.decision, d.in_place = ACK, False
        self._done(d)
        return True

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Returns the claims of READY deliveries whose handler never started, and the attempts with
        them: they are OPENED again, and must not be acknowledged. (DEDUP-023)"""
        settlements = []
        for d in deliveries:
            if d.status is not Status.READY:
                continue
            d.decision = Decision(Action.ACK)
            if d.lease is not None:
                settlements.append(self._follow_ups.in_place(d, True))
            d.again()
        if settlements:
            self._leases.call(self._leases.store.settle, settlements)

    def shadow(self, d: Delivery, judged: Result | None) -> None:
        """Tells what would become of a delivery, and skips it."""
        if judged is not None:
            d.end(judged)
        d.shadow = True
        self._follow_ups.decide(d)
        if self._observer is not None:
            observe.delivery(self._observer, self._scope, d)
        if d.result.outcome is not Outcome.OK or d.result.reason:
            _say(logging.INFO, d, f"shadow, {d.decision.action.value}")
        d.status = Status.SKIPPED


def _unsure(deliveries: list[Delivery]) -> None:
    for d in deliveries:
        d.unsure = True


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
