package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.RetryableException;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.testing.Pair;
import io.github.idemspec.testing.Running;
import io.github.idemspec.v1.Policy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Java and Python on one topic and one database: what one has left to do, the other does. */
class PythonPairTest {
  private static final String PAID = "payments.paid";
  private static final String KEY = PAID + ":v1:p-1";
  private static final Policy QUICK =
      Policy.values().maxRetry(3).backoffScheduleMs(50).backoffJitterMs(0).toPolicy();

  private Running running;
  private Pair python;

  @BeforeEach
  void open() throws Exception {
    running = new Running(2);
    running.database.run("create table effect (key text, topic text)");
    python = Pair.python(running.database.url(), running.topic.brokers());
  }

  @AfterEach
  void close() {
    if (python != null) {
      python.close();
    }
    if (running != null) {
      running.close();
    }
  }

  /** Writes what it handles, and where that came from; the first times it fails. */
  private Route effect(int failures) {
    AtomicInteger calls = new AtomicInteger();
    return Route.tx(
        PAID,
        Rules.of(Mode.TX).policy(QUICK),
        (d, connection) -> {
          if (calls.incrementAndGet() <= failures) {
            throw new RetryableException("not yet");
          }
          try (var insert = connection.prepareStatement("insert into effect values (?, ?)")) {
            insert.setString(1, d.key());
            insert.setString(2, d.message().source().topic());
            insert.executeUpdate();
          }
        });
  }

  private String effects() {
    return running.database.ask("select string_agg(key || ' ' || topic, ', ') from effect");
  }

  private long fence() {
    return running.store.records(running.topic.group, List.of(KEY)).get(0).fence();
  }

  @Test
  void aRetryOfPython_isPublishedByTheSchedulerHereAndDoneHere() throws Exception {
    running.topic.send(PAID, KEY, "o-1", "x");
    python.fail(running.topic.name, running.topic.group);
    assertEquals(
        "RETRY", running.database.ask("select action from msg_retry where retry_count = 1"));
    running.consume(effect(0));
    running.schedule();
    await("the effect", () -> effects() != null);
    assertEquals(KEY + " " + running.topic.retry(), effects());
    assertEquals(2, fence());
    String there = python.claim(running.topic.group, KEY, "python").get("Verdict").getAsString();
    assertEquals("DUPLICATE", there);
  }

  @Test
  void aRetryOfJava_isPublishedByTheSchedulerOfPythonAndDoneHere() throws Exception {
    running.consume(effect(1));
    running.topic.send(PAID, KEY, "o-1", "x");
    assertEquals(1, python.publish(1));
    await("the effect", () -> effects() != null);
    assertEquals(KEY + " " + running.topic.retry(), effects());
    assertEquals("0", running.database.ask("select count(*) from msg_retry"));
    assertEquals(2, fence());
  }
}
