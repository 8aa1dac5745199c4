package io.github.idemspec.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The processor time of an operation, of all Java threads; what compiles and collects garbage beside
 * them is left out. The machine's other work makes the time on the wall longer; this one stays. (The
 * platform tells the time of the whole process in hundredths of a second, which are too few.)
 */
public final class CpuProfiler implements InternalProfiler {
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private long began;

  @Override
  public String getDescription() {
    return "processor time of Java threads, per operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    began = used();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    double each = (double) (used() - began) / result.getMetadata().getAllOps();
    return List.of(new ScalarResult("cpu", each, "ns/op", AggregationPolicy.AVG));
  }

  private long used() {
    return Arrays.stream(threads.getAllThreadIds()).map(threads::getThreadCpuTime).sum();
  }
}
