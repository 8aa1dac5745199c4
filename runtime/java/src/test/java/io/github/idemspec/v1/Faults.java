package io.github.idemspec.v1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;

/** What tests of values and their errors share. */
final class Faults {
  private Faults() {}

  /** Asserts that the code is thrown, and hands back the error. */
  static IdemException assertFault(ErrorCode code, Executable executable) {
    IdemException e = assertThrows(IdemException.class, executable);
    assertEquals(code, e.code(), e.getMessage());
    return e;
  }

  /** The text, or the name of the code. */
  static String answer(Supplier<?> supplier) {
    try {
      return String.valueOf(supplier.get());
    } catch (IdemException e) {
      return e.code().name();
    }
  }
}
