// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The text of a {@code google.protobuf.Duration} (TXT-030 to TXT-032). */
final class DurationText {
  private static final long MAX_SECONDS = 315_576_000_000L;
  private static final int MAX_NANOS = 999_999_999;

  private DurationText() {}

  static void append(KeyBuilder out, long seconds, int nanos, int digits) {
    boolean mixed = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
    if (mixed
        || seconds < -MAX_SECONDS
        || seconds > MAX_SECONDS
        || nanos < -MAX_NANOS
        || nanos > MAX_NANOS) {
      throw out.fault(ErrorCode.DURATION_RANGE, -1, "seconds " + seconds + ", nanos " + nanos);
    }
    // What the cut leaves of the nanos; a duration of which it leaves nothing has no sign.
    int kept = KeyBuilder.cut(Math.abs(nanos), digits);
    if (seconds < 0 || (nanos < 0 && kept != 0)) {
      out.ascii('-');
    }
    out.unsigned(Math.abs(seconds));
    out.fraction(Math.abs(nanos), digits);
    out.ascii('s');
  }
}
