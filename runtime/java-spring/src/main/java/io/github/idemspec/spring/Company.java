package io.github.idemspec.spring;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MessageDelivery;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Which messages run at a time: those of all threads of the containers, or one alone that may take the
 * process along (DEDUP-024).
 */
final class Company {
  private final ReadWriteLock lock = new ReentrantReadWriteLock(true);

  /** Claims a delivery, and gives what to unlock once its handler has returned. */
  Lock claim(Guard guard, MessageDelivery d) {
    Lock shared = lock.readLock();
    if (claimUnder(shared, guard, d)) {
      return shared;
    }
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      guard.claim(List.of(d));
      return alone;
    } catch (RuntimeException | Error e) {
      alone.unlock();
      throw e;
    }
  }

  /** False for one that has to be alone: its claim is given back. */
  private static boolean claimUnder(Lock shared, Guard guard, MessageDelivery d) {
    boolean kept = false;
    shared.lock();
    try {
      guard.claim(List.of(d));
      kept = !d.alone();
      if (!kept) {
        guard.giveBack(List.of(d));
      }
      return kept;
    } finally {
      if (!kept) {
        shared.unlock();
      }
    }
  }
}
