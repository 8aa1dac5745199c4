package io.github.idemspec.guard;

import java.util.List;

/** Handles several messages at once, whose effects are outside. */
public interface BatchHandler {
  /**
   * Handles them, and gives one result for each, in their order: null where it is done, else what it ran
   * into, which is classified by {@link Result#of(Throwable)}; {@link Results#done} is success for all.
   * A message without a result has failed, and is tried again (CONS-008). What is thrown is the result
   * of all.
   */
  List<? extends Throwable> handle(List<MessageDelivery> deliveries) throws Exception;
}
