package io.github.idemspec.guard;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.idemspec.kafka.Breaker;
import io.github.idemspec.kafka.Route;
import io.github.idemspec.testing.Running;
import io.github.idemspec.testing.Servers;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MicrometerObserverTest {
  private static final Pattern SERIES = Pattern.compile("(?m)^(idem_\\w+)\\{(.*)} \\S+$");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `(idem_\\w+)` \\| \\w+ \\| \\S+ \\| ([^|]*) \\|");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Observer observer = new MicrometerObserver(registry);

  @Test
  void consumer_whatBecameOfMessages_isCounted() throws Exception {
    try (Running on = new Running(1)) {
      String group = on.topic.group;
      on.consume(
          on.config()
              .withIgnore("payments.other")
              .withGuard(GuardConfig.of(group).withObserver(observer)),
          Route.idempotent("payments.paid", d -> Thread.sleep(1)),
          Route.idempotent(
                  "payments.refused",
                  d -> {
                    throw new RetryableException("down");
                  })
              .breaker(new Breaker(1, Duration.ofMinutes(1), Duration.ofMinutes(1))));
      on.topic.send("payments.paid", "payments.paid:v1:1", "o-1", "x");
      on.topic.send("payments.paid", "payments.paid:v1:1", "o-1", "x");
      on.topic.send("payments.other", "payments.other:v1:1", "o-1", "x");
      on.topic.send("payments.refused", "payments.refused:v1:1", "o-1", "x");
      await("offsets", () -> on.topic.committed() == 4);
      String text = registry.scrape();
      String paid = "event_type=\"payments.paid\",group=\"" + group + "\"";
      assertHas(text, "idem_messages_total{" + paid + ",outcome=\"OK\"} 1.0");
      assertHas(text, "idem_messages_total{" + paid + ",outcome=\"DUPLICATE\"} 1.0");
      assertHas(text, "idem_handler_seconds_count{" + paid + "} 1");
      assertHas(text, "group=\"" + group + "\",outcome=\"SKIPPED\"} 1.0");
      assertHas(
          text,
          "idem_route_breaker_open{event_type=\"payments.refused\",group=\"" + group + "\"} 1.0");
      assertHas(text, "idem_rebalances_total{group=\"" + group + "\"} 1.0");
    }
  }

  private static void assertHas(String text, String line) {
    assertTrue(text.contains(line), () -> line + " is not in\n" + text);
  }

  @ParameterizedTest
  @EnumSource(Metric.class)
  void metric_itsNameAndLabels_areThoseOfAllLanguages(Metric metric) throws IOException {
    if (metric == Metric.IDEM_ROUTE_BREAKER_OPEN) {
      observer.measureRoute(metric, "payments", "payments.paid", 1);
    } else if (!Set.of("idem_messages_total", "idem_handler_seconds", "idem_superseded_total")
        .contains(metric.text())) {
      observer.measure(metric, "payments", 1);
    } else {
      return; // They are derived from deliveries.
    }
    Map<String, Set<String>> found = new TreeMap<>();
    for (Matcher m = SERIES.matcher(registry.scrape()); m.find(); ) {
      found.put(m.group(1), labels(m.group(2), ",", "="));
    }
    assertEquals(Map.of(metric.text(), documented().get(metric.text())), found);
  }

  /** The labels of each metric, from the table of the runtime in Go. */
  private static Map<String, Set<String>> documented() throws IOException {
    Map<String, Set<String>> rows = new TreeMap<>();
    String table = Files.readString(Servers.root().resolve("runtime/go/observe/METRICS.md"));
    for (Matcher m = ROW.matcher(table); m.find(); ) {
      rows.put(m.group(1), labels(m.group(2), ",", "$"));
    }
    return rows;
  }

  private static Set<String> labels(String text, String between, String end) {
    return Arrays.stream(text.split(between))
        .map(label -> label.split(Pattern.quote(end))[0].trim())
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
