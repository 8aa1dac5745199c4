package io.github.idemspec.kafka;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Which offset of one partition may be committed: the one behind the last delivery of the contiguous
 * run of settled ones, in the order fetched. Offsets may have gaps. There is one for each assignment of
 * a partition: it is closed when that ends, and what is settled later moves nothing (CONS-001,
 * CONS-002).
 */
final class Watermark {
  /** One delivery on its way. */
  static final class Mark {
    final long offset;
    private boolean done;

    private Mark(long offset) {
      this.offset = offset;
    }
  }

  static final long NONE = -1;

  private final Deque<Mark> marks = new ArrayDeque<>();
  private long offset = NONE;
  private long ahead;
  private boolean closed;

  /** Takes the next delivery; null where it was fetched before, and is not to be delivered again. */
  Mark add(long at) {
    if (closed || at < ahead) {
      return null;
    }
    Mark mark = new Mark(at);
    marks.addLast(mark);
    ahead = at + 1;
    return mark;
  }

  /** Settles a delivery. */
  void done(Mark mark) {
    mark.done = true;
    while (!closed && !marks.isEmpty() && marks.peekFirst().done) {
      offset = marks.removeFirst().offset + 1;
    }
  }

  /** The offset to commit; NONE before there is one. */
  long offset() {
    return offset;
  }

  /** From the oldest delivery that is not settled to the last one. */
  int span() {
    return marks.size();
  }

  void close() {
    closed = true;
    marks.clear();
  }
}
