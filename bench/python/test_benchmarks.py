"""That every benchmark runs, and that both sides of a comparison make the same key."""

from __future__ import annotations

import limit
import measure_keys
import messages
import pytest
from bench.v1.payment_idem import PaymentSettledIdem
from shop.v1.payment_idem import PaymentSucceededIdem


def test_limit_is_the_key() -> None:
    """Whoever changes one of them sees it here."""
    succeeded, settled = messages.succeeded(), messages.settled()
    assert PaymentSucceededIdem.idempotency_key(succeeded) == messages.SHOP_KEY
    assert limit.shop_key(succeeded) == messages.SHOP_KEY
    assert PaymentSettledIdem.idempotency_key(settled) == messages.SETTLED_KEY
    assert limit.settled_key(settled) == messages.SETTLED_KEY


@pytest.mark.parametrize("name", measure_keys.contenders())
def test_benchmark_runs(name: str) -> None:
    """Once, without a look at the time."""
    assert measure_keys.contenders()[name]()
