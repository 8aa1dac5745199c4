package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FingerprintTest {
  private static final Fingerprint FINGERPRINT = Fingerprint.ofTemplate("{amount}:{currency}");

  @Test
  void of_aRenderedText_hasBothHashes() {
    KeyBuilder text =
        new KeyBuilder().decimal("100.00", 2, "amount").literal(":").string("USD", "currency");
    String template = Xxh64.hex(Routing.hash("{amount}:{currency}")).substring(8);
    String value = Xxh64.hex(Routing.hash("100:USD"));
    assertEquals(template + "-" + value, FINGERPRINT.of(text));
  }

  @Test
  void of_aTextThatIsTooLong_isAnError() {
    KeyBuilder text = new KeyBuilder().string("x".repeat(1025), "f");
    assertFault(ErrorCode.KEY_TOO_LONG, () -> FINGERPRINT.of(text));
  }

  @ParameterizedTest
  @CsvSource({
    "00000000-1111111111111111,00000000-1111111111111111,false",
    "00000000-1111111111111111,00000000-2222222222222222,true",
    "00000000-1111111111111111,00000001-2222222222222222,false",
    ",00000000-1111111111111111,false",
    "00000000-1111111111111111,,false",
    ",,false"
  })
  void differ_takesTwoOfOneTemplate(String a, String b, boolean want) {
    assertEquals(want, Fingerprint.differ(a, b));
  }
}
