"""One delivery, or a batch: open, claim, run, decide, settle. A consumer does so for you; a loop of
your own calls `Guard.parse`, `route`, `claim`, `run` or `run_tx`, and `settle`."""

from __future__ import annotations

import re

from .. import observe
from ..audit import Audit
from ..postgres.sync import PostgresStore
from .claims import Claims
from .config import GuardConfig
from .handling import Handling
from .leases import Leases
from .opener import Opener
from .settler import Settler

__all__ = ["Guard", "GuardConfig"]

_is_scope = re.compile(r"[A-Za-z0-9._-]{1,200}").fullmatch


class Guard:
    """Guards the deliveries of one scope. What it does may be called from several threads, each
    with deliveries of its own."""

    def __init__(
        self,
        store: PostgresStore,
        scope: str,
        config: GuardConfig | None = None,
        observer: observe.Observer | None = None,
        audit: Audit | None = None,
    ) -> None:
        """`audit` counts deliveries for the store."""
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
        self.audit = audit
        leases = Leases(store, scope, self.config, observer)
        opener = Opener(scope, self.config.limits or {})
        settler = Settler(leases, audit)
        self.handling = Handling(leases)
        # Not methods that pass on what they are given: some are called for each message.
        self.measure, self.timeout = leases.measure, leases.timeout
        self.parse, self.route = opener.parse, opener.route
        self.claim = Claims(leases, self.config).claim
        self.run, self.run_tx = self.handling.run, self.handling.run_tx
        self.settle, self.give_back = settler.settle, settler.give_back
        self.settled_by_handler, self.shadow = settler.settled_by_handler, settler.shadow
