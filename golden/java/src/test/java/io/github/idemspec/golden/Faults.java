package io.github.idemspec.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.IdemException;
import org.junit.jupiter.api.function.Executable;

/** What tests say of errors. */
final class Faults {
  private Faults() {}

  /** Asks for an error with a code and a path. */
  static IdemException assertFault(ErrorCode code, String path, Executable call) {
    IdemException e = assertThrows(IdemException.class, call);
    assertEquals(code, e.code(), e.getMessage());
    assertEquals(path, e.field(), e.getMessage());
    return e;
  }

  static void assertMissing(String path, Executable call) {
    assertFault(ErrorCode.KEY_COMPONENT_MISSING, path, call);
  }
}
