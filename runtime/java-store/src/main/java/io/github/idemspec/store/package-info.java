/**
 * What is kept of messages, and who keeps it: dedup records, deliveries to come, dead letters and the
 * outbox, by the statements and scripts of the spec, which every language runs alike.
 */
package io.github.idemspec.store;
