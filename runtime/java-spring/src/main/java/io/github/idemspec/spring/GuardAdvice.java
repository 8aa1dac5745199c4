package io.github.idemspec.spring;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.MalformedException;
import io.github.idemspec.guard.Message;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.store.Source;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Header;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.invocation.MethodArgumentResolutionException;

/** Goes around a record listener: claims, runs it, and settles, before the container acknowledges. */
final class GuardAdvice implements MethodInterceptor {
  /** How often what was not durable is settled again here, before the record is read again. */
  private static final int TRIES = 5;

  private static final long PAUSE_MS = 100;

  private final Guard guard;
  private final Function<String, ListenerRoute> routes;
  private final BooleanSupplier shadow;
  private final ListenerTransaction transaction;
  private final Company company = new Company();

  GuardAdvice(
      Guard guard,
      Function<String, ListenerRoute> routes,
      BooleanSupplier shadow,
      ListenerTransaction transaction) {
    this.guard = guard;
    this.routes = routes;
    this.shadow = shadow;
    this.transaction = transaction;
  }

  @Override
  public Object invoke(MethodInvocation invocation) throws Throwable {
    Object[] arguments = invocation.getArguments();
    if (arguments.length == 0 || !(arguments[0] instanceof ConsumerRecord<?, ?> record)) {
      return invocation.proceed(); // A method that handles nothing.
    }
    MessageDelivery d = guard.parse(messageOf(record));
    ListenerRoute route = routes.apply(d.eventType());
    guard.route(d, route.rules);
    if (shadow.getAsBoolean()) {
      route.shadow(guard, d);
      return null;
    }
    do { // A lane that it was to wait in may be free by now.
      if (d.status() == Status.OPENED) {
        attempt(d, route, invocation);
      }
      settle(d);
    } while (!d.settled());
    return null;
  }

  private void attempt(MessageDelivery d, ListenerRoute route, MethodInvocation invocation) {
    if (!route.breaker.mayRun(d)) {
      throw new RouteRestsException(d.eventType());
    }
    boolean ran = false;
    try {
      Lock lock = company.claim(guard, d);
      try {
        boolean runs = d.status() == Status.READY;
        handle(d, invocation);
        ran = runs;
      } finally {
        lock.unlock();
      }
    } finally {
      route.breaker.ended(d, ran);
    }
  }

  private void handle(MessageDelivery d, MethodInvocation invocation) {
    if (d.rules().mode() == Mode.IDEMPOTENT) {
      guard.run(d, delivery -> proceed(invocation));
    } else {
      Duration limit = guard.timeout(d.rules());
      guard.runTxBy(d, transaction.of(limit, () -> proceed(invocation)));
    }
  }

  private static void proceed(MethodInvocation invocation) throws Exception {
    try {
      invocation.proceed();
    } catch (Exception | Error e) {
      if (isConversion(e)) {
        throw new MalformedException(null, e);
      }
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** The payload could not be made what the listener takes. */
  private static boolean isConversion(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConversionException
          || cause instanceof MessageConversionException
          || cause instanceof MethodArgumentResolutionException) {
        return true;
      }
    }
    return false;
  }

  private void settle(MessageDelivery d) throws InterruptedException {
    for (int i = 1; ; i++) {
      try {
        guard.settle(List.of(d));
        if (d.settled() || d.status() == Status.OPENED) {
          return;
        }
      } catch (StoreException e) {
        if (i == TRIES) {
          throw e; // The container reads the record again.
        }
      }
      Thread.sleep(PAUSE_MS << i);
    }
  }

  private static Message messageOf(ConsumerRecord<?, ?> record) {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(h -> headers.add(new Header(h.key(), h.value())));
    return new Message(
        new Source(record.topic(), record.partition(), record.offset()),
        bytes(record.key(), true),
        bytes(record.value(), false),
        headers,
        record.timestamp() < 0 ? null : Instant.ofEpochMilli(record.timestamp()));
  }

  private static byte[] bytes(Object value, boolean isKey) {
    if (value == null || value instanceof byte[]) {
      return (byte[]) value;
    }
    if (isKey && value instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    throw new IllegalStateException(
        "the "
            + (isKey ? "key" : "value")
            + " of a record is a "
            + value.getClass().getName()
            + ": "
            + ContainerChecks.BYTES);
  }
}
