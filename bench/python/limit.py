"""The limit: the key by hand, for input that is known to be canonical.

It has the checks that may not be left out: a component that is not set, one with a byte that would
have to be escaped, a time out of range, and a key over 1024 bytes are errors. It does not see a
decimal like 1.50, which is why nobody should write this.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from bench.v1.payment_pb2 import PaymentSettled
from shop.v1.payment_pb2 import PaymentSucceeded

_is_plain = re.compile(r"[A-Za-z0-9._-]+").fullmatch
_EPOCH = datetime(1970, 1, 1)


def shop_key(m: PaymentSucceeded) -> str:
    payment_id = m.payment_id
    if not _is_plain(payment_id):
        raise ValueError("payment_id")
    key = f"payments.payment_success:v1:{payment_id}"
    if len(key) > 1024:
        raise ValueError("key")
    return key


def settled_key(m: PaymentSettled) -> str:
    payment_id, amount, currency = m.payment_id, m.amount, m.currency
    if not _is_plain(payment_id):
        raise ValueError("payment_id")
    if not _is_plain(amount):
        raise ValueError("amount")
    if not _is_plain(currency):
        raise ValueError("currency")
    if not m.HasField("occurred_at"):
        raise ValueError("occurred_at")
    at = m.occurred_at
    nanos = at.nanos
    if not 0 <= nanos <= 999_999_999:
        raise ValueError("occurred_at")
    # An OverflowError outside of the years 1 to 9999.
    moment = _EPOCH + timedelta(0, at.seconds, nanos // 1000)
    key = (
        f"payments.payment_settled:v1:{payment_id}:{amount}:{currency}"
        f":{moment.isoformat('T', 'milliseconds')}Z"
    )
    if len(key) > 1024:
        raise ValueError("key")
    return key
