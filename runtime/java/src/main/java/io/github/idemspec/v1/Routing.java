// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * Where a key goes: its shard, its lane, its Kafka partition (chapter 5). A hash routes; keys are
 * the same only where all their bytes are.
 */
public final class Routing {
  private static final int MURMUR = 0x5bd1e995;

  private Routing() {}

  /**
   * The hash of a key, an unsigned number in a long (HASH-001).
   *
   * @throws IdemException STRING_UTF8 where it has half a surrogate pair
   */
  public static long hash(String key) {
    return Xxh64.hash(Utf8.encode(key));
  }

  /**
   * The shard of a key, 0 to n - 1 (HASH-010).
   *
   * @param n how many there are
   * @throws IdemException PARTITION_COUNT where n is not positive, KEY_EMPTY
   */
  public static int shard(String key, int n) {
    return shardOfHash(Xxh64.hash(checked(key, n)), n);
  }

  /**
   * The lane of a key, 0 to n - 1, by other bits than its shard (HASH-011).
   *
   * @param n how many there are
   * @throws IdemException PARTITION_COUNT where n is not positive, KEY_EMPTY
   */
  public static int lane(String key, int n) {
    return laneOfHash(Xxh64.hash(checked(key, n)), n);
  }

  /** The shard of a hash; PARTITION_COUNT where n is not positive (HASH-010). */
  public static int shardOfHash(long hash, int n) {
    checkCount(n);
    return (int) Long.remainderUnsigned(hash, n);
  }

  /** The lane of a hash; PARTITION_COUNT where n is not positive (HASH-011). */
  public static int laneOfHash(long hash, int n) {
    checkCount(n);
    return (int) ((hash >>> 32) % n);
  }

  /**
   * The partition that Kafka's own clients choose for a record with this key (HASH-020).
   *
   * @param n how many partitions the topic has
   * @throws IdemException PARTITION_COUNT where n is not positive, KEY_EMPTY
   */
  public static int kafkaPartition(String bizKey, int n) {
    return (murmur2(checked(bizKey, n)) & 0x7fff_ffff) % n;
  }

  private static byte[] checked(String key, int n) {
    checkCount(n);
    if (key.isEmpty()) {
      throw new IdemException(ErrorCode.KEY_EMPTY, null, -1, null);
    }
    return Utf8.encode(key);
  }

  private static void checkCount(int n) {
    if (n < 1) {
      throw new IdemException(ErrorCode.PARTITION_COUNT, null, -1, Integer.toString(n));
    }
  }

  private static int murmur2(byte[] b) {
    int n = b.length;
    int h = 0x9747b28c ^ n;
    int at = 0;
    for (; n - at >= 4; at += 4) {
      int k = b[at] & 0xff | (b[at + 1] & 0xff) << 8 | (b[at + 2] & 0xff) << 16 | b[at + 3] << 24;
      k *= MURMUR;
      k ^= k >>> 24;
      h = h * MURMUR ^ k * MURMUR;
    }
    if (at < n) {
      for (int i = n - 1; i >= at; i--) {
        h ^= (b[i] & 0xff) << 8 * (i - at);
      }
      h *= MURMUR;
    }
    h ^= h >>> 13;
    h *= MURMUR;
    return h ^ h >>> 15;
  }
}
