package io.github.idemspec.conformance;

import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Admission;
import io.github.idemspec.v1.Backoff;
import io.github.idemspec.v1.Classifier;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.DedupRecord;
import io.github.idemspec.v1.Delivery;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.Fingerprint;
import io.github.idemspec.v1.KeyBuilder;
import io.github.idemspec.v1.Outcome;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.Routing;
import io.github.idemspec.v1.StateMachine;
import io.github.idemspec.v1.Transition;
import io.github.idemspec.v1.Xxh64;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * The operations of chapter 12 but for those on headers and messages: from the input to the output's
 * members.
 */
final class Operations {
  private static final Map<String, Function<Input, Json.Obj>> ALL = new HashMap<>();

  static {
    for (String kind : List.of("decimal", "money", "timestamp", "duration", "date", "uuid")) {
      ALL.put(kind, in -> text(Component.typed(in, kind)));
    }
    ALL.put("component", in -> text(Component.read(in)));
    ALL.put("key", Operations::key);
    ALL.put("fingerprint", Operations::fingerprint);
    ALL.put("hash", Operations::hash);
    ALL.put("shard", in -> place(in, "shard", Routing::shard, Routing::shardOfHash));
    ALL.put("lane", in -> place(in, "lane", Routing::lane, Routing::laneOfHash));
    ALL.put("kafka_partition", Operations::kafkaPartition);
    ALL.put("policy", Operations::policy);
    ALL.put("backoff", Operations::backoff);
    ALL.put("decide", Operations::decide);
    ALL.put("admit", Operations::admit);
    ALL.put("transition", Operations::transition);
    ALL.put("classify", Operations::classify);
    ALL.put("headers", HeaderOperations::headers);
    ALL.put("next_headers", HeaderOperations::nextHeaders);
    ALL.put("message", MessageOperation::message);
  }

  private Operations() {}

  /** The operation, or null where there is none of that name. */
  static Function<Input, Json.Obj> find(String op) {
    return ALL.get(op);
  }

  static Json.Obj output(String name, Object value) {
    Json.Obj output = new Json.Obj();
    output.put(name, value);
    return output;
  }

  private static Json.Obj text(Component component) {
    KeyBuilder out = KeyBuilder.unbounded();
    component.appendTo(out);
    return output("text", out.key());
  }

  private static Json.Obj key(Input in) {
    Component segments = Component.segments(in);
    in.end();
    KeyBuilder out = new KeyBuilder();
    segments.appendTo(out);
    return output("key", out.key());
  }

  private static Json.Obj fingerprint(Input in) {
    String template = in.text("template");
    Component segments = Component.segments(in);
    in.end();
    KeyBuilder out = new KeyBuilder();
    segments.appendTo(out);
    return output("fingerprint", Fingerprint.ofTemplate(template).of(out));
  }

  private static Json.Obj hash(Input in) {
    byte[] bytes = in.hex("hex");
    in.end();
    return output("xxh64", Xxh64.hex(Xxh64.hash(bytes)));
  }

  private static Json.Obj place(
      Input in,
      String name,
      BiFunction<String, Integer, Integer> ofKey,
      BiFunction<Long, Integer, Integer> ofHash) {
    ToIntFunction<Integer> place;
    if (in.oneOf("key", "hash").equals("key")) {
      String key = in.text("key");
      place = n -> ofKey.apply(key, n);
    } else {
      long hash = in.hash("hash");
      place = n -> ofHash.apply(hash, n);
    }
    Int n = in.integer("n");
    in.end();
    return output(name, Integer.toString(place.applyAsInt(n.asInt32(ErrorCode.PARTITION_COUNT))));
  }

  private static Json.Obj kafkaPartition(Input in) {
    String key = in.text("key");
    Int n = in.integer("n");
    in.end();
    int partition = Routing.kafkaPartition(key, n.asInt32(ErrorCode.PARTITION_COUNT));
    return output("partition", Integer.toString(partition));
  }

  /** Values of a policy whose shape has been read. */
  private interface Values {
    Policy.Values get();
  }

