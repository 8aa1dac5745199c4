"""State machines (STATE-001 to STATE-006)."""

from __future__ import annotations

import pytest
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import StateMachine, StateVerdict, Transition

ORDER = [("CREATED", "PAYING"), ("PAYING", "PAID"), ("PAID", "REFUNDED"), ("CREATED", "CANCELLED")]
CREATION = [("", "NEW"), *[("NEW", "CREATED"), *ORDER]]


@pytest.mark.parametrize(
    ("current", "verdict"),
    [
        ("PAYING", "APPLY"),
        ("PAID", "DUPLICATE"),
        ("REFUNDED", "DUPLICATE"),
        ("CREATED", "EARLY"),
        ("CANCELLED", "CONFLICT"),
        ("", "EARLY"),
    ],
)
def test_the_example(current: str, verdict: str) -> None:
    """The table of chapter 10."""
    assert StateMachine(ORDER).verdict(current, "PAYING", "PAID") is StateVerdict(verdict)


@pytest.mark.parametrize(
    ("current", "edge", "verdict"),
    [
        ("", ("", "NEW"), "APPLY"),
        ("", ("PAYING", "PAID"), "EARLY"),
        ("PAID", ("", "NEW"), "DUPLICATE"),
        ("CANCELLED", ("", "NEW"), "DUPLICATE"),
        ("CANCELLED", ("CREATED", "PAYING"), "CONFLICT"),
        ("NEW", ("PAYING", "PAID"), "EARLY"),
    ],
)
def test_creation(current: str, edge: tuple[str, str], verdict: str) -> None:
    """A missing row is the state "", which a machine may begin with."""
    assert StateMachine(CREATION).verdict(current, *edge) is StateVerdict(verdict)


def test_a_machine_of_its_own_beginning() -> None:
    """Where "" begins another branch, a missing row may conflict."""
    machine = StateMachine([("", "A"), ("B", "C")])
    assert machine.verdict("", "B", "C") is StateVerdict.CONFLICT


@pytest.mark.parametrize(
    "edges",
    [
        [("A", "A")],
        [("A", "B"), ("B", "A")],
        [("X", "A"), ("A", "B"), ("B", "C"), ("C", "A")],
        [("", "")],
        [("A", "B"), ("C", "D"), ("D", "C")],
    ],
)
def test_cycles(edges: list[tuple[str, str]]) -> None:
    """A cycle, a self-loop too, is refused before states are looked at."""
    fault("STATE_CYCLE", StateMachine, edges)


def test_unknown_before_undeclared() -> None:
    """A state of no transition comes before an edge that is none."""
    machine = StateMachine(ORDER)
    fault("STATE_UNKNOWN", machine.verdict, "PAYING", "X", "PAID")
    fault("STATE_UNKNOWN", machine.verdict, "PAYING", "PAYING", "X")
    fault("STATE_UNKNOWN", machine.verdict, "X", "CREATED", "PAID")
    fault("STATE_UNKNOWN", machine.verdict, "", "", "PAID")
    fault("STATE_UNKNOWN", machine.verdict, "paying", "PAYING", "PAID")
    fault("STATE_UNKNOWN", StateMachine([]).verdict, "", "", "")
    fault("TRANSITION_UNDECLARED", machine.verdict, "", "CREATED", "PAID")
    fault("TRANSITION_UNDECLARED", machine.verdict, "PAID", "PAID", "PAYING")
    fault("TRANSITION_UNDECLARED", machine.verdict, "PAID", "PAID", "PAID")


def test_an_edge_given_twice() -> None:
    """An edge counts once."""
    machine = StateMachine([*ORDER, *ORDER])
    assert machine.verdict("CREATED", "PAYING", "PAID") is StateVerdict.EARLY


def test_long_machines() -> None:
    """A machine of ten thousand states is no problem of depth or time."""
    machine = StateMachine((str(n), str(n + 1)) for n in range(10_000))
    assert machine.verdict("10000", "0", "1") is StateVerdict.DUPLICATE
    assert machine.verdict("0", "9999", "10000") is StateVerdict.EARLY


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] < e[1])))
def test_same_as_paths(edges: set[tuple[int, int]]) -> None:
    """Verdicts are those of a closure computed the slow way."""
    paths = set(edges)
    for _ in range(7):
        paths |= {(a, d) for a, b in paths for c, d in paths if b == c}
    machine = StateMachine((str(a), str(b)) for a, b in edges)
    states = {state for edge in edges for state in edge}
    for before, after in edges:
        for current in states:
            found = machine.verdict(str(current), str(before), str(after))
            if current == before:
                assert found is StateVerdict.APPLY
            elif current == after or (after, current) in paths:
                assert found is StateVerdict.DUPLICATE
            elif (current, before) in paths:
                assert found is StateVerdict.EARLY
            else:
                assert found is StateVerdict.CONFLICT


def test_transition() -> None:
    """A message's transition is superseded quietly unless its schema says otherwise."""
    assert not Transition("shop.v1.OrderState", "PAYING", "PAID").dead_letter_superseded
