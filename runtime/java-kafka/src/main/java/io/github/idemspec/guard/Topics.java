package io.github.idemspec.guard;

/** The names of topics (RETRY-030). */
public final class Topics {
  /** The most bytes of a name. */
  public static final int MAX = 249;

  private static final String RETRY = ".retry.";

  private Topics() {}

  /** Where the retries, holds, deferrals and redrives of an origin topic go for a scope. */
  public static String retry(String origin, String scope) {
    return origin + RETRY + scope;
  }

  /** The origin of a scope's retry topic; of any other topic it is itself. */
  public static String origin(String topic, String scope) {
    String end = RETRY + scope;
    boolean isRetry = topic.endsWith(end) && topic.length() > end.length();
    return isRetry ? topic.substring(0, topic.length() - end.length()) : topic;
  }
}
