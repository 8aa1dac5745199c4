"""The Python runtime behind standard input and output, beside which Java's is tested on one store.
It answers what runtime/go/internal/pair answers, as far as these tests ask.

    python pair.py DATABASE_URL [KAFKA_BROKERS]

Beyond that, {"Fail": {"Topic": …, "Group": …}} consumes a topic until a message of it is a row of
msg_retry, since its handler has failed.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from idemspec import AdmissionVerdict
from idemspec_runtime import Message, Retryable
from idemspec_runtime.kafka import Consumer, producer
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.records import Claim, Completion, Grant, Lease
from idemspec_runtime.scheduler import Scheduler


class Pair:
    """One store, and for its scheduler the brokers."""

    def __init__(self, store: PostgresStore, brokers: str) -> None:
        self._store = store
        self._brokers = brokers

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        ((name, value),) = request.items()
        return getattr(self, f"_{name.lower()}")(value)  # type: ignore[no-any-return]

    def _claim(self, claims: list[dict[str, Any]]) -> dict[str, Any]:
        asked = [
            Claim(c["Scope"], c["Key"], c["Owner"], c["Lease"] // 1_000_000, c["MaxAttempts"])
            for c in claims
        ]
        return {"Grants": [_grant(g) for g in self._store.claim(asked)]}

    def _complete(self, completions: list[dict[str, Any]]) -> dict[str, Any]:
        done = [Completion(_lease(c["Lease"]), base64.b64decode(c["Result"])) for c in completions]
        return {"Done": self._store.complete(done)}

    def _publish(self, rows: int) -> dict[str, Any]:
        scheduler = Scheduler(self._store, producer({"bootstrap.servers": self._brokers}))
        published = 0

        def all_published() -> bool:
            nonlocal published
            published += scheduler.step()
            return published >= rows

        _until(all_published)
        return {"Published": published}

    def _fail(self, of: dict[str, str]) -> dict[str, Any]:
        consumer = Consumer(of["Group"], [of["Topic"]], self._store, self._brokers, scheduler=False)

        @consumer.idempotent("payments.paid")
        def fail(message: Message[bytes]) -> None:
            raise Retryable("not in Python")

        thread = threading.Thread(target=consumer.run, kwargs={"signals": False})
        thread.start()
        _until(lambda: self._store.count_retries().pending == 1)
        consumer.stop()
        thread.join()
        return {}


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError("it does not come true")
        time.sleep(0.02)


def _grant(grant: Grant) -> dict[str, Any]:
    lease = grant.lease
    proceeds = grant.verdict is AdmissionVerdict.PROCEED
    return {
        "Verdict": "" if grant.verdict is None else grant.verdict.value,
        "Result": base64.b64encode(grant.result).decode(),
        "Lease": _lease_text(lease) if lease is not None and proceeds else None,
    }


def _lease_text(lease: Lease) -> dict[str, Any]:
    return {
        "Scope": lease.scope,
        "Key": lease.key,
        "Fence": lease.fence,
        "Owner": lease.owner,
    }


def _lease(lease: dict[str, Any]) -> Lease:
    return Lease(lease["Scope"], lease["Key"], lease["Fence"], lease["Owner"])


def main() -> None:
    brokers = sys.argv[2] if len(sys.argv) > 2 else ""
    with PostgresStore.open(sys.argv[1]) as store:
        pair = Pair(store, brokers)
        for line in sys.stdin:
            try:
                answer = pair.answer(json.loads(line))
            except Exception as error:  # it is the asker's to see
                answer = {"Error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
