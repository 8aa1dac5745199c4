/**
 * idem in Spring Kafka: the listener stays a {@code @KafkaListener}, and its effect and SUCCESS are one
 * transaction of Spring's.
 */
package io.github.idemspec.spring;