  private static Values policyValues(Input in, boolean all, boolean scheduled) {
    List<Int> numbers = new ArrayList<>();
    String[] names = {"backoff_base", "backoff_max", "backoff_jitter", "max_retry", "max_hold"};
    for (int i = 0; i < names.length; i++) {
      boolean wanted = all ? i < 3 : in.has(names[i]);
      numbers.add(wanted ? in.integer(names[i]) : null);
    }
    List<Int> schedule = scheduled ? in.optionalIntegers("backoff_schedule") : List.of();
    in.end();
    return () -> {
      Policy.Values values = Policy.values();
      List<Function<Long, Policy.Values>> setters =
          List.of(
              values::backoffBaseSeconds,
              values::backoffMaxSeconds,
              values::backoffJitterMs,
              values::maxRetry,
              values::maxHold);
      for (int i = 0; i < setters.size(); i++) {
        if (numbers.get(i) != null) {
          setters.get(i).apply(numbers.get(i).saturated());
        }
      }
      return values.backoffScheduleMs(schedule.stream().mapToLong(Int::saturated).toArray());
    };
  }

  private static Json.Obj policy(Input in) {
    Values header = policyValues(in.object("header"), false, true);
    Values schema = policyValues(in.object("schema"), false, true);
    Values limit = policyValues(in.object("limit"), false, false);
    in.end();
    Policy policy = Policy.resolve(header.get(), schema.get(), limit.get());
    Json.Obj output = output("max_retry", Integer.toString(policy.maxRetry()));
    output.put("max_hold", Integer.toString(policy.maxHold()));
    output.put("backoff_base", Integer.toString(policy.backoffBaseSeconds()));
    output.put("backoff_jitter", Integer.toString(policy.backoffJitterMs()));
    output.put("backoff_max", Integer.toString(policy.backoffMaxSeconds()));
    if (policy.hasBackoffSchedule()) {
      List<Object> schedule = new ArrayList<>();
      for (int entry : policy.backoffScheduleMs()) {
        schedule.add(Integer.toString(entry));
      }
      output.put("backoff_schedule", schedule);
    }
    return output;
  }

  private static int policyCount(Int count) {
    return (int) count.in(0, Integer.MAX_VALUE, ErrorCode.POLICY_RANGE);
  }

  private static Json.Obj backoff(Input in) {
    String key = in.text("key");
    Int retryCount = in.integer("retry_count");
    Values values = policyValues(in.object("policy"), true, true);
    long retryAfterMs = in.wait("retry_after_ms");
    in.end();
    Policy policy = values.get().toPolicy();
    Backoff backoff = Backoff.of(key, policyCount(retryCount), policy, retryAfterMs);
    Json.Obj output = output("delay_ms", Long.toString(backoff.delayMs()));
    output.put("base_ms", Long.toString(backoff.baseMs()));
    output.put("jitter_ms", Long.toString(backoff.jitterMs()));
    return output;
  }

