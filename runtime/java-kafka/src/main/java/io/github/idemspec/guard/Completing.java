package io.github.idemspec.guard;

import io.github.idemspec.store.Completion;
import io.github.idemspec.store.Store;
import io.github.idemspec.store.StoredRecord;
import io.github.idemspec.store.Transactor;
import java.sql.Connection;
import java.util.function.Consumer;

/** Makes the record of one delivery SUCCESS, within a transaction. */
final class Completing implements Guard.Complete {
  private final Store store;
  private final MessageDelivery delivery;
  private boolean done;

  Completing(Store store, MessageDelivery delivery) {
    this.store = store;
    this.delivery = delivery;
  }

  @Override
  public void with(Consumer<Completion> how) {
    NonRetryableException fault = faultOfResult(delivery);
    if (fault != null) {
      throw fault; // What is in the transaction can still be taken back.
    }
    if (delivery.held()) {
      how.accept(delivery.completion());
      done = true;
    }
  }

  @Override
  public void on(Connection connection) {
    with(completion -> ((Transactor) store).completeTx(connection, completion));
  }

  boolean done() {
    return done;
  }

  /** Of a result that does not fit; else null. */
  static NonRetryableException faultOfResult(MessageDelivery d) {
    if (d.value == null || d.value.length <= StoredRecord.MAX_RESULT) {
      return null;
    }
    return new NonRetryableException(
        "RESULT_TOO_LARGE", d.value.length + " bytes, the limit is " + StoredRecord.MAX_RESULT);
  }
}
