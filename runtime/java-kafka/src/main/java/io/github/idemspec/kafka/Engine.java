package io.github.idemspec.kafka;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.Message;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.MessageDelivery.Status;
import io.github.idemspec.guard.Metric;
import io.github.idemspec.guard.Order;
import io.github.idemspec.guard.Result;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.store.StoreException;
import io.github.idemspec.v1.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
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

  /** For how long work is claimed ahead: no longer, since leases run while claims wait. */
  private static final long AHEAD_NANOS = 300_000_000;

  private static final long FIRST_GUESS_NANOS = 1_000_000;
  private static final long MAX_BACKOFF_MS = 5_000;

  private final ConsumerConfig config;
  private final Guard guard;
  private final Map<String, Rest> routes = new HashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ScheduledExecutorService timer;
  private final Waker waker;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition claimers = lock.newCondition();
  private final Condition workers = lock.newCondition();
  private final Condition settlers = lock.newCondition();
  private final Condition landings = lock.newCondition();

  private final Map<TopicPartition, Part> parts = new HashMap<>();
  private final Lanes lanes = new Lanes();
  private final Deque<Task> waiting = new ArrayDeque<>();
  private final Deque<Task> suspects = new ArrayDeque<>();
  private final Deque<Task> runnable = new ArrayDeque<>();
  private final Deque<Task> settling = new ArrayDeque<>();
  private int claiming;
  private int flight;
  private boolean alone;
  private boolean stopped;

  /** What ended a thread that should have gone on, or null. */
  private volatile Throwable failure;

  /** What a handler takes, in nanoseconds. */
  private long handlerNanos = FIRST_GUESS_NANOS;

  Engine(ConsumerConfig config, Guard guard, List<Route> routes) {
    this.config = config;
    this.guard = guard;
    for (Route route : routes) {
      if (this.routes.put(route.eventType, new Rest(route)) != null) {
        throw new IllegalArgumentException("two routes for " + route.eventType + ": give one");
      }
    }
    timer = Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "idem-timer"));
    waker = new Waker(guard);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    spawn("idem-claim", this::claimLoop);
    for (int i = 0; i < config.workers(); i++) {
      spawn("idem-handler-" + i, this::runLoop);
    }
    for (int i = 0; i < SETTLERS; i++) {
      spawn("idem-settle-" + i, this::settleLoop);
    }
    spawn("idem-wake", waker::run);
  }

  private interface Loop {
    void run() throws InterruptedException;
  }

  private void spawn(String name, Loop loop) {
    Thread thread =
        daemon(
            () -> {
              try {
                loop.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (RuntimeException | Error e) {
                fail(e);
              }
            },
            name);
    threads.add(thread);
    thread.start();
  }

  /** Begins nothing any more: one thread less, and messages would wait for it in vain. */
  private void fail(Throwable e) {
    lock.lock();
    try {
      if (failure == null) {
        failure = e;
      }
      claimers.signalAll();
      workers.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.error("the consumer ends: {} failed unexpectedly", Thread.currentThread().getName(), e);
  }

  /** Throws what has ended one of its threads. */
  void check() {
    if (failure instanceof Error e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
  }

  /** Lets go what a thread had that fails: nobody waits for it, and it is not acknowledged. */
  private void abandon(List<Task> tasks) {
    lock.lock();
    try {
      for (Task task : tasks) {
        if (task.state.inFlight()) {
          land(task);
          task.state = Task.State.GONE;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean ends() {
    return stopped || failure != null;
  }

  /** Ends the threads. What is still on its way then is not acknowledged. */
  void stop() {
    lock.lock();
    try {
      stopped = true;
      claimers.signalAll();
      workers.signalAll();
      settlers.signalAll();
    } finally {
      lock.unlock();
    }
    timer.shutdownNow();
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

  // What comes, and what goes.

  void assign(TopicPartition partition) {
    lock.lock();
    try {
      parts.put(partition, new Part(partition));
    } finally {
      lock.unlock();
    }
  }

  /** Opens messages of a partition, and has them claimed. */
  void admit(TopicPartition partition, List<Message> messages) {
    List<MessageDelivery> deliveries = new ArrayList<>(messages.size());
    List<Rest> of = new ArrayList<>(messages.size());
    for (Message message : messages) {
      MessageDelivery d = guard.parse(message);
      deliveries.add(d);
      of.add(route(d));
    }
    lock.lock();
    try {
      Part part = parts.get(partition);
      if (part == null || part.revoked) {
        return;
      }
      for (int i = 0; i < deliveries.size(); i++) {
        MessageDelivery d = deliveries.get(i);
        Watermark.Mark mark = part.mark.add(d.message().source().offset());
        if (mark != null) {
          Task task = new Task(d, part, sizeOf(d.message()), of.get(i));
          task.mark = mark;
          part.tasks.add(task);
          part.bytes += task.size;
          enter(task);
        }
      }
      relieve(part);
    } finally {
      lock.unlock();
    }
  }

  /** Finds the route of a message. What is of no route ends here (CONS-006). */
  private Rest route(MessageDelivery d) {
    if (d.status() != Status.OPENED) {
      return null;
    }
    String event = d.eventType();
    Rest rest = routes.get(event);
    if (rest == null && event.isEmpty() && routes.size() == 1) {
      rest = routes.values().iterator().next(); // The only one it can be.
    }
    if (rest != null) {
      // What is blocked for too long parks.
      Rules rules = rest.route.rules;
      guard.route(d, rules.order() == Order.BLOCK ? rules.order(Order.PARK) : rules);
      if (rest.route.shadow) {
        guard.shadow(d, rest.seen);
      }
      return rest;
    }
    if (config.ignore().contains(event)) {
      d.skip();
      return null;
    }
    String why =
        event.isEmpty()
            ? "no event_type header, and several routes: set the header"
            : "no route handles " + event + ", nor is it ignored";
    d.end(Result.of(Outcome.NON_RETRYABLE, "UNKNOWN_EVENT_TYPE: " + why), null);
    return null;
  }

  private static int sizeOf(Message m) {
    int size = 64 + (m.key() == null ? 0 : m.key().length);
    size += m.value() == null ? 0 : m.value().length;
    for (io.github.idemspec.v1.Header h : m.headers()) {
      size += h.name().length() + 48 + (h.value() == null ? 0 : h.value().length);
    }
    return size;
  }

  private void enter(Task task) {
    MessageDelivery d = task.delivery;
    if (d.status() != Status.OPENED) {
      takeOff(task, Task.State.SETTLING);
      settling.add(task);
      settlers.signal();
      return;
    }
    boolean ordered = task.route.rules.order() != Order.UNORDERED && !d.bizKey().isEmpty();
    String key = ordered ? d.bizKey() : d.key();
    if (key.isEmpty() || lanes.enter(ordered ? d.origin() : "", key, task)) {
      await(task);
    }
  }

  private void await(Task task) {
    task.state = Task.State.WAITING;
    waiting.addLast(task);
    claimers.signal();
  }

  private boolean isFull(Part part) {
    return part.mark.span() >= config.window() || part.bytes >= share();
  }

  /** What only waits should do so elsewhere. */
  private boolean isCrowded(Part part) {
    return 2L * part.mark.span() >= config.window() || 2 * part.bytes >= share();
  }

  private long share() {
    return Math.max(config.windowBytes() / Math.max(parts.size(), 1), 1);
  }

  /** Sends what is held in place to the store, where the window has no room (CONS-012). */
  private void relieve(Part part) {
    if (!isFull(part)) {
      return;
    }
    for (Task task : part.tasks) {
      if (task.state == Task.State.HELD) {
        task.toStore = true;
        await(task);
      }
    }
  }

  /** The partitions that have to be paused, and those that may go on. */
  void pausing(List<TopicPartition> pause, List<TopicPartition> resume) {
    lock.lock();
    try {
      for (Part part : parts.values()) {
        boolean full = isFull(part);
        if (full != part.paused) {
          part.paused = full;
          (full ? pause : resume).add(part.partition);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** What has moved since the last commit. */
  Map<TopicPartition, OffsetAndMetadata> uncommitted() {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    lock.lock();
    try {
      for (Part part : parts.values()) {
        if (part.mark.offset() > part.committed) {
          offsets.put(part.partition, new OffsetAndMetadata(part.mark.offset()));
        }
      }
    } finally {
      lock.unlock();
    }
    return offsets;
  }

  void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
    lock.lock();
    try {
      offsets.forEach(
          (partition, offset) -> {
            Part part = parts.get(partition);
            if (part != null) {
              part.committed = Math.max(part.committed, offset.offset());
            }
          });
    } finally {
      lock.unlock();
    }
  }

  /** How many deliveries have not ended. */
  int inFlight() {
    lock.lock();
    try {
      return parts.values().stream().mapToInt(p -> p.tasks.size()).sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Begins nothing of some partitions any more, gives back what is claimed and has not begun, and waits
   * for the handlers that run; those that take longer are told to stop.
   */
  void revoke(Iterable<TopicPartition> partitions, Duration limit) {
    List<Part> revoked = new ArrayList<>();
    List<Task> back = new ArrayList<>();
    lock.lock();
    try {
      for (TopicPartition partition : partitions) {
        Part part = parts.get(partition);
        if (part == null) {
          continue;
        }
        part.revoked = true;
        revoked.add(part);
        for (Task task : List.copyOf(part.tasks)) {
          if (task.state == Task.State.RUNNABLE && runnable.remove(task)) {
            task.state = Task.State.CLAIMING;
            back.add(task);
          } else if (!task.state.inFlight()) {
            drop(task);
          }
        }
      }
    } finally {
      lock.unlock();
    }
    giveBack(back);
    if (!isIdle(revoked, limit)) {
      LOG.warn("handlers are told to stop: {} to drain are over", limit);
      cancel(revoked);
      isIdle(revoked, Duration.ofSeconds(1));
    }
  }

  /** Ends the partitions: what is settled later moves nothing. */
  void end(Iterable<TopicPartition> partitions) {
    lock.lock();
    try {
      for (TopicPartition partition : partitions) {
        Part part = parts.remove(partition);
        if (part != null) {
          part.revoked = true;
          part.mark.close();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isIdle(List<Part> of, Duration limit) {
    long left = limit.toNanos();
    lock.lock();
    try {
      while (of.stream().anyMatch(p -> p.flight > 0)) {
        if (left <= 0) {
          return false;
        }
        left = landings.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void cancel(List<Part> of) {
    List<Task> running = new ArrayList<>();
    lock.lock();
    try {
      for (Part part : of) {
        part.tasks.stream().filter(t -> t.state == Task.State.RUNNING).forEach(running::add);
      }
    } finally {
      lock.unlock();
    }
    running.forEach(task -> task.delivery.cancel());
  }

  private void giveBack(List<Task> back) {
    if (back.isEmpty()) {
      return;
    }
    List<MessageDelivery> deliveries = new ArrayList<>();
    back.forEach(task -> deliveries.add(task.delivery));
    try {
      guard.giveBack(deliveries);
    } catch (RuntimeException e) {
      LOG.warn("claims not given back: their leases run out by themselves", e);
    }
    lock.lock();
    try {
      for (Task task : back) {
        land(task);
        if (task.part.revoked) {
          drop(task);
        } else {
          probeLost(task);
          task.state = Task.State.WAITING;
          (task.suspect ? suspects : waiting).addFirst(task);
          claimers.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void takeOff(Task task, Task.State state) {
    task.state = state;
    task.part.flight++;
    flight++;
  }

  private void land(Task task) {
    task.part.flight--;
    flight--;
    if (task.alone) {
      task.alone = false;
      alone = false;
    }
    if (task.part.revoked) {
      landings.signalAll();
    }
    if (alone || !suspects.isEmpty() || flight == 0) {
      claimers.signal();
    }
  }

  /** The end of a delivery that may be acknowledged. */
  private void finish(Task task) {
    task.part.mark.done(task.mark);
    waker.add(task.delivery);
    land(task);
    drop(task);
  }

  /** Forgets a task that is not in flight. */
  private void drop(Task task) {
    task.state = Task.State.GONE;
    probeLost(task);
    if (task.part.tasks.remove(task)) {
      task.part.bytes -= task.size;
    }
    Task next = lanes.leave(task);
    if (next != null && next.state == Task.State.IN_LANE) {
      await(next);
    }
  }

  // Claims.

  private void claimLoop() throws InterruptedException {
    for (List<Task> batch = takeWaiting(); batch != null; batch = takeWaiting()) {
      try {
        claimAll(batch);
      } catch (RuntimeException | Error e) {
        abandon(batch);
        throw e;
      }
    }
  }

  private List<Task> takeWaiting() throws InterruptedException {
    List<Task> batch = new ArrayList<>();
    lock.lock();
    try {
      while (!ends()) {
        while (!suspects.isEmpty() && suspects.peek().state != Task.State.WAITING) {
          suspects.poll(); // Its partition is another's.
        }
        if (!suspects.isEmpty() && !alone) {
          takeAlone(batch);
        } else if (!alone) {
          fill(batch);
        }
        if (!batch.isEmpty()) {
          claiming += batch.size();
          return batch;
        }
        claimers.await();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a suspect, once nothing else is claimed (DEDUP-024). */
  private void takeAlone(List<Task> batch) {
    if (flight > 0) {
      return;
    }
    Task task = suspects.poll();
    task.alone = true;
    alone = true;
    takeOff(task, Task.State.CLAIMING);
    batch.add(task);
  }

  /** How many deliveries may be claimed and not begun. */
  private long ahead() {
    long ahead = config.workers() * (AHEAD_NANOS / Math.max(handlerNanos, 1_000));
    return Math.min(Math.max(ahead, 2L * config.workers()), 2L * config.batch());
  }

  private void fill(List<Task> batch) {
    long ahead = ahead();
    long room = ahead - runnable.size() - claiming;
    if (2 * room < ahead) {
      return; // Another batch is worth a call once half of the last one has begun.
    }
    while (room > 0 && batch.size() < config.batch() && !waiting.isEmpty()) {
      Task task = waiting.poll();
      if (task.state != Task.State.WAITING) {
        continue;
      }
      if (task.rest.holds(task) && !task.toStore) {
        task.rest.add(task);
        probe(task.rest);
        continue;
      }
      takeOff(task, Task.State.CLAIMING);
      batch.add(task);
      room--;
    }
  }

  /** Claims a batch, however long the store takes to come back. */
  private void claimAll(List<Task> batch) throws InterruptedException {
    int size = batch.size();
    List<Task> open = batch;
    for (int tries = 0; !open.isEmpty(); tries++) {
      List<MessageDelivery> deliveries = new ArrayList<>(open.size());
      open.forEach(task -> deliveries.add(task.delivery));
      try {
        guard.claim(deliveries);
        break;
      } catch (StoreException e) {
        LOG.warn("the store does not claim: {}", e.getMessage());
      }
      Thread.sleep(backoffMs(tries));
      open = leaveOutRevoked(open);
    }
    claimed(open, size);
  }

  private List<Task> leaveOutRevoked(List<Task> open) {
    List<Task> rest = new ArrayList<>();
    lock.lock();
    try {
      for (Task task : open) {
        if (task.part.revoked || stopped) {
          land(task);
          drop(task);
        } else {
          rest.add(task);
        }
      }
    } finally {
      lock.unlock();
    }
    return rest;
  }

  private void claimed(List<Task> batch, int size) {
    List<Task> back = new ArrayList<>();
    lock.lock();
    try {
      claiming -= size;
      for (Task task : batch) {
        MessageDelivery d = task.delivery;
        if (d.status() != Status.READY) {
          probeLost(task);
          toSettle(task);
        } else if (task.toStore) {
          long left = TimeUnit.NANOSECONDS.toMillis(task.due - System.nanoTime());
          d.end(new Result(Outcome.IN_PROGRESS, Math.max(left, 0), null), null);
          toSettle(task);
        } else if (!mayRun(task)) {
          task.suspect = d.alone();
          back.add(task);
        } else {
          task.state = Task.State.RUNNABLE;
          runnable.add(task);
          workers.signal();
        }
      }
    } finally {
      lock.unlock();
    }
    giveBack(back);
  }

  private static boolean mayRun(Task task) {
    if (task.part.revoked) {
      return false;
    }
    return task.alone || !task.delivery.alone() && !task.rest.holds(task);
  }

  // Handlers.

  private void runLoop() throws InterruptedException {
    for (List<Task> tasks = takeRunnable(List.of()); tasks != null; tasks = takeRunnable(tasks)) {
      try {
        handle(tasks);
      } catch (RuntimeException | Error e) {
        abandon(tasks);
        throw e;
      }
    }
  }

  private void handle(List<Task> tasks) {
    List<MessageDelivery> deliveries = deliveriesOf(tasks);
    tasks.get(0).route.runner.run(guard, deliveries);
    for (MessageDelivery d : deliveries) {
      if (d.completed()) { // It is durable, and settling it asks nothing of the store.
        guard.settle(List.of(d));
      }
    }
  }

  private static List<MessageDelivery> deliveriesOf(List<Task> tasks) {
    if (tasks.size() == 1) {
      return List.of(tasks.get(0).delivery);
    }
    List<MessageDelivery> deliveries = new ArrayList<>(tasks.size());
    tasks.forEach(task -> deliveries.add(task.delivery));
    return deliveries;
  }

  /** Puts away those that ran, and takes the next ones. */
  private List<Task> takeRunnable(List<Task> ran) throws InterruptedException {
    List<Task> back = new ArrayList<>(0);
    lock.lock();
    try {
      ran.forEach(task -> putAway(task, ran.size(), back));
      while (back.isEmpty() && !ends()) {
        Task task = runnable.poll();
        if (task != null) {
          return withBatch(task);
        }
        workers.await();
      }
      if (back.isEmpty()) {
        return null;
      }
    } finally {
      lock.unlock();
    }
    giveBack(back);
    return takeRunnable(List.of());
  }

  /** Others of the same route, for a batch. */
  private List<Task> withBatch(Task first) {
    first.state = Task.State.RUNNING;
    int most = first.alone ? 1 : first.route.batch;
    if (most == 1) {
      return List.of(first);
    }
    List<Task> batch = new ArrayList<>();
    batch.add(first);
    for (Iterator<Task> all = runnable.iterator(); batch.size() < most && all.hasNext(); ) {
      Task task = all.next();
      if (task.route == first.route && !task.alone) {
        all.remove();
        task.state = Task.State.RUNNING;
        batch.add(task);
      }
    }
    return batch;
  }

  private void putAway(Task ran, int together, List<Task> back) {
    MessageDelivery d = ran.delivery;
    handlerNanos += (d.handlerTime().toNanos() / together - handlerNanos) / 64;
    judge(ran, back);
    if (d.settled()) {
      finish(ran);
    } else {
      toSettle(ran);
    }
    if (2L * (runnable.size() + claiming) <= ahead() && !waiting.isEmpty()) {
      claimers.signal();
    }
  }

  // Routes that rest.

  /** Tells the breaker what became of a delivery; a failure while the route rests costs nothing. */
  private void judge(Task task, List<Task> back) {
    MessageDelivery d = task.delivery;
    Circuit circuit = task.rest.circuit;
    Circuit.State was = circuit.state();
    boolean probe = task.probe;
    task.probe = false;
    long now = System.nanoTime();
    if (circuit.ends(d.key(), verdictOf(d), probe, now)) {
      long wait = TimeUnit.NANOSECONDS.toMillis(circuit.left(now));
      d.end(new Result(Outcome.IN_PROGRESS, wait, null), d.error());
    }
    if (!probe && was == circuit.state()) {
      return;
    }
    if (circuit.state() == Circuit.State.CLOSED) {
      LOG.warn("the route works again: event_type={}", task.route.eventType);
      measureOpen(0);
      wakeAll(task.rest);
      return;
    }
    if (was == Circuit.State.CLOSED) {
      LOG.error(
          "the route rests, since failures of different keys follow each other; its messages wait, and"
              + " it is probed: event_type={}",
          task.route.eventType,
          d.error());
      measureOpen(1);
      recall(task.rest, back);
    }
    probeLater(task.rest, circuit.left(now));
  }

  private static Circuit.Verdict verdictOf(MessageDelivery d) {
    switch (d.outcome()) {
      case OK:
        return Circuit.Verdict.WORKED;
      case RETRYABLE:
      case THROTTLED:
        return Circuit.Verdict.BROKE;
      default:
        return Circuit.Verdict.NEITHER;
    }
  }

  /** Takes back what is claimed and has not begun. */
  private void recall(Rest rest, List<Task> back) {
    for (Iterator<Task> all = runnable.iterator(); all.hasNext(); ) {
      Task task = all.next();
      if (task.rest == rest && rest.holds(task) && !task.alone) {
        all.remove();
        task.state = Task.State.CLAIMING;
        back.add(task);
      }
    }
  }

  private void probeLater(Rest rest, long nanos) {
    if (!stopped) {
      schedule(() -> probe(rest), nanos);
    }
  }

  /** Sends the next probe, where it is time for one. */
  private void probe(Rest rest) {
    Task task = rest.probe(System.nanoTime());
    if (task != null) {
      waiting.addFirst(task);
      claimers.signal();
    }
  }

  /** A probe that never came to its handler: another one may go. */
  private void probeLost(Task task) {
    if (task.probe) {
      task.probe = false;
      task.rest.circuit.ends(
          task.delivery.key(), Circuit.Verdict.NEITHER, true, System.nanoTime());
      probe(task.rest);
    }
  }

  /** Has those that rest go on, in their order. */
  private void wakeAll(Rest rest) {
    for (Task task = rest.takeLast(); task != null; task = rest.takeLast()) {
      waiting.addFirst(task);
    }
    claimers.signal();
  }

  private void measureOpen(int open) {
    try {
      guard.observer().measure(Metric.IDEM_ROUTE_BREAKER_OPEN, guard.scope(), open);
    } catch (RuntimeException e) {
      // It changes no outcome.
    }
  }

  private void toSettle(Task task) {
    task.state = Task.State.SETTLING;
    settling.add(task);
    settlers.signal();
  }

  // Settlements.

  private void settleLoop() throws InterruptedException {
    for (List<Task> batch = takeSettling(); batch != null; batch = takeSettling()) {
      List<MessageDelivery> deliveries = new ArrayList<>(batch.size());
      batch.forEach(task -> deliveries.add(task.delivery));
      try {
        guard.settle(deliveries);
      } catch (StoreException e) {
        LOG.warn("not all is durable, and is settled again: {}", e.getMessage());
      } catch (RuntimeException e) {
        LOG.error("deliveries are settled again", e);
      } catch (Error e) {
        abandon(batch);
        throw e;
      }
      settled(batch);
    }
  }

  private List<Task> takeSettling() throws InterruptedException {
    lock.lock();
    try {
      while (settling.isEmpty()) {
        if (stopped) {
          return null;
        }
        settlers.await();
      }
      List<Task> batch = new ArrayList<>();
      while (batch.size() < config.batch() && !settling.isEmpty()) {
        Task task = settling.poll();
        boolean block = task.route != null && task.route.rules.order() == Order.BLOCK;
        if (block && task.tries == 0) { // One that may have been written as held stays held.
          task.delivery.holdInPlace(mayHold(task));
        }
        batch.add(task);
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a message of a BLOCK route may stay in its place (CONS-012). */
  private boolean mayHold(Task task) {
    if (task.delivery.status() != Status.ENDED || task.toStore || task.part.revoked) {
      return false;
    }
    if (task.lane == null || task.delivery.bizKey().isEmpty() || task.delivery.key().isEmpty()) {
      return true; // It could not wait in the store either.
    }
    boolean tooLong =
        task.lane.since != 0 && System.nanoTime() - task.lane.since > config.hold().toNanos();
    return !isCrowded(task.part) && !tooLong;
  }

  private void settled(List<Task> batch) {
    lock.lock();
    try {
      for (Task task : batch) {
        MessageDelivery d = task.delivery;
        if (d.settled() && d.inPlace()) {
          hold(task);
        } else if (d.settled()) {
          finish(task);
        } else if (d.status() == Status.OPENED) { // The lane it was to wait in is free by now.
          land(task);
          if (task.part.revoked) {
            drop(task);
          } else {
            task.state = Task.State.WAITING;
            waiting.addFirst(task);
            claimers.signal();
          }
        } else {
          later(task);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Tries again what is not durable, for as long as it takes: never acknowledged before (CONS-003). */
  private void later(Task task) {
    if (stopped) {
      return;
    }
    long wait = TimeUnit.MILLISECONDS.toNanos(backoffMs(task.tries++));
    schedule(() -> toSettle(task), wait);
  }

  /** Keeps a message in its place until it is tried again. */
  private void hold(Task task) {
    land(task);
    if (task.part.revoked || stopped) {
      drop(task);
      return;
    }
    MessageDelivery d = task.delivery;
    long wait = d.delay().toNanos();
    long now = System.nanoTime();
    if (task.lane != null && task.lane.since == 0) {
      task.lane.since = now;
    }
    task.state = Task.State.HELD;
    task.due = now + wait;
    task.tries = 0;
    d.again();
    schedule(
        () -> {
          if (task.state == Task.State.HELD) {
            await(task);
          }
        },
        wait);
  }

  /** Does something later, under the lock. */
  private void schedule(Runnable what, long nanos) {
    timer.schedule(() -> locked(what), nanos, TimeUnit.NANOSECONDS);
  }

  private void locked(Runnable what) {
    lock.lock();
    try {
      what.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    } finally {
      lock.unlock();
    }
  }

  private static long backoffMs(int tries) {
    return Math.min(50L << Math.min(tries, 10), MAX_BACKOFF_MS);
  }

  void measure() {
    try {
      guard.observer().measure(Metric.IDEM_MESSAGES_IN_FLIGHT, guard.scope(), inFlight());
    } catch (RuntimeException e) {
      // It changes no outcome.
    }
  }
}
