/**
 * A consumer on kafka-clients: it reads at least once, and makes each effect happen once. Offsets are
 * committed behind what is settled, in the order fetched; other keys of a partition go on while one is
 * slow or waits.
 */
package io.github.idemspec.kafka;
