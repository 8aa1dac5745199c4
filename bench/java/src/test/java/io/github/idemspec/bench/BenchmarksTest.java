package io.github.idemspec.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.idemspec.bench.v1.PaymentSettledIdem;
import io.github.idemspec.shop.v1.PaymentSucceededIdem;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

class BenchmarksTest {
  @Test
  void limit_isTheKey() {
    assertEquals(Messages.SHOP_KEY, PaymentSucceededIdem.idempotencyKey(Messages.succeeded()));
    assertEquals(Messages.SHOP_KEY, Limit.shopKey(Messages.succeeded()));
    assertEquals(Messages.SETTLED_KEY, PaymentSettledIdem.idempotencyKey(Messages.settled()));
    assertEquals(Messages.SETTLED_KEY, Limit.settledKey(Messages.settled()));
  }

  @Test
  void everyBenchmark_runsOnce() throws RunnerException {
    var options =
        new OptionsBuilder()
            .mode(Mode.SingleShotTime)
            .forks(0)
            .warmupIterations(0)
            .measurementIterations(1)
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT)
            .build();
    assertEquals(6, new Runner(options).run().size());
  }
}
