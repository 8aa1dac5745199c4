// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Headers sorted into what is known and what is not; no value is judged yet. */
final class RawHeaders {
  private final Map<HeaderName, List<Value>> known = new EnumMap<>(HeaderName.class);
  private final Map<HeaderName, Map<String, Value>> seen = new EnumMap<>(HeaderName.class);
  private final List<Header> unknown = new ArrayList<>();

  RawHeaders(Transport transport, List<Header> headers) {
    for (Header header : headers) {
      HeaderName name = transport.find(header.name());
      if (name == null) {
        unknown.add(header);
      } else if (header.value() != null) {
        add(name, new Value(transport, name, header));
      }
    }
  }

  private void add(HeaderName name, Value value) {
    List<Value> values = known.computeIfAbsent(name, k -> new ArrayList<>(1));
    if (name.kind() == HeaderName.Kind.TRACE) {
      values.clear();
    }
    if (values.isEmpty()) {
      values.add(value);
      return;
    }
    Value other = seen(name, values).putIfAbsent(value.identity(), value);
    if (other == null) {
      values.add(value);
    } else {
      other.integer |= value.integer;
    }
  }

  /** The values of a header that has come twice; a look-up each, since whoever sends may send many. */
  private Map<String, Value> seen(HeaderName name, List<Value> values) {
    return seen.computeIfAbsent(
        name, k -> new HashMap<>(Collections.singletonMap(values.get(0).identity(), values.get(0))));
  }

  /** The values of a header that differ, in the order of their first; of a trace, the last. */
  List<Value> of(HeaderName name) {
    return known.getOrDefault(name, Collections.emptyList());
  }

  /** The other pairs as they came, nulls too. */
  List<Header> unknown() {
    return unknown;
  }

  /** One value of a known header, as bytes, with what its transport has around it taken away. */
  static final class Value {
    /** What the header says. */
    final byte[] bytes;

    /** What stood there, without the blanks around it: what the next delivery gets (HDR-032). */
    final byte[] raw;

    private final Transport transport;

    /** Whether it begins as a structured-field string and is none. */
    private final boolean unreadable;

    private boolean integer;

    private Value(Transport transport, HeaderName name, Header header) {
      this.transport = transport;
      this.integer = header.isInteger();
      boolean http = transport == Transport.HTTP;
      raw = http ? HeaderText.trimmed(header.value()) : header.value();
      boolean quoted = http && name == HeaderName.IDEMPOTENCY_KEY && HeaderText.isQuoted(raw);
      byte[] text = quoted ? HeaderText.unquoted(raw) : raw;
      unreadable = text == null;
      bytes = unreadable ? raw : text;
    }

    /** Equal for values that count as one. A string, since a map stays quick when many collide. */
    private String identity() {
      return (unreadable ? "!" : "=") + new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** The code of the first fault by UTF-8, syntax and range; null where there is none. */
    ErrorCode faultOf(HeaderName name) {
      if (Utf8.faultOf(bytes) >= 0) {
        return ErrorCode.HEADER_UTF8;
      }
      if (integer && name.kind() != HeaderName.Kind.INTEGER) {
        return ErrorCode.HEADER_SYNTAX;
      }
      if (unreadable || (transport == Transport.HTTP && !HeaderText.isPrintable(bytes))) {
        boolean key = name.kind() == HeaderName.Kind.KEY;
        return key ? ErrorCode.KEY_SYNTAX : ErrorCode.HEADER_SYNTAX;
      }
      return HeaderText.faultOf(name, text());
    }

    String text() {
      return Utf8.lenient(bytes);
    }
  }
}
