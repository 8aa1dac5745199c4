package io.github.idemspec.guard;

/** Another observer, what it throws left out. Errors of the virtual machine are nobody's to hide. */
final class SafeObserver implements Observer {
  private final Observer observer;

  SafeObserver(Observer observer) {
    this.observer = observer;
  }

  @Override
  public void delivered(MessageDelivery delivery) {
    safely(() -> observer.delivered(delivery));
  }

  @Override
  public void measure(Metric metric, String scope, double value) {
    safely(() -> observer.measure(metric, scope, value));
  }

  @Override
  public void measureRoute(Metric metric, String scope, String eventType, double value) {
    safely(() -> observer.measureRoute(metric, scope, eventType, value));
  }

  private static void safely(Runnable told) {
    try {
      told.run();
    } catch (VirtualMachineError e) {
      throw e;
    } catch (RuntimeException | Error e) {
      // It changes no outcome.
    }
  }
}
