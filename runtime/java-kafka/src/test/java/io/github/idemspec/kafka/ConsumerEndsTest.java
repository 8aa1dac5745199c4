package io.github.idemspec.kafka;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.testing.Running;
import io.github.idemspec.v1.Policy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What ends a consumer, other than its close. */
class ConsumerEndsTest {
  private static final String PAID = "payments.paid";

  private Running on;

  @BeforeEach
  void open() throws Exception {
    on = new Running(1);
    on.database.run("create table effect (key text)");
  }

  @AfterEach
  void close() {
    on.close();
  }

  /** Runs a consumer until it ends, and gives what it threw. */
  private CompletableFuture<Void> run(PostgresStore store, Route route) {
    return run(store, on.config(), route);
  }

  private CompletableFuture<Void> run(PostgresStore store, ConsumerConfig config, Route route) {
    IdemConsumer consumer = new IdemConsumer(on.topic.properties(), store, config, route);
    return CompletableFuture.runAsync(consumer, task -> new Thread(task, "test-consumer").start());
  }

  private static Throwable thrown(CompletableFuture<Void> run) throws Exception {
    try {
      run.get(60, TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  private void send(int i) {
    on.topic.send(PAID, PAID + ":v1:p-" + i, "o-" + i, "x");
  }

  private static byte[] exhaust() {
    return new byte[Integer.MAX_VALUE]; // More than an array can have.
  }

  private static Route exhausting(String kind) {
    switch (kind) {
      case "tx":
        return Route.tx(PAID, (d, connection) -> d.keep(exhaust()));
      case "idempotent":
        return Route.idempotent(PAID, d -> d.keep(exhaust()));
      case "txBatch":
        return Route.txBatch(
            PAID,
            Rules.of(Mode.TX),
            10,
            (ds, connection) -> {
              throw new OutOfMemoryError(String.valueOf(exhaust().length));
            });
      default:
        return Route.idempotentBatch(
            PAID,
            Rules.of(Mode.IDEMPOTENT),
            10,
            ds -> {
              throw new OutOfMemoryError(String.valueOf(exhaust().length));
            });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tx", "idempotent", "txBatch", "idempotentBatch"})
  void handler_thatExhaustsTheHeap_endsTheConsumerAndIsNotAcknowledged(String kind)
      throws Exception {
    CompletableFuture<Void> run = run(on.store, exhausting(kind));
    send(0);
    assertInstanceOf(OutOfMemoryError.class, thrown(run));
    assertEquals(0, on.topic.committed());
    assertEquals(
        "1 of 1 is PROCESSING",
        on.database.ask(
            "select count(*) filter (where state = 1) || ' of ' || count(*) || ' is PROCESSING'"
                + " from idem_record"));
    assertEquals("0", on.database.ask("select count(*) from msg_retry"));
  }

  @Test
  void topics_thatAreMissing_endTheConsumerAndAreNamedWithWhatMakesThem() throws Exception {
    ConsumerConfig config = ConsumerConfig.of("nobody", on.topic.name);
    Throwable e = thrown(run(on.store, config, Route.idempotent(PAID, d -> {})));
    assertEquals(
        "there are no topics ["
            + on.topic.name
            + ".retry.nobody], or this user may not describe them; create what is missing by\n"
            + "\tidem topic create "
            + on.topic.name
            + " --group nobody",
        e.getMessage());
  }

  @Test
  void handlers_thatRunWhileTheConsumerFails_end() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    CompletableFuture<Void> run =
        run(
            on.store,
            Route.tx(
                PAID,
                (d, connection) -> {
                  both.countDown();
                  both.await();
                  if (d.key().endsWith("-1")) {
                    exhaust();
                  }
                  Thread.sleep(500);
                  try (var insert = connection.prepareStatement("insert into effect values (?)")) {
                    insert.setString(1, d.key());
                    insert.executeUpdate();
                  }
                }));
    send(0);
    send(1);
    assertInstanceOf(OutOfMemoryError.class, thrown(run));
    assertEquals(1, on.topic.committed());
    assertEquals(PAID + ":v1:p-0", on.database.ask("select string_agg(key, ' ') from effect"));
  }

  /** An exception that throws where it is asked what it is. */
  private static final class Illegible extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }
  }

  static Stream<Arguments> errors() {
    return Stream.of(
        Arguments.of(new Error("not implemented"), "java.lang.Error: not implemented"),
        Arguments.of(
            new Illegible(),
            "RETRYABLE: a " + Illegible.class.getName() + " that cannot be read: its methods throw"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void handler_thatThrowsSomethingOdd_isTriedAgain(Throwable odd, String reason) throws Exception {
    Policy once = Policy.values().maxRetry(0).toPolicy();
    on.consume(
        Route.idempotentBatch(
            PAID, Rules.of(Mode.IDEMPOTENT).policy(once), 1, ds -> List.of(odd)));
    send(0);
    await("offsets", () -> on.topic.committed() == 1);
    assertEquals(
        "RETRYABLE " + reason,
        on.database.ask("select outcome || ' ' || reason from dead_letter"));
  }

  @Test
  void observer_thatThrows_changesNoOutcome() throws Exception {
    Observer missing =
        new Observer() {
          @Override
          public void delivered(MessageDelivery delivery) {
            throw new NoClassDefFoundError("of a library of metrics");
          }

          @Override
          public void measure(Metric metric, String scope, double value) {
            throw new IllegalStateException("no registry");
          }
        };
    on.consume(
        on.config().withGuard(GuardConfig.of(on.topic.group).withObserver(missing)),
        Route.idempotent(PAID, d -> {}));
    send(0);
    await("offsets", () -> on.topic.committed() == 1);
  }

  /** A store whose connections fail with what is given, where there is something. */
  private PostgresStore failing(Supplier<Throwable> error) {
    DataSource pool = on.database.pool(true);
    on.closing((AutoCloseable) pool);
    return new PostgresStore(
        (DataSource)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                  if (error.get() != null) {
                    throw error.get();
                  }
                  try {
                    return method.invoke(pool, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                }));
  }

  @Test
  void claims_thatFailUnexpectedly_endTheConsumer() throws Exception {
    Throwable[] error = {null};
    CompletableFuture<Void> run = run(failing(() -> error[0]), Route.idempotent(PAID, d -> {}));
    send(0);
    await("the first", () -> on.topic.committed() == 1);
    error[0] = new IllegalStateException("of the driver");
    send(1);
    assertSame(error[0], thrown(run));
    assertEquals(1, on.topic.committed());
  }

  @Test
  void settlements_thatFailUnexpectedly_endTheConsumer() throws Exception {
    Throwable[] error = {null};
    InternalError fatal = new InternalError("of the virtual machine");
    CompletableFuture<Void> run =
        run(failing(() -> error[0]), Route.idempotent(PAID, d -> error[0] = fatal));
    send(0);
    assertSame(fatal, thrown(run));
    assertEquals(0, on.topic.committed());
  }
}
