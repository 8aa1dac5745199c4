package io.github.idemspec.guard;

import io.github.idemspec.v1.Outcome;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** The results of batch handlers. */
public final class Results {
  private Results() {}

  /** Success for all. */
  public static List<Throwable> done(List<MessageDelivery> deliveries) {
    return Collections.nCopies(deliveries.size(), null);
  }

  /** The one in a place; a message without one has failed. */
  static Throwable at(List<? extends Throwable> results, int place) {
    if (results != null && place < results.size()) {
      return results.get(place);
    }
    int given = results == null ? 0 : results.size();
    String text = "the batch handler gave " + given + " results, and none for this message";
    return new FailureException(Outcome.RETRYABLE, Duration.ZERO, "NO_RESULT", text, null) {};
  }
}
