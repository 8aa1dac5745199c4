package io.github.idemspec.shop;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Completion;
import io.github.idemspec.store.FencedException;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lease;
import io.github.idemspec.store.Settlement;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.v1.Fingerprint;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.KeyBuilder;
import io.github.idemspec.v1.Transport;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests with an Idempotency-Key: the first with a key is carried out, and later ones get its answer.
 * What is done, the answer and the record of the key are one transaction.
 *
 * <p>The refusals are those of Go's {@code idemhttp}: 409 while the first request is in progress, 422
 * where the key comes with another one.
 */
final class KeyedRequests {
  /**
   * Whose keys they are. A service that knows who calls has the caller in the scope, or one caller would
   * get another's answer.
   */
  static final String SCOPE = "orders.http";

  private static final Logger LOG = LoggerFactory.getLogger(KeyedRequests.class);

  /** Longer than a request may take, so that nobody else begins one that still runs. */
  private static final Duration LEASE = Duration.ofSeconds(30);

  private static final Duration LIMIT = Duration.ofSeconds(10);

  /** How often a request may end without a word, its process killed. */
  private static final long MAX_ATTEMPTS = 5;

  private static final Fingerprint CONTENT = Fingerprint.ofTemplate("{method} {path}\n{body}");

  private final PostgresStore store;

  KeyedRequests(PostgresStore store) {
    this.store = store;
  }

  /** What a request asks for; a {@link Refused} rolls it back. */
  interface Work {
    Answer in(Connection connection) throws Exception;
  }

  /** The key in the values of Idempotency-Key, as the spec reads them (HDR-043); null without one. */
  static String keyOf(List<String> values) {
    if (values == null) {
      return null;
    }
    List<Header> headers = values.stream().map(v -> Header.of("Idempotency-Key", v)).toList();
    return Headers.parse(Transport.HTTP, headers).idempotencyKey();
  }

  /** What two requests with one key must have in common. */
  static String fingerprint(String method, String path, byte[] body) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((method + " " + path + "\n").getBytes(StandardCharsets.UTF_8));
      return CONTENT.of(new KeyBuilder().bytes(digest.digest(body)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The answer to a request; without a key its work is done as often as it is asked for. */
  Answer answer(String key, String fingerprint, Work work) throws Exception {
    if (key == null) {
      return store.inTx(LIMIT, tx -> work.in(tx.connection()));
    }
    String owner = UUID.randomUUID().toString();
    Claim claim =
        new Claim(SCOPE, key, "", owner, fingerprint, 0, 0, 0, MAX_ATTEMPTS, LEASE, false, null);
    Grant grant = store.claim(List.of(claim)).get(0);
    return grant.outcome() == null ? first(grant.lease(), work) : later(grant);
  }

  private Answer first(Lease lease, Work work) throws Exception {
    try {
      return store.inTx(
          LIMIT,
          tx -> {
            Answer answer = work.in(tx.connection());
            tx.complete().accept(new Completion(lease, answer.kept(), null, false));
            return answer;
          });
    } catch (FencedException e) { // It took longer than its lease, and another request has the key.
      return inProgress();
    } catch (Exception e) {
      release(lease);
      throw e;
    }
  }

  /** Makes the key free for the next request. Where that fails, the end of the lease does. */
  private void release(Lease lease) {
    try {
      store.settle(List.of(Settlement.failed(lease).giveBack(true).build()));
    } catch (StoreException e) {
      LOG.warn("the key is free when its lease ends: idempotency_key={}", lease.key(), e);
    }
  }

  private static Answer later(Grant grant) {
    switch (grant.outcome()) {
      case DUPLICATE:
        return Answer.again(grant.result());
      case IN_PROGRESS:
        return inProgress();
      case KEY_REUSED:
        throw Refused.keyReused(
            "the method, path or body differs from that of the first request with this"
                + " Idempotency-Key: send what you sent then, or use a new key for a new order");
      default:
        return Answer.problem(
                508,
                "The request ended without a word, again and again",
                "do not send it again; tell the service's operators its key")
            .type("crash-loop");
    }
  }

  private static Answer inProgress() {
    return Answer.problem(
            409,
            "A request with this key is being carried out",
            "send it again with the same Idempotency-Key after the time in Retry-After, to get its"
                + " answer")
        .type("in-progress")
        .header("Retry-After", "1");
  }
}
