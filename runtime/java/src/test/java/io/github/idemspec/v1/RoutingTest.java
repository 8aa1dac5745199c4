package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.dynatrace.hash4j.hashing.Hashing;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoutingTest {
  @ParameterizedTest
  @CsvSource({
    "'',ef46db3751d8e999",
    "order-8317,0009840d8e32d5ea",
    "www.,f3bf7284be32a53d",
    "a|b,f1eaa794e361bef1"
  })
  void hash_ofText_isKnown(String text, String want) {
    assertEquals(want, Xxh64.hex(Routing.hash(text)));
  }

  @Test
  void hash_ofRandomBytes_isHash4js() {
    Random random = new Random(1);
    for (int length = 0; length < 300; length++) {
      for (int i = 0; i < 20; i++) {
        byte[] bytes = new byte[length + 7];
        random.nextBytes(bytes);
        byte[] middle = Arrays.copyOfRange(bytes, 3, 3 + length);
        long want = Hashing.xxh64().hashBytesToLong(middle);
        assertEquals(want, Xxh64.hash(middle));
        assertEquals(want, Xxh64.hash(bytes, 3, length));
      }
    }
  }

  @Test
  void hash_ofHalfASurrogatePair_isRefused() {
    assertFault(ErrorCode.STRING_UTF8, () -> Routing.hash("a\ud83d"));
  }

  @Test
  void shardAndLane_ofRandomHashes_areUnsigned() {
    Random random = new Random(2);
    for (int i = 0; i < 50_000; i++) {
      long hash = random.nextLong();
      int n = 1 + (random.nextInt(Integer.MAX_VALUE) >> random.nextInt(31));
      BigInteger unsigned = new BigInteger(Long.toUnsignedString(hash));
      BigInteger count = BigInteger.valueOf(n);
      assertEquals(unsigned.mod(count).intValue(), Routing.shardOfHash(hash, n));
      assertEquals(unsigned.shiftRight(32).mod(count).intValue(), Routing.laneOfHash(hash, n));
    }
  }

  @Test
  void shardAndLane_ofAKey_areThoseOfItsHash() {
    assertEquals(0, Routing.shard("order-128", 12));
    assertEquals(Routing.shardOfHash(Routing.hash("k\u20ac"), 7), Routing.shard("k\u20ac", 7));
    assertEquals(Routing.laneOfHash(Routing.hash("k\u20ac"), 7), Routing.lane("k\u20ac", 7));
    assertEquals(3, Routing.shardOfHash(-1, 12));
  }

  @Test
  void kafkaPartition_ofRandomKeys_isKafkas() {
    Random random = new Random(3);
    for (int i = 0; i < 50_000; i++) {
      StringBuilder key = new StringBuilder();
      for (int n = 1 + random.nextInt(20); n > 0; n--) {
        key.append("az09-\u00e9\u20ac".charAt(random.nextInt(7)));
      }
      int n = 1 + random.nextInt(1_000);
      byte[] utf8 = key.toString().getBytes(StandardCharsets.UTF_8);
      assertEquals(
          BuiltInPartitioner.partitionForKey(utf8, n), Routing.kafkaPartition(key.toString(), n));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
  void count_thatIsNotPositive_comesBeforeTheKey(int n) {
    assertFault(ErrorCode.PARTITION_COUNT, () -> Routing.shard("", n));
    assertFault(ErrorCode.PARTITION_COUNT, () -> Routing.lane("", n));
    assertFault(ErrorCode.PARTITION_COUNT, () -> Routing.kafkaPartition("", n));
    assertFault(ErrorCode.PARTITION_COUNT, () -> Routing.shardOfHash(1, n));
    assertFault(ErrorCode.PARTITION_COUNT, () -> Routing.laneOfHash(1, n));
  }

  @Test
  void key_ofNoBytes_isEmpty() {
    assertFault(ErrorCode.KEY_EMPTY, () -> Routing.shard("", 1));
    assertFault(ErrorCode.KEY_EMPTY, () -> Routing.lane("", 1));
    assertFault(ErrorCode.KEY_EMPTY, () -> Routing.kafkaPartition("", 1));
  }
}
