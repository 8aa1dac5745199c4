"""Every message of the schema against a reference that reads the options by reflection (PLUG-002,
PLUG-010)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from idemspec import Context, IdemError, Policy, Transition
from messages import GEN, MESSAGES, Annotated
from random_messages import fill
from reference import Fault, biz_key, headers, policy, render

TEMPLATES = ("idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint")

every_message = pytest.mark.parametrize("of", MESSAGES, ids=str)


def test_there_are_messages() -> None:
    assert len(MESSAGES) > 80
    assert len({of.idem.EVENT_TYPE for of in MESSAGES}) == len(MESSAGES)


@every_message
def test_members(of: Annotated) -> None:
    for name in TEMPLATES:
        assert hasattr(of.idem, name) == of.options.HasField(name), name
    assert hasattr(of.idem, "kafka_partition") == of.options.HasField("biz_key")
    assert hasattr(of.idem, "TRANSITION") == of.options.HasField("transition")
    assert hasattr(of.idem, "verdict") == of.options.HasField("transition")
    assert hasattr(of.idem, "POLICY") == of.options.HasField("retry")
    assert of.idem.EVENT_TYPE == of.options.idempotency_key.split(":")[0]
    if of.options.HasField("transition"):
        transition = of.options.transition
        assert of.idem.TRANSITION == Transition(
            transition.state_machine,
            getattr(transition, "from"),
            transition.to,
            dead_letter_superseded=transition.on_superseded == 2,
        )
    if of.options.HasField("retry"):
        retry = policy(of.options.retry)
        schedule = retry.pop("backoff_schedule", "")
        values = {name: int(value) for name, value in retry.items()}
        delays = tuple(map(int, schedule.split(","))) if schedule else ()
        assert of.idem.POLICY == Policy(**values, backoff_schedule=delays)


@every_message
@pytest.mark.parametrize("holes", [0, 0.1, 0.5, 1])
def test_texts(of: Annotated, holes: float) -> None:
    random = Random(f"{of.descriptor.full_name} {holes}")
    for _ in range(25 if holes < 1 else 1):
        message = of.new()
        fill(message, random, holes)
        before = message.SerializePartialToString()
        for name in ("idempotency_key", "idempotency_key_previous"):
            if of.options.HasField(name):
                template = getattr(of.options, name)
                same(getattr(of.idem, name), render, template, message)
        if of.options.HasField("biz_key"):
            same(of.idem.biz_key, biz_key, of.options.biz_key, message)
        same(lambda m: of.idem.headers(m, Context()), headers, of, message)
        # Reading changes nothing: no message on a path is set by it.
        assert message.SerializePartialToString() == before


def same(
    method: Callable[[Any], Any], reference: Callable[[Any, Any], Any], of: Any, message: Any
) -> None:
    try:
        expected = reference(of, message)
    except Fault as fault:
        with pytest.raises(IdemError) as raised:
            method(message)
        assert (raised.value.code, raised.value.field) == fault.args
    else:
        assert method(message) == expected


def test_nothing_reads_options() -> None:
    """Generated code imports no module of protoc's."""
    for path in GEN.glob("idem/conformance/**/*_idem.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.startswith(("import ", "from ")) or "_pb2" not in line, path
    assert "idem.v1.options_pb2" in sys.modules
