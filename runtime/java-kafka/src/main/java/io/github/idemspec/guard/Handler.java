package io.github.idemspec.guard;

/** Handles a message whose effect is outside; it hands on {@link MessageDelivery#key}. */
public interface Handler {
  /** Handles it; what it throws is classified by {@link Result#of(Throwable)}. */
  void handle(MessageDelivery delivery) throws Exception;
}
