package io.github.idemspec.guard;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The event types that are counted by their names: they come from messages, and nothing else bounds
 * them. Further ones, and those that are no names, are other (CONS-042).
 */
final class EventTypes {
  private static final int MOST = 200;
  private static final int LONGEST = 255;
  private static final String OTHER = "other";

  private final Set<String> known = ConcurrentHashMap.newKeySet();

  String nameOf(String eventType) {
    if (known.contains(eventType)) {
      return eventType;
    }
    boolean plain =
        eventType.length() <= LONGEST && eventType.chars().noneMatch(Character::isISOControl);
    if (!plain || known.size() >= MOST) {
      return OTHER;
    }
    known.add(eventType);
    return eventType;
  }
}
