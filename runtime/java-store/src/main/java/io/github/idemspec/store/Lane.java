package io.github.idemspec.store;

/**
 * An order of messages: those of one biz key of one topic, within a scope.
 *
 * @param topic the origin topic
 * @param bizKey the biz key
 */
public record Lane(String topic, String bizKey) {}
