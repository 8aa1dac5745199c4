package io.github.idemspec.spring;

import static io.github.idemspec.testing.Topic.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.idemspec.guard.GuardConfig;
import io.github.idemspec.guard.MessageDelivery;
import io.github.idemspec.guard.Mode;
import io.github.idemspec.guard.NonRetryableException;
import io.github.idemspec.guard.Observer;
import io.github.idemspec.guard.RetryableException;
import io.github.idemspec.guard.Rules;
import io.github.idemspec.kafka.Breaker;
import io.github.idemspec.kafka.RetryScheduler;
import io.github.idemspec.store.Claim;
import io.github.idemspec.store.postgres.PostgresStore;
import io.github.idemspec.testing.Pair;
import io.github.idemspec.testing.Servers;
import io.github.idemspec.testing.Topic;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.Policy;
import io.github.idemspec.v1.Routing;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** Spring Kafka's own containers on the real broker. */
class IdemListenersTest {
  private static final String PAID = "payments.paid";
  private static final Policy QUICK =
      Policy.values().maxRetry(3).backoffScheduleMs(50).backoffJitterMs(0).toPolicy();

  private static Servers.Database database;

  private Topic topic;
  private AnnotationConfigApplicationContext context;

  @BeforeAll
  static void open() {
    database = new Servers.Database();
    database.run("create table effect (id text primary key, scope text)");
  }

  @AfterAll
  static void close() {
    if (database != null) {
      database.close();
    }
  }

  @BeforeEach
  void begin() throws Exception {
    topic = new Topic(1);
  }

  @AfterEach
  void end() {
    if (context != null) {
      context.close();
    }
    topic.close();
  }