  static <E extends Enum<E>> E word(Class<E> type, String word) {
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(word)) {
        return constant;
      }
    }
    throw Input.invalid("no " + type.getSimpleName() + " " + word);
  }

  private static Json.Obj decide(Input in) {
    Outcome outcome = word(Outcome.class, in.text("outcome"));
    String key = in.text("key");
    Int retryCount = in.integer("retry_count");
    Int maxRetry = in.integer("max_retry");
    Int holdCount = in.integer("hold_count");
    Int maxHold = in.integer("max_hold");
    Values values = policyValues(in.object("policy"), true, true);
    String reason = in.optionalText("reason");
    boolean waits = outcome == Outcome.IN_PROGRESS || outcome == Outcome.FENCED;
    Input.check(!waits || in.has("wait_ms"), "no wait_ms");
    long waitMs = in.wait("wait_ms");
    long retryAfterMs = in.wait("retry_after_ms");
    in.end();
    Policy policy =
        values.get().maxRetry(maxRetry.saturated()).maxHold(maxHold.saturated()).toPolicy();
    int retries = policyCount(retryCount);
    int holds = policyCount(holdCount);
    long wait = waits ? waitMs : retryAfterMs;
    return decision(Decision.of(outcome, key, retries, holds, policy, wait, reason));
  }

  private static Json.Obj decision(Decision decision) {
    Json.Obj output = output("action", decision.action().name());
    if (decision.action() == Action.ACK) {
      return output;
    }
    if (decision.delayMs() >= 0) {
      output.put("delay_ms", Long.toString(decision.delayMs()));
    }
    output.put("retry_count", Long.toString(decision.retryCount()));
    output.put("hold_count", Long.toString(decision.holdCount()));
    if (decision.rejectReason() != null) {
      output.put("reject_reason", decision.rejectReason());
    }
    return output;
  }

  private static DedupRecord record(Object value) {
    if (value == null) {
      return null;
    }
    Input in = new Input(value);
    DedupRecord.State state = word(DedupRecord.State.class, in.text("state"));
    boolean processing = state == DedupRecord.State.PROCESSING;
    boolean hasResult = state == DedupRecord.State.SUCCESS && in.has("result");
    DedupRecord record =
        new DedupRecord(
            state,
            in.count("fence"),
            in.count("attempts"),
            in.text("owner"),
            in.count("redrive_count"),
            in.count("position"),
            processing ? in.count("lease_until_ms") : 0,
            hasResult ? in.hex("result") : null,
            fingerprintText(in));
    in.end();
    return record;
  }

  private static String fingerprintText(Input in) {
    String text = in.optionalText("fingerprint");
    Input.check(text == null || text.matches("[0-9a-f]{8}-[0-9a-f]{16}"), "no fingerprint " + text);
    return text;
  }

  private static Json.Obj admit(Input in) {
    DedupRecord record = record(in.anyOrNull("record"));
    Input arrival = in.object("delivery");
    long redriveCount = arrival.count("redrive_count");
    long position = arrival.count("position");
    arrival.end();
    long nowMs = in.count("now_ms");
    long leaseMs = in.integer("lease_ms", 1, Long.MAX_VALUE);
    long maxAttempts = in.integer("max_attempts", 1, Long.MAX_VALUE);
    String owner = in.text("owner");
    Delivery delivery = new Delivery(redriveCount, position, fingerprintText(in));
    in.end();
    Admission a = Admission.of(record, delivery, nowMs, leaseMs, maxAttempts, owner);
    Json.Obj output = output("admission", a.verdict().name());
    switch (a.verdict()) {
      case PROCEED:
        output.put("fence", Long.toString(a.fence()));
        output.put("attempts", Long.toString(a.attempts()));
        output.put("lease_until_ms", Long.toString(a.leaseUntilMs()));
        output.put("recovered", a.recovered());
        return output;
      case DUPLICATE:
        output.put("result", Input.hex(a.result()));
        return output;
      case IN_PROGRESS:
        output.put("wait_ms", Long.toString(a.waitMs()));
        return output;
      default:
        return output;
    }
  }

  private static Json.Obj transition(Input in) {
    List<Transition> transitions = new ArrayList<>();
    for (Object element : in.list("transitions")) {
      Input edge = new Input(element);
      transitions.add(new Transition(edge.text("from"), edge.text("to")));
      edge.end();
    }
    String current = in.text("current");
    Transition transition = new Transition(in.text("from"), in.text("to"));
    in.end();
    StateMachine machine = new StateMachine(transitions);
    return output("verdict", machine.verdict(current, transition).name());
  }

  private static Json.Obj classify(Input in) {
    String table = in.oneOf("http", "grpc", "sqlstate", "kafka", "net");
    Outcome outcome;
    switch (table) {
      case "http":
        outcome = Classifier.http(in.integer(table).asInt32(ErrorCode.INPUT_INVALID));
        break;
      case "grpc":
        outcome = Classifier.grpc(in.integer(table).asInt32(ErrorCode.INPUT_INVALID));
        break;
      case "kafka":
        outcome = Classifier.kafka(in.integer(table).asInt32(ErrorCode.INPUT_INVALID));
        break;
      case "sqlstate":
        outcome = Classifier.sqlState(in.text(table));
        break;
      default:
        outcome = Classifier.net(in.text(table));
        break;
    }
    in.end();
    return output("class", outcome.name());
  }
}
