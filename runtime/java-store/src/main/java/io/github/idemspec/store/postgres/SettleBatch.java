package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Retry;
import io.github.idemspec.store.Settled;
import io.github.idemspec.store.Settlement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * One transaction of settlements, of two round trips. It ends early where a lane comes again that was
 * left: the next transaction sees who heads the lane by then.
 */
final class SettleBatch {
  private record Leaving(Lanes.Id lane, String key) {}

  private final PostgresConfig config;
  private final List<Settlement> settlements;
  private final Records records = new Records();
  private final Lanes lanes = new Lanes();
  private final RetryRows retries = new RetryRows();
  private final DeadRows dead = new DeadRows();
  private final List<Leaving> leaving = new ArrayList<>();

  SettleBatch(PostgresConfig config, List<Settlement> settlements) {
    this.config = config;
    this.settlements = settlements;
  }

  /** The answers to the first of the settlements, at least one. */
  List<Settled> in(Transactions.Transaction transaction) throws SQLException {
    transaction.send(this::ask);
    List<Settled> settled = new ArrayList<>(settlements.size());
    for (Settlement settlement : settlements) {
      Lanes.At at = laneOf(settlement);
      if (at != null && at.left) {
        break;
      }
      Settled answer = settle(settlement, at);
      settled.add(answer);
      if (answer == Settled.WRITTEN && leaves(settlement, at)) {
        at.left = true;
        leaving.add(
            new Leaving(
                Lanes.Id.of(settlement.scope(), settlement.lane()), settlement.key()));
      }
    }
    transaction.commit(this::write);
    return settled;
  }

  private Lanes.At laneOf(Settlement settlement) {
    return settlement.lane() == null
        ? null
        : lanes.get(Lanes.Id.of(settlement.scope(), settlement.lane()));
  }

  private static boolean leaves(Settlement settlement, Lanes.At at) {
    String key = settlement.key();
    boolean ends = settlement.leave() || settlement.deadLetter() != null && settlement.held();
    return at != null && ends && !key.isEmpty() && at.head.equals(key);
  }

  private void ask(Step step) {
    List<Retry> heading = new ArrayList<>(); // Those that may make a lane.
    for (Settlement settlement : settlements) {
      records.add(settlement.lease());
      if (settlement.lane() == null) {
        continue;
      }
      String key = settlement.key();
      Lanes.At at = lanes.add(Lanes.Id.of(settlement.scope(), settlement.lane()));
      Retry retry = settlement.retry();
      if (retry != null && !retry.park() && !settlement.leave() && !key.isEmpty()) {
        heading.add(retry);
        at.maker = at.maker.isEmpty() ? key : at.maker;
      }
    }
    records.lock(step);
    lanes.lock(step);
    retries.lock(step, heading);
  }

  private void write(Step step) {
    records.write(step);
    lanes.write(step);
    retries.write(step);
    dead.write(step);
    for (Leaving left : leaving) {
      Lanes.release(step, left.lane, left.key);
    }
  }

  /** Decides one of them on what those before it have left. */
  private Settled settle(Settlement settlement, Lanes.At at) {
    if (settlement.held() && !records.matches(settlement.lease())) {
      return Settled.FENCED;
    }
    String key = settlement.key();
    Retry retry = settlement.retry();
    boolean behind = at != null && !at.head.isEmpty() && !at.head.equals(key);
    if (retry != null && retry.park() && !behind) {
      return Settled.UNPARKED;
    }
    if (settlement.held()) {
      Instant expires = expires(settlement);
      for (Records.Entry entry : records.of(settlement.lease())) {
        entry.become(entry.record.settled(settlement, expires));
      }
    }
    if (retry != null) {
      boolean ordered = at != null && !key.isEmpty() && !settlement.leave();
      boolean written = retries.add(retry, settlement.lane(), ordered && behind);
      if (written && ordered && at.head.isEmpty()) {
        at.head = key;
      }
    }
    if (settlement.deadLetter() != null) {
      dead.add(settlement.deadLetter());
    }
    return Settled.WRITTEN;
  }

  /** At least the due time and the retention (DEDUP-029). */
  private Instant expires(Settlement settlement) {
    Instant from = records.now;
    if (settlement.retry() != null && !settlement.retry().due().isNegative()) {
      from = from.plus(settlement.retry().due());
    }
    return from.plus(config.retention());
  }
}
