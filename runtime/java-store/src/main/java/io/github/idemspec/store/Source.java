package io.github.idemspec.store;

/**
 * The place of a delivery on its broker.
 *
 * @param topic the topic it was read from
 * @param partition the partition
 * @param offset the offset
 */
public record Source(String topic, int partition, long offset) {
  @Override
  public String toString() {
    return topic + "/" + partition + "/" + offset;
  }
}
