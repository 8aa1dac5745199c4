package io.github.idemspec.guard;

import java.sql.Connection;
import java.util.List;

/** Handles several messages at once, whose effects are in the store's database. */
public interface TxBatchHandler {
  /**
   * Handles them on a connection, which it neither commits nor closes: the effects and all SUCCESS are one
   * transaction. It gives results as {@link BatchHandler#handle} does. Where one fails, everything is
   * rolled back and the handler is called again without that one, with those, too, whose statements
   * the database refused since that one's had failed; where it throws, or no result says which one
   * failed, each runs alone. So it may be called several times, and one of its transactions is
   * committed.
   */
  List<? extends Throwable> handle(List<MessageDelivery> deliveries, Connection connection)
      throws Exception;
}
