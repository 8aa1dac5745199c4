"""The removal of expired records: what a process knows of the pages of idem_record, which it reads
a slice after the other, round and round."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from .config import epoch_ms

LEAST_SLICES = 128
"""How many a round may read in any case: a small table is read as a whole."""
PASSES = 16
"""How often the table may be read in the retention, where that is more."""
WORTHWHILE = 100
"""From how many records on a slice was worth reading, and is not counted."""


class Slice(NamedTuple):
    """What clean.sql answers."""

    now: datetime
    removed: int
    left: int
    next: datetime | None


@dataclass
class Walk:
    """It begins anywhere, so that processes do not walk in step, and with nothing: each slice is
    read once. From then on it is known when the first record of a slice expires, and the slice is
    left alone until then. Times are milliseconds on the server's clock."""

    retention_ms: int
    turn: threading.Lock = field(default_factory=threading.Lock)
    """One call at a time."""
    files: str | None = None
    """Those of the table, or of its partitions."""
    pages: int = 1
    """Of a slice, in each of them."""
    due: list[int] = field(default_factory=list)
    """Of each slice."""
    next: int = 0
    """The slice that comes next."""
    began_ms: int = 0
    now_ms: int = 0
    ahead: int = 0
    """Slices of this round to look at."""
    reads: int = 0
    """And those of them to read in vain."""

    def begin(self, now: datetime, pages: int, slice_pages: int, files: str) -> None:
        """Begins a round."""
        self.pages = slice_pages
        now_ms, slices = epoch_ms(now), -(-pages // slice_pages)
        elapsed = now_ms - self.began_ms
        if files != self.files or elapsed < 0:  # other pages, or another clock
            self.files, self.due, elapsed = files, [0] * slices, 0
            self.next = random.randrange(max(slices, 1))
        del self.due[slices:]
        # What is in new ones was written since the last round.
        self.due += [self.began_ms + self.retention_ms] * (slices - len(self.due))
        if self.next >= slices:
            self.next = 0
        share = slices * PASSES * min(elapsed / self.retention_ms, 1.0)
        self.began_ms = self.now_ms = now_ms
        self.ahead, self.reads = slices, LEAST_SLICES + int(share)

    def find(self) -> bool:
        """Goes on to the next slice that has to be read, and says whether there is one in this
        round."""
        while self.ahead > 0 and self.reads > 0:
            if self.due[self.next] <= self.now_ms:
                return True
            self.leave()
        return False

    def leave(self) -> None:
        """Leaves a slice behind."""
        self.ahead -= 1
        self.next = (self.next + 1) % len(self.due)

    def read(self, found: Slice) -> None:
        """Keeps what was found in a slice, and leaves it behind."""
        self.now_ms = epoch_ms(found.now)
        due = self.now_ms + self.retention_ms
        if found.next is not None:
            due = min(due, epoch_ms(found.next))
        if found.left:  # others have locked or changed them
            due = self.now_ms + self.retention_ms // PASSES
        self.due[self.next] = due + 1  # not before it, for the part of a millisecond
        if found.removed < WORTHWHILE:
            self.reads -= 1
        self.leave()
