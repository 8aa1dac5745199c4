package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.Message;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Metric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes deliveries through their stages. It is a monitor: one lock, held for short, and threads of
 * three kinds that take batches from it. Batches gather by themselves: what comes while one call to the
 * store is on its way goes with the next.
 *
 * <pre>
 * admit -> waiting -> claim -> runnable -> run -> settling -> settle -> finish
 *            ^                                                  |
 *            +------------- hold (BLOCK), until a timer --------+
 * </pre>
 */
final class Engine {
  private static final Logger LOG = LoggerFactory.getLogger(IdemConsumer.class);
  private static final int SETTLERS = 2;
  private static final Duration LAST = Duration.ofSeconds(1);

  private final Guard guard;
  private final Routes routes;
  private final Parts parts;
  private final Waker waker;
  private final Stages stages;
  private final Claims claims;
  private final Handlers handlers;
  private final Settlements settlements;
  private final int workers;
  private final List<Thread> threads = new ArrayList<>();

  Engine(ConsumerConfig config, Guard guard, List<Route> routes) {
    this.guard = guard;
    this.routes = new Routes(guard, config.ignore(), routes);
    parts = new Parts(config);
    waker = new Waker(guard);
    stages = new Stages(waker);
    Pace pace = new Pace(config);
    claims = new Claims(stages, guard, pace, config.batch());
    handlers = new Handlers(stages, guard, pace, claims, new Breakers(stages, guard));
    settlements = new Settlements(stages, guard, parts, config);
    workers = config.workers();
  }

  void start() {
    spawn("idem-claim", claims::loop);
    for (int i = 0; i < workers; i++) {
      spawn("idem-handler-" + i, handlers::loop);
    }
    for (int i = 0; i < SETTLERS; i++) {
      spawn("idem-settle-" + i, settlements::loop);
    }
    spawn("idem-wake", waker::run);
  }

  private interface Loop {
    void run() throws InterruptedException;
  }

  private void spawn(String name, Loop loop) {
    Thread thread = Stages.daemon(() -> run(loop), name);
    threads.add(thread);
    thread.start();
  }

  private void run(Loop loop) {
    try {
      loop.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      stages.fail(e);
    }
  }

  /** Throws what has ended one of its threads. */
  void check() {
    stages.check();
  }

  /** Ends the threads. What is still on its way then is not acknowledged. */
  void stop() {
    stages.stop();
    waker.stop();
    for (Thread thread : threads) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(5));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private <T> T locked(Supplier<T> what) {
    stages.lock.lock();
    try {
      return what.get();
    } finally {
      stages.lock.unlock();
    }
  }

  private void locked(Runnable what) {
    stages.lock.lock();
    try {
      what.run();
    } finally {
      stages.lock.unlock();
    }
  }

  void assign(TopicPartition partition) {
    locked(() -> parts.assign(partition));
  }

  /** Opens messages of a partition, and has them claimed. */
  void admit(TopicPartition partition, List<Message> messages) {
    List<MessageDelivery> deliveries = new ArrayList<>(messages.size());
    List<Rest> of = new ArrayList<>(messages.size());
    for (Message message : messages) {
      MessageDelivery d = guard.parse(message);
      deliveries.add(d);
      of.add(routes.take(d));
    }
    locked(
        () -> {
          Part part = parts.get(partition);
          if (part != null && !part.revoked) {
            for (int i = 0; i < deliveries.size(); i++) {
              enter(part, deliveries.get(i), of.get(i));
            }
            settlements.relieve(part);
          }
        });
  }

  private void enter(Part part, MessageDelivery d, Rest rest) {
    Watermark.Mark mark = part.mark.add(d.message().source().offset());
    if (mark != null) {
      Task task = new Task(d, part, mark, rest);
      part.tasks.add(task);
      part.bytes += task.size;
      stages.enter(task);
    }
  }

  /** The partitions that have to be paused, and those that may go on. */
  void pausing(List<TopicPartition> pause, List<TopicPartition> resume) {
    locked(() -> parts.pausing(pause, resume));
  }

  /** What has moved since the last commit. */
  Map<TopicPartition, OffsetAndMetadata> uncommitted() {
    return locked(parts::uncommitted);
  }

  void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
    locked(() -> parts.committed(offsets));
  }

  /**
   * Begins nothing of some partitions any more, gives back what is claimed and has not begun, and waits
   * for the handlers that run; those that take longer are told to stop.
   */
  void revoke(Iterable<TopicPartition> partitions, Duration limit) {
    List<Task> back = new ArrayList<>();
    List<Part> revoked =
        locked(
            () -> {
              List<Part> some = parts.of(partitions);
              some.forEach(part -> revoke(part, back));
              return some;
            });
    claims.giveBack(back);
    if (!stages.awaitIdle(revoked, limit)) {
      LOG.warn("handlers are told to stop: {} to drain are over", limit);
      cancel(revoked);
      stages.awaitIdle(revoked, LAST);
    }
  }

  private void revoke(Part part, List<Task> back) {
    part.revoked = true;
    for (Task task : List.copyOf(part.tasks)) {
      if (task.state == Task.State.RUNNABLE && stages.runnable.remove(task)) {
        task.state = Task.State.CLAIMING;
        back.add(task);
      } else if (!task.state.inFlight()) {
        stages.drop(task);
      }
    }
  }

  private void cancel(List<Part> of) {
    List<MessageDelivery> running = new ArrayList<>();
    locked(
        () -> {
          for (Part part : of) {
            part.tasks.stream()
                .filter(task -> task.state == Task.State.RUNNING)
                .forEach(task -> running.add(task.delivery));
          }
        });
    running.forEach(MessageDelivery::cancel);
  }

  /** Ends the partitions: what is settled later moves nothing. */
  void end(Iterable<TopicPartition> partitions) {
    locked(() -> parts.end(partitions));
  }

  void measure() {
    int inFlight = locked(parts::inFlight);
    guard.observer().measure(Metric.IDEM_MESSAGES_IN_FLIGHT, guard.scope(), inFlight);
  }
}
