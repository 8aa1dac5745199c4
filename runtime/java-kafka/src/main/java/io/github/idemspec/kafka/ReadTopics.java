package io.github.idemspec.kafka;

import io.github.idemspec.guard.Topics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** The topics that a consumer reads: the origins, and, except in a shadow, their retry topics (RETRY-030). */
final class ReadTopics {
  private final List<String> origins;
  private final String scope;
  private final boolean retries;

  ReadTopics(ConsumerConfig config, List<Route> routes) {
    origins = config.topics();
    scope = config.guard().scope();
    retries = !routes.stream().allMatch(route -> route.shadow);
  }

  List<String> all() {
    List<String> all = new ArrayList<>();
    origins.forEach(origin -> all.addAll(of(origin)));
    return all;
  }

  private List<String> of(String origin) {
    return retries ? List.of(origin, Topics.retry(origin, scope)) : List.of(origin);
  }

  /** Says which ones are missing, and what makes them; null where all are there. */
  String missing(Collection<String> there) {
    List<String> missing = all();
    missing.removeAll(there);
    if (missing.isEmpty()) {
      return null;
    }
    String commands =
        origins.stream()
            .filter(origin -> !there.containsAll(of(origin)))
            .map(origin -> "\n\tidem topic create " + origin + (retries ? " --group " + scope : ""))
            .collect(Collectors.joining());
    return "there are no topics "
        + missing
        + ", or this user may not describe them; create what is missing by"
        + commands;
  }
}
