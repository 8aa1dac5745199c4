package io.github.idemspec.conformance;

import io.github.idemspec.v1.Action;
import io.github.idemspec.v1.Decision;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.HeaderName;
import io.github.idemspec.v1.Headers;
import io.github.idemspec.v1.NextHeaders;
import io.github.idemspec.v1.Transport;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The operations on headers (CONF-038, CONF-039). */
final class HeaderOperations {
  private HeaderOperations() {}

  /** Headers, and the pairs that they were read from. */
  private static final class Pairs {
    final Transport transport;
    final List<Header> headers = new ArrayList<>();
    final Map<Header, Object> given = new IdentityHashMap<>();

    Pairs(Input in) {
      String name = in.text("transport");
      transport = TRANSPORTS.get(name);
      Input.check(transport != null, "transport " + name);
      for (Object element : in.list("headers")) {
        Input.check(element instanceof List && ((List<?>) element).size() == 2, "not a pair");
        List<?> pair = (List<?>) element;
        Input.check(pair.get(0) instanceof String, "a name that is no text");
        Header header = header((String) pair.get(0), pair.get(1));
        headers.add(header);
        given.put(header, pair);
      }
    }

    private Header header(String name, Object value) {
      if (value == null) {
        return new Header(name, null);
      }
      Input in = new Input(value);
      Header header;
      switch (in.oneOf("utf8", "hex", "int")) {
        case "utf8":
          header = Header.of(name, in.text("utf8"));
          break;
        case "hex":
          header = new Header(name, in.hex("hex"));
          break;
        default:
          Input.check(transport == Transport.AMQP, "an integer outside of AMQP");
          header = Header.ofInteger(name, in.integer("int").toString());
          break;
      }
      in.end();
      return header;
    }
  }

  private static final Map<String, Transport> TRANSPORTS =
      Map.of(
          "kafka", Transport.KAFKA,
          "amqp", Transport.AMQP,
          "http", Transport.HTTP,
          "cloudevents", Transport.CLOUDEVENTS);

  static Json.Obj headers(Input in) {
    Pairs pairs = new Pairs(in);
    in.end();
    Headers headers = Headers.parse(pairs.transport, pairs.headers);
    Json.Obj envelope = new Json.Obj();
    for (HeaderName name : HeaderName.values()) {
      if (headers.text(name) != null) {
        envelope.put(name.text(), headers.text(name));
      }
    }
    List<Object> unknown = new ArrayList<>();
    for (Header header : headers.unknown()) {
      unknown.add(pairs.given.get(header));
    }
    List<Object> warnings = new ArrayList<>();
    for (HeaderName name : headers.warnings()) {
      warnings.add(name.text());
    }
    Json.Obj output = Operations.output("envelope", envelope);
    output.put("unknown", unknown);
    output.put("warnings", warnings);
    return output;
  }

  static Json.Obj nextHeaders(Input in) {
    Pairs pairs = new Pairs(in);
    Input decided = in.object("decision");
    String scope = in.text("scope");
    String topic = in.text("topic");
    long nowMs = in.count("now_ms");
    in.end();
    String action = decided.text("action");
    List<Header> next;
    if (action.equals("REDRIVE")) {
      long redriveCount = decided.count("redrive_count");
      boolean drop = decided.flag("drop_fingerprint");
      decided.end();
      next = NextHeaders.redrive(pairs.transport, pairs.headers, redriveCount, drop, scope, topic);
    } else {
      Decision decision = decision(decided, Operations.word(Action.class, action));
      decided.end();
      next = NextHeaders.of(pairs.transport, pairs.headers, decision, scope, topic, nowMs);
    }
    List<Object> written = new ArrayList<>();
    for (Header header : next) {
      Object given = pairs.given.get(header);
      written.add(given != null ? given : Arrays.asList(header.name(), value(header.value())));
    }
    return Operations.output("headers", written);
  }

  private static Decision decision(Input in, Action action) {
    switch (action) {
      case RETRY:
        return Decision.retry(
            in.count("delay_ms"),
            in.count("retry_count"),
            in.count("hold_count"),
            in.text("reject_reason"));
      case HOLD:
        return Decision.hold(
            in.count("delay_ms"),
            in.count("retry_count"),
            in.count("hold_count"),
            in.text("reject_reason"));
      case DEFER:
        return Decision.defer(
            in.count("delay_ms"), in.count("retry_count"), in.count("hold_count"));
      case DEAD_LETTER:
        return Decision.deadLetter(
            in.has("retry_count") ? in.count("retry_count") : -1,
            in.has("hold_count") ? in.count("hold_count") : -1,
            in.text("reject_reason"));
      default:
        throw Input.invalid("action " + action);
    }
  }

  private static Json.Obj value(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return Operations.output("utf8", text);
    } catch (CharacterCodingException e) {
      return Operations.output("hex", Input.hex(bytes));
    }
  }
}
