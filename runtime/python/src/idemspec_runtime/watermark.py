"""Which offset of a partition may be committed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar


class Mark:
    """One delivery on its way."""

    done: bool = False

    def __init__(self, offset: int) -> None:
        self.offset = offset


M = TypeVar("M", bound=Mark)


class Watermark(Generic[M]):
    """The offset behind the last delivery of the contiguous run of settled ones, in the order
    fetched: offsets have gaps, which compaction and transactions leave. There is one for each
    (generation, partition): it is closed when the generation ends, and what is settled later moves
    nothing. It is for one thread at a time. (CONS-001, CONS-002)"""

    __slots__ = ("_ahead", "_closed", "_marks", "offset")

    def __init__(self, offset: int | None = None) -> None:
        self._marks: deque[M] = deque()
        self._ahead = -1
        self._closed = False
        self.offset = offset
        """To commit; None where nothing was settled yet."""

    def add(self, mark: M) -> bool:
        """Takes the next delivery in the order fetched. False says that its offset is not ahead of
        those before it: it was fetched before, and is not to be delivered again."""
        if mark.offset <= self._ahead:
            return False
        self._ahead = mark.offset
        self._marks.append(mark)
        return True

    def done(self, mark: M) -> bool:
        """Settles a delivery; False where the generation is over, or it was settled before."""
        if self._closed or mark.done:
            return False
        mark.done = True
        marks = self._marks
        while marks and marks[0].done:
            self.offset = marks.popleft().offset + 1
        return True

    def __len__(self) -> int:
        """How many there are from the oldest that is not settled to the last one."""
        return len(self._marks)

    def __iter__(self) -> Iterator[M]:
        """These, the settled ones between them too."""
        return iter(self._marks)

    def oldest(self) -> M | None:
        """The delivery that holds the offset."""
        return self._marks[0] if self._marks else None

    def close(self) -> None:
        self._closed = True
        self._marks.clear()
