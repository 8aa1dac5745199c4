package io.github.idemspec.bench;

import io.github.idemspec.bench.v1.PaymentSettled;
import io.github.idemspec.bench.v1.PaymentSettledIdem;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A key of four components: a string, a decimal, a string and a timestamp. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class KeyOf4 {
  private final PaymentSettled message = Messages.settled();

  /** Generated code. */
  @Benchmark
  public String idem() {
    return PaymentSettledIdem.idempotencyKey(message);
  }

  /** By hand. */
  @Benchmark
  public String limit() {
    return Limit.settledKey(message);
  }

  /** JSON and SHA-256. */
  @Benchmark
  public String jsonSha256() {
    return Peer.jsonSha256(message);
  }
}
