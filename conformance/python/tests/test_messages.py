"""The `message` operation beside the vectors (CONF-040, CONF-041)."""

from __future__ import annotations

from typing import Any

import idemspec
import pytest
from messages import GENERATED, message

PAYMENT = "idem.conformance.v1.PaymentSucceeded"


def code(given: object) -> str:
    with pytest.raises(idemspec.IdemError) as raised:
        message(given)
    return raised.value.code


def test_output() -> None:
    payload = b"\x0a\x01o\x12\x011\x1a\x03USD\x2a\x04p/17".hex()
    context = {"event_id": "e", "topic": "", "produced_at": "2025-01-01T04:00:00.5Z"}
    output = message({"type": PAYMENT, "payload": payload, "context": context})
    assert output["idempotency_key"] == "payments.payment_success:v1:p%2F17"
    assert output["biz_key"] == "o"
    assert "idempotency_key_previous" not in output
    assert output["headers"][:5] == [
        ["idempotency_key", {"utf8": "payments.payment_success:v1:p%2F17"}],
        ["event_id", {"utf8": "e"}],
        ["event_type", {"utf8": "payments.payment_success"}],
        ["biz_key", {"utf8": "o"}],
        ["produced_at", {"utf8": "2025-01-01T04:00:00.500Z"}],
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": PAYMENT, "payload": "0a"}, "PAYLOAD_INVALID"),
        ({"type": PAYMENT, "payload": "0"}, "INPUT_INVALID"),
        ({"type": PAYMENT, "payload": "", "context": None}, "INPUT_INVALID"),
        ({"type": PAYMENT, "payload": "", "context": {"produced_at": ""}}, "INPUT_INVALID"),
        ({"type": "idem.conformance.v1.OrderState", "payload": "0a"}, "INPUT_INVALID"),
        ({"type": "idem.conformance.v1.Customer", "payload": "0a"}, "INPUT_INVALID"),
        ({"type": "idem.conformance.v1.Proto2Required", "payload": ""}, "PAYLOAD_INVALID"),
        ({"type": "idem.conformance.v1.None", "payload": ""}, "KEY_COMPONENT_MISSING"),
        ({"type": "idem.conformance.v1.lower_case.lambda", "payload": ""}, "KEY_COMPONENT_MISSING"),
    ],
)
def test_faults(given: dict[str, Any], expected: str) -> None:
    assert code(given) == expected


def test_generated_code_is_there() -> None:
    assert list(GENERATED.glob("idem/conformance/v1/*_idem.py"))
