"""Chapter 10: verdicts over a set of edges."""

from .errors import Fault

Edge = tuple[str, str]


def reachable(edges: set[Edge], start: str) -> set[str]:
    """The states that one edge or more lead to."""
    found: set[str] = set()
    border = {start}
    while border:
        border = {to for origin, to in edges if origin in border} - found
        found |= border
    return found


def verdict(edges: set[Edge], current: str, origin: str, to: str) -> str:
    """STATE-001 to STATE-006."""
    states = {state for edge in edges for state in edge}
    if any(state in reachable(edges, state) for state in states):
        raise Fault("STATE_CYCLE", "the transitions form a cycle")
    if origin not in states or to not in states:
        raise Fault("STATE_UNKNOWN", "no transition names the message's states")
    if current not in states and current != "":
        raise Fault("STATE_UNKNOWN", "no transition names the current state")
    if (origin, to) not in edges:
        raise Fault("TRANSITION_UNDECLARED", "no such transition")

    if current == origin:
        return "APPLY"
    if current == to or current in reachable(edges, to):
        return "DUPLICATE"
    if origin in reachable(edges, current):
        return "EARLY"
    if current == "" and "" not in states:
        return "EARLY"
    return "CONFLICT"
