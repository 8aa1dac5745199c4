// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.HashMap;
import java.util.Map;

/** What carries the headers, and so how they are named (HDR-040 to HDR-045). */
public enum Transport {
  /** Record headers; names are exact. */
  KAFKA,
  /**
   * AMQP 0.9.1, the headers table of the basic properties; names are exact, values may be integers.
   */
  AMQP,
  /** HTTP fields; names are compared without case, the key is a structured-field string. */
  HTTP,
  /** CloudEvents attributes; names are exact. */
  CLOUDEVENTS;

  private final Map<String, HeaderName> names = new HashMap<>();

  static {
    for (Transport transport : values()) {
      for (HeaderName name : HeaderName.values()) {
        transport.names.put(transport.fold(name.on(transport)), name);
      }
    }
  }

  /** The header that a name stands for, or null where it is unknown (HDR-015). */
  public HeaderName find(String name) {
    return names.get(fold(name));
  }

  /** ASCII alone: no locale, and a Kelvin sign is no k. */
  private String fold(String name) {
    if (this != HTTP) {
      return name;
    }
    char[] folded = name.toCharArray();
    for (int i = 0; i < folded.length; i++) {
      if (folded[i] >= 'A' && folded[i] <= 'Z') {
        folded[i] += 32;
      }
    }
    return new String(folded);
  }
}
