from __future__ import annotations

from idemspec_runtime.watermark import Mark, Watermark


def added(watermark: Watermark[Mark], *offsets: int) -> list[Mark]:
    marks = [Mark(offset) for offset in offsets]
    assert all([watermark.add(mark) for mark in marks])
    return marks


def test_the_offset_is_behind_the_contiguous_run_of_settled_ones() -> None:
    watermark = Watermark[Mark]()
    one, two, three = added(watermark, 5, 6, 7)
    assert watermark.done(two) and watermark.offset is None
    assert watermark.done(one) and watermark.offset == 7
    assert watermark.done(three) and watermark.offset == 8 and len(watermark) == 0


def test_offsets_have_gaps() -> None:
    watermark = Watermark[Mark]()
    one, two = added(watermark, 5, 90)
    assert watermark.done(one) and watermark.offset == 6
    assert watermark.done(two) and watermark.offset == 91


def test_what_was_fetched_before_is_not_delivered_again() -> None:
    watermark = Watermark[Mark]()
    added(watermark, 5, 6)
    assert not watermark.add(Mark(6)) and not watermark.add(Mark(5))


def test_a_delivery_is_settled_once() -> None:
    watermark = Watermark[Mark]()
    (one,) = added(watermark, 5)
    assert watermark.done(one) and not watermark.done(one)


def test_what_is_settled_after_the_generation_moves_nothing() -> None:
    watermark = Watermark[Mark]()
    (one,) = added(watermark, 5)
    watermark.close()
    assert not watermark.done(one) and watermark.offset is None
