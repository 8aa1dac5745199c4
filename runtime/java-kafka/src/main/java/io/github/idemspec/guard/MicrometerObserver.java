package io.github.idemspec.guard;

import io.github.idemspec.guard.MessageDelivery.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Registers metrics with Micrometer, whose Prometheus registry gives them the names and labels that all
 * languages share; the dashboard and the alerts of {@code deploy/} read them. Micrometer is the
 * application's own. One instance may be told by several consumers.
 */
public final class MicrometerObserver implements Observer {
  private static final String GROUP = "group";
  private static final String EVENT_TYPE = "event_type";

  private final MeterRegistry registry;
  private final EventTypes eventTypes = new EventTypes();
  private final Map<Series, Counter> counters = new ConcurrentHashMap<>();
  private final Map<Series, Timer> timers = new ConcurrentHashMap<>();
  private final Map<Series, AtomicReference<Double>> gauges = new ConcurrentHashMap<>();

  private record Series(Metric metric, Tags tags) {}

  /** One that registers there. */
  public MicrometerObserver(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void delivered(MessageDelivery d) {
    Tags tags = Tags.of(GROUP, d.scope(), EVENT_TYPE, eventTypes.nameOf(d.eventType()));
    count(Metric.IDEM_MESSAGES_TOTAL, tags.and("outcome", outcomeOf(d)), 1);
    if (d.superseded()) {
      count(Metric.IDEM_SUPERSEDED_TOTAL, tags, 1);
    }
    Duration took = d.handlerTime();
    if (!took.isZero()) {
      timers.computeIfAbsent(new Series(Metric.IDEM_HANDLER_SECONDS, tags), this::timer).record(took);
    }
  }

  private static String outcomeOf(MessageDelivery d) {
    if (d.status() == Status.SKIPPED) {
      return "SKIPPED";
    }
    return d.shadow() ? "SHADOW_" + d.outcome() : d.outcome().name();
  }

  @Override
  public void measure(Metric metric, String of, double value) {
    switch (metric) {
      case IDEM_MESSAGES_IN_FLIGHT:
        set(metric, Tags.of(GROUP, of), value);
        break;
      case IDEM_STORE_ERRORS_TOTAL:
        count(metric, Tags.of("store", of), value);
        break;
      case IDEM_RETRIES_PUBLISHED_TOTAL:
      case IDEM_OUTBOX_SENT_TOTAL:
        count(metric, Tags.of("topic", of), value);
        break;
      default:
        count(metric, Tags.of(GROUP, of), value);
    }
  }

  @Override
  public void measureRoute(Metric metric, String scope, String eventType, double value) {
    set(metric, Tags.of(GROUP, scope, EVENT_TYPE, eventType), value);
  }

  private void count(Metric metric, Tags tags, double value) {
    counters.computeIfAbsent(new Series(metric, tags), this::counter).increment(value);
  }

  private void set(Metric metric, Tags tags, double value) {
    gauges.computeIfAbsent(new Series(metric, tags), this::gauge).set(value);
  }

  private Counter counter(Series of) {
    return registry.counter(nameOf(of.metric), of.tags);
  }

  private Timer timer(Series of) {
    return Timer.builder(nameOf(of.metric))
        .tags(of.tags)
        .publishPercentileHistogram()
        .register(registry);
  }

  private AtomicReference<Double> gauge(Series of) {
    AtomicReference<Double> value = new AtomicReference<>(0.0);
    registry.gauge(nameOf(of.metric), of.tags, value, AtomicReference::get);
    return value;
  }

  /** As Micrometer has it: dots, and no unit, which a registry of Prometheus's adds. */
  private static String nameOf(Metric metric) {
    return metric.text().replaceAll("_(total|seconds)$", "").replace('_', '.');
  }
}
