package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Admission;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Outcome;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Asks the store which deliveries may run. */
final class Claiming {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Guard guard;

  Claiming(Guard guard) {
    this.guard = guard;
  }

  void claim(List<MessageDelivery> deliveries) {
    List<MessageDelivery> asked = new ArrayList<>(deliveries.size());
    List<Claim> claims = new ArrayList<>(deliveries.size());
    String prefix = token();
    long now = System.nanoTime();
    for (MessageDelivery d : deliveries) {
      if (d.status != Status.OPENED) {
        continue;
      }
      if (d.key.isEmpty()) {
        d.status = Status.READY;
        continue;
      }
      if (d.owner == null) {
        d.owner = prefix + "." + Integer.toString(asked.size(), Character.MAX_RADIX);
        d.claimedAt = now;
      }
      asked.add(d);
      claims.add(claimOf(d));
    }
    if (asked.isEmpty()) {
      return;
    }
    List<Grant> grants;
    try {
      grants = guard.store.claim(claims);
    } catch (StoreException e) {
      guard.storeError();
      throw e;
    }
    for (int i = 0; i < asked.size(); i++) {
      granted(asked.get(i), grants.get(i));
    }
  }

  /** 16 characters for 12 random bytes. */
  private static String token() {
    byte[] random = new byte[12];
    RANDOM.nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  private Claim claimOf(MessageDelivery d) {
    return new Claim(
        guard.scope(),
        d.key,
        d.text(HeaderName.IDEMPOTENCY_KEY_PREVIOUS),
        d.owner,
        d.text(HeaderName.FINGERPRINT),
        d.redriveCount(),
        d.headers.retryCount(),
        d.headers.holdCount(),
        d.policy.maxRetry() + Admission.EXTRA_ATTEMPTS,
        guard.lease(d.rules),
        isOld(d),
        d.lane);
  }

  private boolean isOld(MessageDelivery d) {
    GuardConfig config = guard.config;
    Instant kept = d.received.plus(config.clockSkew()).minus(config.retention());
    return d.produced != null && d.produced.isBefore(kept);
  }

  private void granted(MessageDelivery d, Grant grant) {
    d.grant = grant;
    d.lease = grant.lease();
    d.owner = null;
    d.retryCount = Math.max(d.retryCount, grant.retryCount());
    d.holdCount = Math.max(d.holdCount, grant.holdCount());
    if (grant.parked()) {
      d.status = Status.PARKED;
      return;
    }
    Outcome outcome = grant.outcome();
    if (outcome == null) {
      d.status = Status.READY;
      d.alone = grant.recovered() && grant.attempts() >= 2;
      return;
    }
    if (outcome == Outcome.DUPLICATE) {
      d.value = grant.result();
    }
    d.end(new Result(outcome, grant.waitMs(), reasonOf(d, outcome)), null);
  }

  private String reasonOf(MessageDelivery d, Outcome outcome) {
    switch (outcome) {
      case KEY_REUSED:
        return "KEY_REUSED: its fingerprint is "
            + d.text(HeaderName.FINGERPRINT)
            + ", and the key was used with "
            + d.grant.recordFingerprint();
      case CRASH_LOOP:
        return "CRASH_LOOP: "
            + (d.policy.maxRetry() + Admission.EXTRA_ATTEMPTS)
            + " attempts are used up";
      case TOO_OLD:
        return "TOO_OLD: it was produced at "
            + d.produced
            + ", and records are kept for "
            + guard.config.retention();
      default:
        return null;
    }
  }
}
