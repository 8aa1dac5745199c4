"""The mail provider: an effect outside, which no transaction can take back."""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from idemspec import Outcome, classify_http
from idemspec_runtime import Failure, NonRetryable, Retryable, Throttled

log = logging.getLogger("notifications")

TIMEOUT_SECONDS = 3.0
"""Short, since the others of a batch wait for it too; what it cuts off is asked for again by its
key."""
REMEMBERED = 10_000


class Mail:
    """Hands mails to the provider at `url`. It may be called from several threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"MAIL_URL is {url!r}: give one such as http://127.0.0.1:8080/mail")
        self._connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._path = parts.netloc, parts.path or "/"
        self._threads = threading.local()
        self._taken: OrderedDict[str, datetime] = OrderedDict()
        self._lock = threading.Lock()

    def send(self, key: str, mail: dict[str, str]) -> datetime:
        """Asks for a mail, and says when the provider took it. It may ask twice, after a timeout or
        a crash: the key goes along, so that the provider can tell. What it has taken is not asked
        for again by this process, where the transaction around it is tried again."""
        with self._lock:
            taken = self._taken.get(key)
        if taken is not None:
            return taken
        self._post(key, json.dumps(mail))
        now = datetime.now(timezone.utc)
        with self._lock:
            self._taken[key] = now
            if len(self._taken) > REMEMBERED:
                self._taken.popitem(last=False)
        return now

    def _post(self, key: str, body: str) -> None:
        connection = getattr(self._threads, "connection", None)
        if connection is None:
            connection = self._connect(self._host, timeout=TIMEOUT_SECONDS)
            self._threads.connection = connection
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException) as error:
            connection.close()
            raise Retryable("MAIL_UNREACHABLE") from error
        if response.status >= 300:
            raise failure(response.status, response.headers.get("Retry-After", ""))


def failure(status: int, retry_after: str) -> Failure:
    """What an answer that is no success means, by the table of the spec (chapter 8)."""
    reason = f"MAIL_{status}"
    outcome = classify_http(status)
    if outcome is Outcome.THROTTLED:
        return Throttled(reason, after=int(retry_after) if retry_after.isdecimal() else 0)
    return NonRetryable(reason) if outcome is Outcome.NON_RETRYABLE else Retryable(reason)
