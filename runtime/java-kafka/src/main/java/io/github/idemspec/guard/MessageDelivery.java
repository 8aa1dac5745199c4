package io.github.idemspec.guard;

import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lane;
import io.github.idemspec.state.Move;
import io.github.idemspec.state.Moved;
import io.github.idemspec.state.StateTable;
import io.github.idemspec.store.Lease;
import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.IdemException;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.StateMachine.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/**
 * One delivery on its way. It belongs to whoever is at work on it; handlers ask it for the message and
 * the key.
 */
public final class MessageDelivery {
  /** How far it has come. */
  public enum Status {
    /** It is parsed, and has to be claimed. */
    OPENED,
    /** It is claimed, or needs no claim, and may run. */
    READY,
    /** It has a result, and has to be settled. */
    ENDED,
    /** Another key is the head of its lane, and it has to be settled, which parks it. */
    PARKED,
    /** It is not for this consumer: settling acknowledges it and does nothing else. */
    SKIPPED
  }

  final String scope;
  final Message message;
  final Instant received;
  final String origin;
  Rules rules;
  Headers headers;
  String key = "";
  String bizKey = "";
  Lane lane;
  Policy policy = Policy.DEFAULT;
  int retryCount;
  int holdCount;
  Instant produced;

  Status status = Status.OPENED;
  Grant grant;
  Lease lease;
  Result result;
  Throwable error;
  byte[] value;
  boolean completed;
  Decision decision;
  boolean holdInPlace;
  boolean inPlace;
  boolean settled;
  boolean alone;
  Moved moved;
  boolean shadow;
  Duration handler = Duration.ZERO;

  /** Of the claim, kept until its reply is there. */
  String owner;

  /** By System.nanoTime, before the claim was sent: its lease began later. */
  long claimedAt;

  /** Something was written under the lease, and its reply is missing. */
  boolean unsure;

  volatile boolean lost;
  volatile Handling handling;

  MessageDelivery(String scope, Message message, String origin, Instant received) {
    this.scope = scope;
    this.message = message;
    this.origin = origin;
    this.received = received;
    produced = message.time();
  }

  /** The consumer's. */
  public String scope() {
    return scope;
  }

  /** The message. */
  public Message message() {
    return message;
  }

  /** What its headers say; null where they are faulty. */
  public Headers headers() {
    return headers;
  }

  /** The event type, or empty. */
  public String eventType() {
    return text(HeaderName.EVENT_TYPE);
  }

  /** The idempotency key, for whoever is called next; empty where there is none. */
  public String key() {
    return key;
  }

  /** What names the lane within the origin; empty for a message without one. */
  public String bizKey() {
    return bizKey;
  }

  /** The topic where the message began, also where it came by the retry topic. */
  public String origin() {
    return origin;
  }

  /** The rules it goes by. */
  public Rules rules() {
    return rules;
  }

  /** How far it has come. */
  public Status status() {
    return status;
  }

  /** What it came to; null before it has ended. */
  public Result result() {
    return result;
  }

  /** The outcome; null before it has ended. */
  public Outcome outcome() {
    return result == null ? null : result.outcome();
  }

  /** What follows; null before it was settled. */
  public Action action() {
    return decision == null ? null : decision.action();
  }

  /** How long until the next delivery, where one follows. */
  public Duration delay() {
    return decision == null ? Duration.ZERO : Duration.ofMillis(Math.max(decision.delayMs(), 0));
  }

  /** What the handler threw, or null. */
  public Throwable error() {
    return error;
  }

  /** How long the handler took. */
  public Duration handlerTime() {
    return handler;
  }

  /** The claims in this life of the message. */
  public long attempts() {
    return grant == null ? 0 : grant.attempts();
  }

  /**
   * The handler has to run with nothing else in this process: its claims ended without a word twice,
   * and it may take the process along (DEDUP-024).
   */
  public boolean alone() {
    return alone;
  }

  /** What is told of it was computed, and not done. */
  public boolean shadow() {
    return shadow;
  }

  /** SUCCESS is durable already. */
  public boolean completed() {
    return completed;
  }

  /** What follows is durable: unless {@link #inPlace}, it may be acknowledged. */
  public boolean settled() {
    return settled;
  }

  /** It was left to the caller: it must not be acknowledged. */
  public boolean inPlace() {
    return inPlace;
  }