  private void start(Class<?>... configurations) {
    context = new AnnotationConfigApplicationContext();
    Map<String, Object> properties =
        Map.of("topic", topic.name, "retry", topic.retry(), "group", topic.group);
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("test", properties));
    context.registerBean("source", DataSource.class, () -> database.pool(true)); // It closes it.
    context.registerBean("properties", KafkaProperties.class, () -> kafka(topic));
    context.register(configurations);
    context.refresh();
  }

  private record KafkaProperties(Map<String, Object> values) {}

  private static KafkaProperties kafka(Topic topic) {
    Map<String, Object> values = new HashMap<>(topic.properties());
    values.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    return new KafkaProperties(values);
  }

  private int count(String table, String where) {
    String sql = "select count(*) from " + table + " where scope = '" + topic.group + "' and ";
    return Integer.parseInt(database.ask(sql + where));
  }

  private String key(String id) {
    return PAID + ":v1:" + topic.group + "-" + id;
  }

  /** What all have: a consumer factory of bytes. */
  @Configuration
  @EnableKafka
  @EnableTransactionManagement
  static class Base {
    @Bean
    ConsumerFactory<byte[], byte[]> consumers(KafkaProperties properties) {
      return new DefaultKafkaConsumerFactory<>(
          properties.values(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Bean
    IdemListeners idem(
        DataSource source,
        PlatformTransactionManager transactions,
        org.springframework.core.env.Environment environment) {
      GuardConfig config = GuardConfig.of(environment.getRequiredProperty("group"));
      return new IdemListeners(config, new PostgresStore(source), source, transactions)
          .rules(PAID, Rules.of(Mode.TX).policy(QUICK));
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<byte[], byte[]> kafkaListenerContainerFactory(
        ConsumerFactory<byte[], byte[]> consumers, IdemListeners idem) {
      var factory = new ConcurrentKafkaListenerContainerFactory<byte[], byte[]>();
      factory.setConsumerFactory(consumers);
      return idem.applyTo(factory);
    }
  }

  /** JDBC's transactions. */
  @Configuration
  static class Jdbc {
    @Bean
    PlatformTransactionManager transactions(DataSource source) {
      return new DataSourceTransactionManager(source);
    }

    @Bean
    JdbcTemplate jdbc(DataSource source) {
      return new JdbcTemplate(source);
    }
  }

  /** A listener as it was before idem. */
  static class PaidListener {
    static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private final JdbcTemplate jdbc;

    PaidListener(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}")
    @Transactional
    public void paid(@Payload byte[] payload) {
      String[] words = new String(payload, StandardCharsets.UTF_8).split(" ");
      int call = CALLS.computeIfAbsent(words[1], id -> new AtomicInteger()).incrementAndGet();
      jdbc.update("insert into effect values (?, ?)", words[1] + "-" + call, words[2]);
      if (words[0].equals("later") && call < 3) {
        throw new RetryableException("not yet");
      }
      if (words[0].equals("lost")) {
        forget(words);
      }
      if (words[0].equals("heap")) {
        throw new OutOfMemoryError(String.valueOf(new byte[Integer.MAX_VALUE].length));
      }
      if (words[0].equals("never")) {
        throw new NonRetryableException("CARD_EXPIRED", "in May");
      }
    }
  }

  private void send(String what, String id) {
    topic.send(PAID, key(id), "o-1", what + " " + topic.group + "-" + id + " " + topic.group);
  }

  @Test
  void aListener_messagesThatComeTwice_hasOneEffectInItsTransaction() throws Exception {
    start(Base.class, Jdbc.class, PaidListener.class);
    for (int i = 0; i < 20; i++) {
      send("now", "p-" + i % 10);
    }
    await("offsets", () -> topic.committed() == 20);
    assertEquals(10, count("effect", "true"));
    assertEquals(10, count("idem_record", "state = 2"));
  }

  /** The counts of what became of deliveries are written at the latest when the context is closed. */
  @Test
  void close_whatBecameOfDeliveries_isCountedForTheAudit() throws Exception {
    start(Base.class, Jdbc.class, PaidListener.class);
    send("now", "c-1");
    send("now", "c-1");
    await("the offsets", () -> topic.committed() == 2);
    context.close();
    assertEquals(1, count("idem_audit", "outcome = 'OK' and count = 1"));
    assertEquals(1, count("idem_audit", "outcome = 'DUPLICATE' and layer = 'store' and count = 1"));
  }

  @Test
  void aListener_thatFails_isRetriedByTheSchedulerAndTakesItsEffectsBack() throws Exception {
    start(Base.class, Jdbc.class, PaidListener.class);
    send("later", "a");
    send("never", "b");
    try (Pair go = Pair.go(database.url(), topic.brokers())) {
      assertEquals(1, go.publish(1));
      assertEquals(1, go.publish(1));
    }
    await("the effect", () -> count("effect", "true") == 1);
    assertEquals(topic.group + "-a-3", database.ask(effectOf(topic)));
    assertEquals(1, count("dead_letter", "reason = 'CARD_EXPIRED: in May'"));
    assertEquals(1, count("idem_record", "state = 4"));
    assertEquals(0, count("msg_retry", "true"));
    assertEquals(2, topic.committed());
  }

  /** Takes the claim from whoever holds it. */
  private static void forget(String[] words) {
    try (HikariDataSource other = database.pool(true)) {
      new PostgresStore(other).forget(words[2], List.of(PAID + ":v1:" + words[1]));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aListener_whoseClaimIsLost_hasNoEffect(boolean jpa) throws Exception {
    start(Base.class, jpa ? Jpa.class : Jdbc.class, jpa ? JpaListener.class : PaidListener.class);
    send("lost", "a");
    await("offsets", () -> topic.committed() == 1);
    assertEquals(0, count("effect", "true"));
    assertEquals(1, count("msg_retry", "action = 'DEFER' and reason = 'FENCED'"));
    assertEquals(1, count("idem_record", "state = 3 and fence = 2"));
  }

  @Test
  void aListener_thatExhaustsTheHeap_isNotAcknowledgedAndItsContainerEnds() throws Exception {
    start(Base.class, Jdbc.class, PaidListener.class);
    send("heap", "a");
    var registry = context.getBean(KafkaListenerEndpointRegistry.class);
    var container = registry.getListenerContainers().iterator().next();
    await("the end", () -> !container.isInExpectedState() && !container.isChildRunning());
    assertEquals(0, topic.committed());
    assertEquals(0, count("effect", "true"));
    assertEquals(0, count("dead_letter", "true") + count("msg_retry", "true"));
    assertEquals(1, count("idem_record", "state = 1"));
  }

  private static String effectOf(Topic topic) {
    return "select id from effect where scope = '" + topic.group + "'";
  }

  @Test
  void aListener_headersThatAreFaulty_areADeadLetterAndItIsNotAsked() throws Exception {
    start(Base.class, Jdbc.class, PaidListener.class);
    topic.send(List.of(Header.of("event_type", PAID)), "o-1", "now x y");
    await("offsets", () -> topic.committed() == 1);
    assertEquals(1, count("dead_letter", "outcome = 'MALFORMED' and payload = 'now x y'"));
  }

  /** A row by JPA. */
  @Entity(name = "effect")
  static class Effect {
    @Id String id;
    String scope;
  }

  /** JPA's transactions. */
  @Configuration
  static class Jpa {
    @Bean
    LocalContainerEntityManagerFactoryBean entities(DataSource source) {
      var bean = new LocalContainerEntityManagerFactoryBean();
      bean.setDataSource(source);
      bean.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
      bean.setPackagesToScan("io.github.idemspec.spring");
      bean.setJpaProperties(new Properties());
      return bean;
    }

    @Bean
    PlatformTransactionManager transactions(EntityManagerFactory entities) {
      return new JpaTransactionManager(entities);
    }
  }

  /** A listener on JPA. */
  static class JpaListener {
    static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    @PersistenceContext EntityManager entities;

    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}")
    public void paid(@Payload byte[] payload) {
      String[] words = new String(payload, StandardCharsets.UTF_8).split(" ");
      int call = CALLS.computeIfAbsent(words[1], id -> new AtomicInteger()).incrementAndGet();
      Effect effect = new Effect();
      effect.id = words[1] + "-" + call;
      effect.scope = words[2];
      entities.persist(effect);
      if (words[0].equals("lost")) {
        forget(words);
      }
      if (words[0].equals("later") && call < 2) {
        entities.flush();
        throw new RetryableException("not yet");
      }
    }
  }

  @Test
  void aListenerOnJpa_hasItsEffectInTheTransactionOfSuccess() throws Exception {
    start(Base.class, Jpa.class, JpaListener.class);
    send("now", "a");
    send("now", "a");
    send("later", "b");
    try (Pair go = Pair.go(database.url(), topic.brokers())) {
      assertEquals(1, go.publish(1));
    }
    await("the effects", () -> count("effect", "true") == 2);
    assertEquals(1, count("effect", "id like '%-a-1'"));
    assertEquals(1, count("effect", "id like '%-b-2'"));
    assertEquals(2, count("idem_record", "state = 2"));
  }

  private String refusal(Class<?>... configurations) {
    Throwable e = assertThrows(Exception.class, () -> start(configurations));
    while (e.getCause() != null) {
      e = e.getCause();
    }
    return e.getMessage();
  }

  /** What is retried twice. */
  static class RetryableListener {
    @RetryableTopic
    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}")
    public void paid(@Payload byte[] payload) {}
  }

  /** What @RetryableTopic needs. */
  @Configuration
  @EnableKafkaRetryTopic
  static class RetryTopics {
    @Bean
    KafkaTemplate<byte[], byte[]> defaultRetryTopicKafkaTemplate(KafkaProperties properties) {
      return new KafkaTemplate<>(
          new DefaultKafkaProducerFactory<>(
              properties.values(), new ByteArraySerializer(), new ByteArraySerializer()));
    }

    @Bean
    ThreadPoolTaskScheduler scheduler() {
      return new ThreadPoolTaskScheduler();
    }
  }

  @Test
  void start_besideRetryableTopic_isRefused() {
    String message =
        refusal(Base.class, Jdbc.class, RetryTopics.class, RetryableListener.class);
    assertTrue(message.contains("it is a @RetryableTopic"), message);
  }

  /** Without its retry topic. */
  static class HalfListener {
    @KafkaListener(topics = "${topic}", groupId = "${group}")
    public void paid(@Payload byte[] payload) {}
  }

  @Test
  void start_withoutTheRetryTopic_saysWhatToAdd() {
    String message = refusal(Base.class, Jdbc.class, HalfListener.class);
    assertTrue(message.endsWith("add \"" + topic.retry() + "\" to the topics"), message);
  }

  /** Of a topic that nobody has made. */
  static class MissingListener {
    @KafkaListener(
        topics = {"${topic}-missing", "${topic}-missing.retry.${group}"},
        groupId = "${group}")
    public void paid(@Payload byte[] payload) {}
  }

  @Test
  void start_withoutItsTopics_isRefused() {
    String message = refusal(Base.class, Jdbc.class, MissingListener.class);
    assertTrue(message.contains(topic.name + "-missing.retry." + topic.group), message);
  }

  /** Acknowledges by itself. */
  static class ManualListener {
    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}")
    public void paid(@Payload byte[] payload, Acknowledgment ack) {}
  }

  /** With AckMode MANUAL. */
  @Configuration
  static class Manual {
    @Bean
    Object manual(ConcurrentKafkaListenerContainerFactory<byte[], byte[]> factory) {
      factory.getContainerProperties().setAckMode(AckMode.MANUAL);
      return new ManualListener();
    }
  }

  @Test
  void start_withManualAcknowledgement_isRefused() {
    String message = refusal(Base.class, Jdbc.class, Manual.class);
    assertTrue(message.contains("its AckMode is MANUAL"), message);
  }

  /** With the container's own error handler. */
  @Configuration
  static class Skipping {
    @Bean
    PaidListener paid(
        JdbcTemplate jdbc, ConcurrentKafkaListenerContainerFactory<byte[], byte[]> factory) {
      factory.setCommonErrorHandler(new org.springframework.kafka.listener.DefaultErrorHandler());
      return new PaidListener(jdbc);
    }
  }

  @Test
  void start_withAnErrorHandlerThatGivesUp_isRefused() {
    String message = refusal(Base.class, Jdbc.class, Skipping.class);
    assertTrue(message.contains("one that gives up skips messages"), message);
  }

  /** Strings, whose bytes nobody knows. */
  @Configuration
  static class Strings {
    @Bean
    @org.springframework.context.annotation.Primary
    ConsumerFactory<byte[], byte[]> strings(KafkaProperties properties) {
      Map<String, Object> values = new HashMap<>(properties.values());
      values.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, StringDeserializer.class);
      values.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, StringDeserializer.class);
      return new DefaultKafkaConsumerFactory<>(values);
    }
  }

  @Test
  void start_withValuesThatAreNoBytes_isRefused() {
    String message = refusal(Base.class, Jdbc.class, Strings.class, PaidListener.class);
    assertTrue(message.contains("ByteArrayDeserializer"), message);
  }

  /** As Kafka has it where nobody says anything. */
  @Configuration
  static class Latest {
    @Bean
    @org.springframework.context.annotation.Primary
    ConsumerFactory<byte[], byte[]> latest(KafkaProperties properties) {
      Map<String, Object> values = new HashMap<>(properties.values());
      values.remove(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG);
      return new DefaultKafkaConsumerFactory<>(
          values, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
  }

  @Test
  void start_withGroupsThatBeginAtTheLatestMessage_isRefused() {
    String message = refusal(Base.class, Jdbc.class, Latest.class, PaidListener.class);
    assertTrue(message.endsWith("set it to earliest"), message);
  }

  /** One that says so itself. */
  static class LatestListener {
    @KafkaListener(
        topics = {"${topic}", "${retry}"},
        groupId = "${group}",
        properties = "auto.offset.reset=latest")
    public void paid(@Payload byte[] payload) {}
  }

  @Test
  void start_withAListenerThatBeginsAtTheLatestMessage_isRefused() {
    String message = refusal(Base.class, Jdbc.class, LatestListener.class);
    assertTrue(message.endsWith("set it to earliest"), message);
  }

  /** What all listeners of a test depend on. */
  static class Bank {
    final AtomicInteger calls = new AtomicInteger();
    volatile boolean down = true;
  }

  /** One that asks it. */
  static class BankListener {
    private final Bank bank;
    private final JdbcTemplate jdbc;

    BankListener(Bank bank, JdbcTemplate jdbc) {
      this.bank = bank;
      this.jdbc = jdbc;
    }

    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}")
    public void paid(@Payload byte[] payload) {
      String[] words = new String(payload, StandardCharsets.UTF_8).split(" ");
      bank.calls.incrementAndGet();
      if (bank.down) {
        throw new RetryableException("the bank is down");
      }
      jdbc.update("insert into effect values (?, ?)", words[1], words[2]);
    }
  }

  /** A route that rests soon. */
  @Configuration
  static class Resting {
    @Bean
    Bank bank(IdemListeners idem) {
      Policy once = Policy.values().maxRetry(1).backoffScheduleMs(1).backoffJitterMs(0).toPolicy();
      idem.rules(
          PAID,
          Rules.of(Mode.TX).policy(once),
          new Breaker(3, Duration.ofMillis(200), Duration.ofMillis(400)));
      return new Bank();
    }
  }

  @Test
  void breaker_anOutage_putsNothingIntoTheDeadLettersAndEndsByAProbe() throws Exception {
    start(Base.class, Jdbc.class, Resting.class, BankListener.class);
    Bank bank = context.getBean(Bank.class);
    RetryScheduler scheduler =
        new RetryScheduler(topic.properties(), new PostgresStore(context.getBean(DataSource.class)));
    try (scheduler) {
      new Thread(scheduler, "test-scheduler").start();
      for (int i = 0; i < 30; i++) {
        send("now", "r-" + i);
      }
      await("a probe", () -> bank.calls.get() > 4);
      Thread.sleep(2_000); // Enough for all of them to be tried twice, where nothing rests.
      assertTrue(bank.calls.get() < 30, "it does not rest: " + bank.calls);
      bank.down = false;
      await("the effects", () -> count("effect", "true") == 30);
    }
    assertEquals(0, count("dead_letter", "true"));
    await("offsets", () -> topic.committed() == 30);
  }

  /** Listeners that only look. */
  @Configuration
  static class Shadows {
    static final Queue<String> TOLD = new ConcurrentLinkedQueue<>();

    @Bean
    @org.springframework.context.annotation.Primary
    IdemListeners shadows(
        DataSource source,
        PlatformTransactionManager transactions,
        org.springframework.core.env.Environment environment) {
      Observer observer =
          new Observer() {
            @Override
            public void delivered(MessageDelivery d) {
              TOLD.add(d.message().source().topic() + " " + d.outcome() + " " + d.shadow());
            }
          };
      GuardConfig config =
          GuardConfig.of(environment.getRequiredProperty("group")).withObserver(observer);
      return new IdemListeners(config, new PostgresStore(source), source, transactions).shadow();
    }
  }

  @Test
  void shadow_messages_areComputedAndToldAndNoListenerIsCalled() throws Exception {
    start(Base.class, Jdbc.class, Shadows.class, PaidListener.class);
    send("now", "s-1");
    send("now", "s-1");
    await("offsets", () -> topic.committed() == 2);
    assertEquals(0, count("effect", "true") + count("idem_record", "true"));
    assertEquals(
        List.of(topic.name + " DUPLICATE true", topic.name + " OK true"),
        Shadows.TOLD.stream().filter(t -> t.startsWith(topic.name)).sorted().toList());
  }

  /** One that notes how many run beside a message. */
  static class CrowdListener {
    static final AtomicInteger RUNNING = new AtomicInteger();
    static final Map<String, Integer> BESIDE = new ConcurrentHashMap<>();

    @KafkaListener(topics = {"${topic}", "${retry}"}, groupId = "${group}", concurrency = "2")
    public void paid(@Payload byte[] payload) throws InterruptedException {
      String[] words = new String(payload, StandardCharsets.UTF_8).split(" ");
      BESIDE.put(words[1], RUNNING.getAndIncrement());
      try {
        Thread.sleep(words[0].equals("slow") ? 1500 : 0);
      } finally {
        RUNNING.decrementAndGet();
      }
    }
  }

  /** Two claims that ended without a word: it may have taken the process along. */
  private void crashTwice(String id) throws InterruptedException {
    try (HikariDataSource pool = database.pool(true)) {
      PostgresStore store = new PostgresStore(pool);
      for (int i = 0; i < 2; i++) {
        Duration lease = Duration.ofMillis(1);
        store.claim(List.of(Claim.of(topic.group, key(id), "crashed-" + i, lease, 9)));
        Thread.sleep(5);
      }
    }
  }

  @Test
  void aListener_ofAMessageThatMayTakeTheProcessAlong_runsWithNothingElse() throws Exception {
    topic.close();
    topic = new Topic(2);
    int first = Routing.kafkaPartition("o-1", 2);
    String other =
        Stream.iterate(2, i -> i + 1)
            .map(i -> "o-" + i)
            .filter(bizKey -> Routing.kafkaPartition(bizKey, 2) != first)
            .findFirst()
            .orElseThrow();
    crashTwice("suspect");
    start(Base.class, Jdbc.class, CrowdListener.class);
    var registry = context.getBean(KafkaListenerEndpointRegistry.class);
    var threads =
        (ConcurrentMessageListenerContainer<?, ?>)
            registry.getListenerContainers().iterator().next();
    await(
        "partitions of both threads",
        () ->
            threads.getContainers().stream()
                .noneMatch(c -> c.getAssignedPartitions() == null || c.getAssignedPartitions().isEmpty()));
    String suspect = topic.group + "-suspect";
    topic.send(PAID, key("slow"), "o-1", "slow " + topic.group + "-slow " + topic.group);
    await("the slow one", () -> CrowdListener.BESIDE.containsKey(topic.group + "-slow"));
    topic.send(PAID, key("suspect"), other, "now " + suspect + " " + topic.group);
    await("offsets", () -> topic.committed() == 2);
    assertEquals(0, CrowdListener.BESIDE.get(suspect));
    assertEquals(2, count("idem_record", "state = 2"));
  }
}
