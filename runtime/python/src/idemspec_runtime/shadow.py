"""Shadow mode: what would become of messages is computed, measured and logged; nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from idemspec import Outcome
from idemspec.fingerprints import conflict

from .delivery import Delivery
from .failures import Result, reason_of

SEEN_HALF = 50_000


class Shadow:
    """Judges the messages of one route. It is for one thread."""

    def __init__(self, event: Any) -> None:
        self._key_of: Callable[[Any], str] | None = getattr(event, "idempotency_key", None)
        # The fingerprints of the last keys, in two halves of which the older is forgotten whole.
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def judge(self, d: Delivery, decode: Callable[[bytes], Any] | None) -> Result:
        """Decodes the payload, compares the key that came with that of the schema, and looks for a
        duplicate among the messages before."""
        reason = ""
        if decode is not None:
            try:
                payload = decode(d.fetched.value or b"")
            except Exception as error:
                return Result(Outcome.MALFORMED, f"BAD_PAYLOAD: {reason_of(error)}")
            reason = self._compare(d, payload)
        if not d.key:
            return Result(Outcome.OK, reason)
        return Result(self._seen(d.key, d.envelope.get("fingerprint", "")), reason)

    def _compare(self, d: Delivery, payload: Any) -> str:
        if self._key_of is None or "idempotency_key" not in d.envelope:
            return ""
        try:
            key = self._key_of(payload)
        except Exception as error:
            return f"the schema gives no key: {reason_of(error)}"
        return "" if key == d.key else f"the schema's key is {key}"

    def _seen(self, key: str, fingerprint: str) -> Outcome:
        before = self._young.get(key, self._old.get(key))
        if before is not None:
            differ = conflict(before or None, fingerprint or None)
            return Outcome.KEY_REUSED if differ else Outcome.DUPLICATE
        if len(self._young) >= SEEN_HALF:
            self._young, self._old = {}, self._young
        self._young[key] = fingerprint
        return Outcome.OK