  /** Of a duplicate, the result that was kept; else what {@link #keep} has. May be null. */
  public byte[] value() {
    return value;
  }

  /** Keeps a result for duplicates, at most 65,536 bytes. */
  public void keep(byte[] resultToKeep) {
    value = resultToKeep;
  }

  /** Makes an object of a payload. */
  public interface Decoder<T> {
    /** What it throws says that the payload is none. */
    T decode(byte[] payload) throws Exception;
  }

  /**
   * The payload as a decoder reads it: {@code delivery.decode(PaymentSucceeded::parseFrom)}. Where it
   * cannot be read that throws what makes the message MALFORMED (CONS-005). A null payload is read as no
   * bytes.
   */
  public <T> T decode(Decoder<T> decoder) {
    byte[] payload = message.value() == null ? new byte[0] : message.value();
    try {
      return decoder.decode(payload);
    } catch (Exception | StackOverflowError e) {
      throw new MalformedException(null, e);
    }
  }

  /**
   * Moves the object that the message is about, within the handler's transaction. Where the message does
   * not apply it throws what that means for the delivery: it was done, comes too early, or can never be
   * done. An object in a state that the machine does not have is tried again: it may be ahead of this
   * process's schema while a release rolls out (STATE-010 to STATE-012).
   */
  public void move(Connection connection, StateTable table, Move to) throws SQLException {
    try {
      moved = table.apply(connection, to, key, text(HeaderName.IDEMPOTENCY_KEY_PREVIOUS));
    } catch (IdemException e) {
      throw new RetryableException(e.getMessage(), e);
    }
    if (moved.verdict() != Verdict.APPLY) {
      throw StateException.of(moved, to.deadLetterSuperseded());
    }
  }

  /** What kept the message from another effect. */
  public Layer layer() {
    Outcome outcome = outcome();
    if (superseded()) {
      return Layer.STATE;
    }
    if (outcome == Outcome.DUPLICATE) {
      boolean known = grant != null && grant.outcome() != null;
      return known ? Layer.STORE : moved == null ? Layer.HANDLER : Layer.STATE;
    }
    boolean kept = outcome == Outcome.STALE || outcome == Outcome.KEY_REUSED;
    return kept ? Layer.STORE : Layer.NONE;
  }

  /** Another key made the transition that the message stands for (STATE-011). */
  public boolean superseded() {
    return moved != null && moved.superseded();
  }

  /** What the guard of its object's state has found, or null. */
  public Moved moved() {
    return moved;
  }

  /**
   * Has it settled as FAILED with nothing that follows: the caller keeps it, and tries again after
   * {@link #delay}, by {@link #again}. It makes no difference where it is acknowledged, held or
   * dead-lettered: {@link #inPlace} says whether it was so.
   */
  public void holdInPlace(boolean hold) {
    holdInPlace = hold;
  }

  /** Sets what it came to, for callers that find it out themselves. */
  public void end(Result newResult, Throwable cause) {
    status = Status.ENDED;
    result = newResult;
    error = cause;
  }

  /** Ends it as not for this consumer. */
  public void skip() {
    status = Status.SKIPPED;
  }

  /** Makes it one to claim again, with the counts that it has come to. */
  public void again() {
    status = Status.OPENED;
    settled = false;
    inPlace = false;
    holdInPlace = false;
    result = null;
    error = null;
    value = null;
    completed = false;
    decision = null;
    alone = false;
    moved = null;
    grant = null;
    lease = null;
    owner = null;
    unsure = false;
    lost = false;
  }

  /** Tells its handler to stop, where it runs. What comes of that is deferred. */
  public void cancel() {
    Handling running = handling;
    if (running != null) {
      running.cancel();
    }
  }

  String text(HeaderName name) {
    String text = headers == null ? null : headers.text(name);
    return text == null ? "" : text;
  }

  int redriveCount() {
    return headers == null ? 0 : headers.redriveCount();
  }

  /** There is a claim to settle under. */
  boolean held() {
    return lease != null && lease.held();
  }

  Completion completion() {
    return new Completion(lease, value, lane, grant.head());
  }

  /** What spreads the delays (RETRY-032). */
  String backoffKey() {
    return key.isEmpty() ? message.source().toString() : key;
  }
}
