"""Admission (DEDUP-001 to DEDUP-006)."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import pytest
from idemspec import Admission, AdmissionVerdict, Delivery, Record, RecordState, admit, max_attempts

NOW, LEASE = 1200, 500
ONE, OTHER = "00000001-aaaaaaaaaaaaaaaa", "00000001-bbbbbbbbbbbbbbbb"
ELSEWHERE = "00000002-bbbbbbbbbbbbbbbb"

PROCEED = AdmissionVerdict.PROCEED
expired = Record(RecordState.PROCESSING, 3, 2, "w1", 1, 5, lease_until_ms=1000)
live = replace(expired, lease_until_ms=1201)
failed = Record(RecordState.FAILED, 3, 2, "w1", 1, 5)
dead = replace(failed, state=RecordState.DEAD)
done = replace(failed, state=RecordState.SUCCESS, result=b"ok")


def ask(
    record: Record | None, redrive_count: int, position: int, owner: str = "w2", **more: Any
) -> Admission:
    """The admission of a delivery at 1200, by w2, with a lease of 500 and 9 attempts at most."""
    most = more.pop("max_attempts", 9)
    delivery = Delivery(redrive_count, position, more.pop("fingerprint", None))
    return admit(record, delivery, now_ms=NOW, lease_ms=LEASE, max_attempts=most, owner=owner)


def claim(fence: int, attempts: int, recovered: bool = False) -> Admission:
    return Admission(PROCEED, fence, attempts, NOW + LEASE, recovered)


stale = Admission(AdmissionVerdict.STALE)
crash_loop = Admission(AdmissionVerdict.CRASH_LOOP)
key_reused = Admission(AdmissionVerdict.KEY_REUSED)


@pytest.mark.parametrize(
    ("record", "redrive_count", "position", "expected"),
    [
        (None, 0, 0, claim(1, 1)),
        (None, 7, 9, claim(1, 1)),
        (done, 1, 5, Admission(AdmissionVerdict.DUPLICATE, result=b"ok")),
        (done, 0, 0, Admission(AdmissionVerdict.DUPLICATE, result=b"ok")),
        (done, 2, 0, Admission(AdmissionVerdict.DUPLICATE, result=b"ok")),
        (replace(done, result=b""), 1, 5, Admission(AdmissionVerdict.DUPLICATE)),
        (failed, 0, 9, stale),
        (failed, 1, 4, stale),
        (failed, 1, 5, claim(4, 3)),
        (failed, 1, 6, claim(4, 3)),
        (failed, 2, 0, claim(4, 1)),
        (dead, 0, 9, stale),
        (dead, 1, 5, stale),
        (dead, 1, 9, stale),
        (dead, 2, 0, claim(4, 1)),
        (live, 0, 9, stale),
        (live, 1, 4, stale),
        (live, 1, 5, Admission(AdmissionVerdict.IN_PROGRESS, wait_ms=1)),
        (live, 2, 0, Admission(AdmissionVerdict.IN_PROGRESS, wait_ms=1)),
        (replace(live, lease_until_ms=1200), 1, 5, claim(4, 3, True)),
        (expired, 1, 5, claim(4, 3, True)),
        (expired, 1, 6, claim(4, 3, True)),
        (expired, 2, 0, claim(4, 1, True)),
        (expired, 1, 4, stale),
    ],
)
def test_admit(
    record: Record | None, redrive_count: int, position: int, expected: Admission
) -> None:
    """The first step of DEDUP-001 that fits is the answer."""
    assert ask(record, redrive_count, position) == expected


def test_what_a_verdict_does_not_use() -> None:
    """What a state or a verdict does not use is zero, or empty."""
    assert astuple(stale)[1:] == (0, 0, 0, False, b"", 0)
    assert astuple(failed)[6:] == (0, b"", None)


def test_a_lease_is_of_a_claim() -> None:
    """What a store keeps of a lease that is over holds nobody up."""
    assert ask(replace(live, state=RecordState.FAILED), 1, 5) == claim(4, 3)


def test_lost_reply() -> None:
    """The same owner gets its own live claim back unchanged, but no expired one."""
    assert ask(live, 1, 5, "w1") == Admission(PROCEED, 3, 2, 1201, False)
    assert ask(live, 1, 5, "w1", max_attempts=2) == Admission(PROCEED, 3, 2, 1201, False)
    assert ask(expired, 1, 5, "w1") == claim(4, 3, True)
    assert ask(failed, 1, 5, "w1") == claim(4, 3)


@pytest.mark.parametrize("record", [failed, expired])
def test_crash_loop(record: Record) -> None:
    """Used-up attempts end a life; a redrive begins another one."""
    assert ask(record, 1, 5, max_attempts=2) == crash_loop
    assert ask(record, 1, 5, max_attempts=1) == crash_loop
    assert ask(record, 1, 5, max_attempts=3).attempts == 3
    assert ask(record, 2, 0, max_attempts=1).attempts == 1


@pytest.mark.parametrize("record", [done, failed, dead, live, expired])
def test_key_reused(record: Record) -> None:
    """Comparable fingerprints that differ come before everything but a missing record."""
    marked = replace(record, fingerprint=ONE)
    assert ask(marked, 0, 0, fingerprint=OTHER) == key_reused
    assert ask(None, 0, 0, fingerprint=OTHER) == claim(1, 1)
    for fingerprint in (ONE, ELSEWHERE, None):
        assert ask(marked, 1, 5, fingerprint=fingerprint) == ask(record, 1, 5)
    assert ask(record, 1, 5, fingerprint=OTHER) == ask(record, 1, 5)


def test_max_attempts() -> None:
    """Three crashes are allowed beside the retries."""
    assert max_attempts(5) == 9
