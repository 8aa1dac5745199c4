"""State machines, texts and outcomes of every enum of the schema (PLUG-010, OPT-040 to OPT-043)."""

from __future__ import annotations

import re

import pytest
from idem.conformance.v1 import payment_pb2, states_pb2
from idem.conformance.v1.payment_idem import OrderStateIdem
from idem.conformance.v1.states_idem import PaymentErrorIdem, TicketHTTPStateIdem
from idemspec import IdemError, Outcome, StateVerdict
from messages import ENUMS, ERROR, MESSAGES, STATE, STATE_MACHINE, Annotated, AnnotatedEnum

# By the number of idem.v1.Outcome.
OUTCOMES = ["RETRYABLE", "OK", "DUPLICATE", "RETRYABLE", "THROTTLED", "OUT_OF_ORDER"]
OUTCOMES += ["NON_RETRYABLE"]


def edges(enum: AnnotatedEnum) -> set[tuple[str, str]]:
    machine = enum.descriptor.GetOptions().Extensions[STATE_MACHINE]
    return {(getattr(edge, "from"), edge.to) for edge in machine.transition}


def prefix(name: str) -> str:
    words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3_\2\4", name)
    return words.upper() + "_"


@pytest.mark.parametrize("enum", ENUMS, ids=str)
def test_states(enum: AnnotatedEnum) -> None:
    is_machine = enum.descriptor.GetOptions().HasExtension(STATE_MACHINE)
    assert hasattr(enum.idem, "MACHINE") == is_machine
    assert hasattr(enum.idem, "text") == hasattr(enum.idem, "parse") == is_machine
    if not is_machine:
        return
    for number, value in enum.descriptor.values_by_number.items():
        # Of aliases the first one names the state.
        value = next(v for v in enum.descriptor.values if v.number == number)
        text = value.GetOptions().Extensions[STATE].text
        if not text:
            text = value.name.removeprefix(prefix(enum.descriptor.name)) or value.name
        assert enum.idem.text(number) == text
        assert enum.idem.parse(text) == number
    assert enum.idem.text(99) is None
    assert enum.idem.parse("") is None
    assert enum.idem.parse("no such state") is None


@pytest.mark.parametrize("enum", ENUMS, ids=str)
def test_outcomes(enum: AnnotatedEnum) -> None:
    stated = {
        value.number: OUTCOMES[value.GetOptions().Extensions[ERROR].outcome]
        for value in reversed(enum.descriptor.values)
        if value.GetOptions().HasExtension(ERROR)
    }
    assert hasattr(enum.idem, "classify") == bool(stated)
    if stated:
        for number in (*enum.descriptor.values_by_number, 99, -99):
            assert enum.idem.classify(number) is Outcome(stated.get(number, "RETRYABLE"))


@pytest.mark.parametrize("of", [m for m in MESSAGES if m.options.HasField("transition")], ids=str)
def test_verdicts(of: Annotated) -> None:
    enum = next(e for e in ENUMS if e.descriptor.full_name == of.options.transition.state_machine)
    graph = edges(enum)
    before, after = getattr(of.options.transition, "from"), of.options.transition.to
    reach = set(graph)
    while more := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= more
    named = {state for edge in graph for state in edge}
    for state in named | {""}:
        if state == before:
            expected = StateVerdict.APPLY
        elif state == after or (after, state) in reach:
            expected = StateVerdict.DUPLICATE
        elif (state, before) in reach or (state == "" and "" not in named):
            expected = StateVerdict.EARLY
        else:
            expected = StateVerdict.CONFLICT
        assert of.idem.verdict(state) is expected, state
        assert enum.idem.MACHINE.verdict(state, before, after) is expected, state
    with pytest.raises(IdemError, match="STATE_UNKNOWN"):
        of.idem.verdict("no such state")


def test_by_hand() -> None:
    assert TicketHTTPStateIdem.text(states_pb2.TICKET_HTTP_STATE_NEW) == "new"
    assert TicketHTTPStateIdem.parse("imported.v2") == states_pb2.TICKET_HTTP_STATE_IMPORTED
    # protoc's stubs know the type of what parse gives.
    paying: payment_pb2.OrderState | None = OrderStateIdem.parse("PAYING")
    assert paying == payment_pb2.ORDER_STATE_PAYING
    assert PaymentErrorIdem.classify(states_pb2.PAYMENT_ERROR_DECLINED) is Outcome.NON_RETRYABLE
    assert PaymentErrorIdem.classify(-7) is Outcome.RETRYABLE
