from __future__ import annotations

from idemspec_runtime.breaker import Breaker, BreakerConfig, BreakerState, Verdict


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker(BreakerConfig(failures=2, pause=1.0, max_pause=3.0))
    assert not breaker.ends("a", Verdict.BROKE, False, now)
    assert breaker.ends("b", Verdict.BROKE, False, now), "the second key costs nothing any more"
    assert breaker.state is BreakerState.OPEN
    return breaker


def test_failures_of_one_key_say_nothing_of_the_route() -> None:
    breaker = Breaker(BreakerConfig(failures=2))
    for _ in range(5):
        assert not breaker.ends("a", Verdict.BROKE, False, 0.0)
    assert breaker.state is BreakerState.CLOSED


def test_a_success_between_failures_keeps_the_route_open_for_business() -> None:
    breaker = Breaker(BreakerConfig(failures=2))
    breaker.ends("a", Verdict.BROKE, False, 0.0)
    breaker.ends("b", Verdict.WORKED, False, 0.0)
    assert not breaker.ends("c", Verdict.BROKE, False, 0.0)
    assert breaker.state is BreakerState.CLOSED


def test_each_probe_is_of_another_key_unless_there_is_one_alone() -> None:
    breaker = opened()
    assert not breaker.admits("a", 0.5, only=False), "it rests"
    assert breaker.admits("a", 1.0, only=False) and breaker.starts("a")
    assert not breaker.admits("b", 1.0, only=False), "one at a time"
    assert breaker.ends("a", Verdict.BROKE, True, 1.0)
    assert not breaker.admits("a", 9.0, only=False) and breaker.admits("a", 9.0, only=True)
    assert breaker.admits("b", 9.0, only=False)


def test_the_pause_doubles_up_to_its_limit() -> None:
    breaker = opened()
    pauses = []
    for n in range(3):
        now = breaker.until
        assert breaker.starts(f"k{n}")
        breaker.ends(f"k{n}", Verdict.BROKE, True, now)
        pauses.append(breaker.until - now)
    assert pauses == [2.0, 3.0, 3.0]


def test_a_probe_that_works_ends_the_rest() -> None:
    breaker = opened()
    breaker.starts("a")
    assert not breaker.ends("a", Verdict.WORKED, True, 1.0)
    assert breaker.state is BreakerState.CLOSED and breaker.quiet


def test_a_probe_that_says_nothing_is_followed_by_another_one_at_once() -> None:
    breaker = opened()
    breaker.starts("a")
    assert not breaker.ends("a", Verdict.NEITHER, True, 1.0)
    assert breaker.admits("b", 1.0, only=False)
