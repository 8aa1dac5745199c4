package io.github.idemspec.bench;

import io.github.idemspec.shop.v1.PaymentSucceeded;
import io.github.idemspec.shop.v1.PaymentSucceededIdem;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The key of the shop's PaymentSucceeded. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class KeyOf1 {
  private final PaymentSucceeded message = Messages.succeeded();

  /** Generated code. */
  @Benchmark
  public String idem() {
    return PaymentSucceededIdem.idempotencyKey(message);
  }

  /** By hand. */
  @Benchmark
  public String limit() {
    return Limit.shopKey(message);
  }

  /** JSON and SHA-256. */
  @Benchmark
  public String jsonSha256() {
    return Peer.jsonSha256(message);
  }
}
