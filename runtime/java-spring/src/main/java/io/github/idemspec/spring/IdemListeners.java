package io.github.idemspec.spring;

import io.github.idemspec.guard.Guard;
import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.kafka.Breaker;
import io.github.idemspec.store.Transactor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.aopalliance.aop.Advice;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.AbstractKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Guards the {@code @KafkaListener}s of a container factory. The advice goes around the listener,
 * through {@code ContainerProperties.adviceChain}: it claims, runs the listener in a transaction of the
 * application's transaction manager, makes SUCCESS its last statement, and writes what follows from a
 * failure.
 *
 * <pre>{@code
 * @Bean
 * IdemListeners idem(DataSource source, PlatformTransactionManager transactions) {
 *   return new IdemListeners(GuardConfig.of("payments"), new PostgresStore(source), source, transactions);
 * }
 *
 * @Bean
 * ConcurrentKafkaListenerContainerFactory<byte[], byte[]> kafkaListenerContainerFactory(
 *     ConsumerFactory<byte[], byte[]> consumers, IdemListeners idem) {
 *   var factory = new ConcurrentKafkaListenerContainerFactory<byte[], byte[]>();
 *   factory.setConsumerFactory(consumers);
 *   return idem.applyTo(factory);
 * }
 * }</pre>
 *
 * <p>Values are bytes (ByteArrayDeserializer), and a record message converter makes objects of them,
 * such as ByteArrayJacksonJsonMessageConverter: the claim comes before the payload is read, and a retry
 * has the bytes that came. A container handles a partition's messages one after the other, so that an
 * order of BLOCK is one of PARK here.
 *
 * <p>It refuses to start beside {@code @RetryableTopic}, whose copies have other keys and counts, and
 * where something else acknowledges: batch listeners, manual acknowledgement, asynchronous replies.
 */
public final class IdemListeners
    implements SmartLifecycle, BeanFactoryAware, DisposableBean {
  /** Before the containers, which the registry starts in its own. */
  private static final int PHASE = AbstractMessageListenerContainer.DEFAULT_PHASE - 1000;

  private static final long FIRST_PAUSE_MS = 200;
  private static final long MOST_PAUSE_MS = 5_000;

  private final Guard guard;
  private final GuardAdvice advice;
  private final Map<String, ListenerRoute> routes = new HashMap<>();
  private final List<ConsumerFactory<?, ?>> consumerFactories = new ArrayList<>();
  private ListenerRoute otherwise;
  private boolean shadow;
  private ListableBeanFactory beans;
  private boolean running;

  /**
   * Listeners of one scope.
   *
   * @param config the scope, usually the name of the listeners' group, and what goes with it
   * @param store a store on the same database as {@code source}
   * @param source what the application's connections come from
   * @param transactions the transaction manager of that DataSource, JDBC's or JPA's
   */
  public <S extends Transactor> IdemListeners(
      GuardConfig config, S store, DataSource source, PlatformTransactionManager transactions) {
    guard = new Guard(store, config);
    ListenerTransaction transaction = new ListenerTransaction(transactions, source);
    advice = new GuardAdvice(guard, this::routeOf, () -> shadow, transaction);
    rules(Rules.of(Mode.TX));
  }

  /** With rules for one event type. */
  public IdemListeners rules(String eventType, Rules of) {
    return rules(eventType, of, Breaker.DEFAULT);
  }

  /** With rules for one event type, and other bounds of when its messages wait in an outage. */
  public IdemListeners rules(String eventType, Rules of, Breaker breaker) {
    routes.put(eventType, new ListenerRoute(guard, eventType, of, breaker));
    return this;
  }

  /** With rules for all event types that have none of their own; else these are of mode TX. */
  public IdemListeners rules(Rules of) {
    return rules(of, Breaker.DEFAULT);
  }

  /** With rules and bounds for all event types that have none of their own. */
  public IdemListeners rules(Rules of, Breaker breaker) {
    otherwise = new ListenerRoute(guard, "", of, breaker);
    return this;
  }

  /**
   * Has listeners compute, tell the observer, and never act: no claim is made, and no listener is called.
   * Give them a group of their own, or the group that acts loses the messages.
   */
  public IdemListeners shadow() {
    shadow = true;
    return this;
  }

  private ListenerRoute routeOf(String eventType) {
    return routes.getOrDefault(eventType, otherwise);
  }

  /**
   * Guards the listeners of a factory. It sets the error handler too: what cannot be made durable comes
   * again until it can, and is never skipped. Containers do not start without their topics.
   */
  public <C extends AbstractMessageListenerContainer<K, V>, K, V, F extends AbstractKafkaListenerContainerFactory<C, K, V>>
      F applyTo(F factory) {
    Advice[] before = factory.getContainerProperties().getAdviceChain();
    Advice[] chain = Arrays.copyOf(before, before.length + 1);
    chain[before.length] = advice;
    factory.getContainerProperties().setAdviceChain(chain);
    factory.getContainerProperties().setMissingTopicsFatal(true);
    ExponentialBackOff pauses = new ExponentialBackOff(FIRST_PAUSE_MS, 2);
    pauses.setMaxInterval(MOST_PAUSE_MS);
    factory.setCommonErrorHandler(new EndlessErrorHandler(pauses));
    if (factory.getConsumerFactory() == null) {
      throw new IllegalStateException("the factory has no ConsumerFactory: set it before applyTo");
    }
    consumerFactories.add(factory.getConsumerFactory());
    return factory;
  }

  /** The one that {@link #applyTo} sets; another one might skip what is not durable. */
  static final class EndlessErrorHandler extends DefaultErrorHandler {
    EndlessErrorHandler(ExponentialBackOff pauses) {
      super(pauses);
      defaultFalse(); // No exception is fatal here, whatever its class.
      setClassifications(Map.of(), true);
    }
  }

  @Override
  public void setBeanFactory(BeanFactory factory) {
    beans = factory instanceof ListableBeanFactory all ? all : null;
  }

  /** Checks the containers, before they start. */
  @Override
  public void start() {
    ContainerChecks checks = new ContainerChecks(guard.scope());
    List<AbstractMessageListenerContainer<?, ?>> containers = containers();
    if (beans != null) {
      checks.beside(beans, containers);
    }
    containers.forEach(checks::check);
    consumerFactories.forEach(checks::bytes);
    consumerFactories.forEach(checks::earliest);
    guard.store().check();
    running = true;
  }

  /** Those that the advice goes around. */
  private List<AbstractMessageListenerContainer<?, ?>> containers() {
    List<AbstractMessageListenerContainer<?, ?>> guarded = new ArrayList<>();
    if (beans == null) {
      return guarded;
    }
    for (KafkaListenerEndpointRegistry registry :
        beans.getBeansOfType(KafkaListenerEndpointRegistry.class).values()) {
      for (MessageListenerContainer each : registry.getListenerContainers()) {
        List<Advice> chain = List.of(each.getContainerProperties().getAdviceChain());
        if (each instanceof AbstractMessageListenerContainer<?, ?> container
            && chain.contains(advice)) {
          guarded.add(container);
        }
      }
    }
    return guarded;
  }

  @Override
  public void stop() {
    running = false;
  }

  /** Ends what watches the leases, and writes the last counts of what became of deliveries. */
  @Override
  public void destroy() {
    guard.close();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
