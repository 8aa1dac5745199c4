"""Opening: what a delivery is by its headers, and by the rules of its route."""

from __future__ import annotations

import re
import time

from idemspec import IdemError, Outcome, Policy, PolicyValues, policy_values, resolve

from ..delivery import Delivery, MissingKey, Order, Rules, Status
from ..failures import Result, reason_of
from ..layouts import biz_key_of, open_quickly
from ..message import Fetched
from ..opening import Alike
from ..records import Lane
from ..topics import origin_of

_is_key = re.compile(r"[!-~]{1,1024}").fullmatch


class Opener:
    def __init__(self, scope: str, limits: PolicyValues) -> None:
        self._scope = scope
        self._limits = limits
        self._policies: dict[tuple[int, Alike | None], tuple[Rules, Policy]] = {}

    def parse(self, fetched: Fetched, received: float | None = None) -> Delivery:
        """What a delivery is by its headers. Faulty ones end it as MALFORMED (HDR-016), and a
        target_scope of another scope skips it. It was received now, unless a time on the monotonic
        clock says otherwise."""
        d = Delivery(fetched, time.monotonic() if received is None else received)
        d.origin = origin_of(fetched.topic, self._scope)
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
        if envelope.get("target_scope", self._scope) != self._scope:
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
            policy = resolve(policy_values(d.envelope), rules.policy, self._limits)
            if len(self._policies) >= 1024:  # of producers that send what no schema says
                self._policies.clear()
            self._policies[asked] = known = rules, policy  # with the rules, whose id it has
        return known[1]
