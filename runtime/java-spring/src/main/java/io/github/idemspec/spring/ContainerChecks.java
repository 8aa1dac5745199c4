package io.github.idemspec.spring;

import io.github.idemspec.guard.Topics;
import io.github.idemspec.spring.IdemListeners.EndlessErrorHandler;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListeners;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.adapter.AsyncRepliesAware;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.util.ClassUtils;

/** What a container must not do that is guarded: acknowledge by itself, or retry by itself. */
final class ContainerChecks {
  static final String BYTES =
      "give the ConsumerFactory a ByteArrayDeserializer, and the container factory a record message"
          + " converter, such as ByteArrayJacksonJsonMessageConverter";

  private static final String RESET = "auto.offset.reset";

  private final String scope;

  ContainerChecks(String scope) {
    this.scope = scope;
  }

  void check(AbstractMessageListenerContainer<?, ?> container) {
    ContainerProperties properties = container.getContainerProperties();
    String name = container.getListenerId() + " " + Arrays.toString(properties.getTopics());
    Object listener = properties.getMessageListener();
    refuse(
        listener instanceof BatchMessageListener,
        name,
        "it takes batches: a claim is for one message; leave setBatchListener out");
    AckMode mode = properties.getAckMode();
    refuse(
        mode == AckMode.MANUAL || mode == AckMode.MANUAL_IMMEDIATE,
        name,
        "its AckMode is " + mode + ": the container acknowledges what is settled, by RECORD or BATCH");
    refuse(
        properties.isAsyncAcks()
            || listener instanceof AsyncRepliesAware async && async.isAsyncReplies(),
        name,
        "it replies asynchronously: SUCCESS would come before the effect");
    refuse(
        !(container.getCommonErrorHandler() instanceof EndlessErrorHandler),
        name,
        "its error handler is another than applyTo has set: one that gives up skips messages");
    earliest(name, properties.getKafkaConsumerProperties().get(RESET));
    retryTopics(name, properties.getTopics());
  }

  /** Settings of a factory, which those of a listener go before. */
  void earliest(ConsumerFactory<?, ?> factory) {
    Object reset = factory.getConfigurationProperties().get(RESET);
    earliest("of " + factory.getClass().getSimpleName(), reset == null ? "latest" : reset);
  }

  /** Else what comes before the group has an offset is lost, as in a partition that is new (CONS-007). */
  private static void earliest(String name, Object reset) {
    refuse(
        reset != null && !reset.equals("earliest"),
        name,
        RESET + " is " + reset + ", so that messages of new partitions are lost: set it to earliest");
  }

  /** What a retry or a dead letter keeps is the payload's bytes as they came (CONS-030). */
  void bytes(ConsumerFactory<?, ?> factory) {
    Object instance = factory.getValueDeserializer();
    Object type = factory.getConfigurationProperties().get("value.deserializer");
    String name = type instanceof Class<?> c ? c.getName() : String.valueOf(type);
    boolean known = instance != null || type != null;
    boolean isBytes =
        instance == null
            ? name.equals(ByteArrayDeserializer.class.getName())
            : instance instanceof ByteArrayDeserializer;
    refuse(
        known && !isBytes,
        "of " + factory.getClass().getSimpleName(),
        "its values are deserialized by "
            + (instance == null ? name : instance.getClass().getName())
            + ", so that their bytes are lost: "
            + BYTES);
  }

  /** What follows from a failure comes by the retry topic, which somebody has to read. */
  private void retryTopics(String name, String[] topics) {
    if (topics == null) {
      return;
    }
    Set<String> read = new HashSet<>(Arrays.asList(topics));
    for (String topic : topics) {
      String retry = Topics.retry(topic, scope);
      boolean isOrigin = Topics.origin(topic, scope).equals(topic);
      refuse(
          isOrigin && !read.contains(retry),
          name,
          "it reads " + topic + " without its retry topic: add \"" + retry + "\" to the topics");
    }
  }

  /** Two that retry one message would count it twice, and give it two keys. */
  void beside(ListableBeanFactory beans, List<AbstractMessageListenerContainer<?, ?>> containers) {
    Set<String> guarded = new HashSet<>();
    for (AbstractMessageListenerContainer<?, ?> container : containers) {
      String[] topics = container.getContainerProperties().getTopics();
      guarded.addAll(topics == null ? List.of() : Arrays.asList(topics));
    }
    for (RetryTopicConfiguration c : beans.getBeansOfType(RetryTopicConfiguration.class).values()) {
      for (String topic : guarded) {
        refuse(
            c.hasConfigurationForTopics(new String[] {topic}),
            topic,
            "a RetryTopicConfiguration retries it too: take one of the two away");
      }
    }
    for (String bean : beans.getBeanDefinitionNames()) {
      Class<?> type = beans.getType(bean, false);
      if (type != null) {
        annotated(beans, ClassUtils.getUserClass(type), guarded);
      }
    }
  }

  private static void annotated(ListableBeanFactory beans, Class<?> type, Set<String> guarded) {
    List<AnnotatedElement> elements = new ArrayList<>();
    elements.add(type);
    elements.addAll(
        MethodIntrospector.selectMethods(
            type,
            (Method m) -> AnnotatedElementUtils.hasAnnotation(m, RetryableTopic.class)));
    for (AnnotatedElement element : elements) {
      if (!AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class)) {
        continue;
      }
      for (KafkaListener listener :
          AnnotatedElementUtils.getMergedRepeatableAnnotations(
              element, KafkaListener.class, KafkaListeners.class)) {
        for (String topic : listener.topics()) {
          refuse(
              guarded.contains(resolved(beans, topic)),
              element.toString(),
              "it is a @RetryableTopic, and IdemListeners retries its messages too: take the"
                  + " annotation away");
        }
      }
    }
  }

  private static String resolved(ListableBeanFactory beans, String topic) {
    return beans instanceof ConfigurableBeanFactory b ? b.resolveEmbeddedValue(topic) : topic;
  }

  private static void refuse(boolean wrong, String what, String why) {
    if (wrong) {
      throw new IllegalStateException("idem does not guard the listener " + what + ": " + why);
    }
  }
}
