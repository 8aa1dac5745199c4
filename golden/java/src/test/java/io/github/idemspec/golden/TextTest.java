package io.github.idemspec.golden;

import static io.github.idemspec.golden.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import idem.conformance.v1.Edition2023;
import idem.conformance.v1.Edition2023TextIdem;
import idem.conformance.v1.OneStringIdem;
import idem.conformance.v1.Proto2;
import idem.conformance.v1.Proto2DefaultsAllowIdem;
import idem.conformance.v1.Proto2DefaultsIdem;
import idem.conformance.v1.Proto2TextIdem;
import idem.conformance.v1.Scalars;
import io.github.idemspec.v1.ErrorCode;
import org.junit.jupiter.api.Test;

/** Ill-formed text is refused and never replaced, whether a parser looks at it or not (GEN-004). */
class TextTest {
  private static final ByteString ILL_FORMED = ByteString.copyFrom(new byte[] {'a', (byte) 0xff});

  @Test
  void parsed_checked_parserRefuses() {
    byte[] payload = {10, 2, 'a', (byte) 0xff};
    assertThrows(
        InvalidProtocolBufferException.class, () -> Scalars.OneString.parseFrom(payload));
  }

  @Test
  void parsed_unchecked_keyRefuses() throws Exception {
    Proto2.Proto2Text m = Proto2.Proto2Text.parseFrom(new byte[] {10, 2, 'a', (byte) 0xff});
    assertFault(ErrorCode.STRING_UTF8, "text", () -> Proto2TextIdem.idempotencyKey(m));
    // Also once the getter has shown its replacement.
    assertEquals("a\ufffd", m.getText());
    assertFault(ErrorCode.STRING_UTF8, "text", () -> Proto2TextIdem.idempotencyKey(m));
  }

  @Test
  void unchecked_digest_keyRefuses() {
    Proto2.Proto2Text m =
        Proto2.Proto2Text.newBuilder().setText("a").setHiddenBytes(ILL_FORMED).build();
    assertFault(ErrorCode.STRING_UTF8, "hidden", () -> Proto2TextIdem.idempotencyKey(m));
  }

  @Test
  void unchecked_replacementCharacter_isText() {
    Proto2.Proto2Text m = Proto2.Proto2Text.newBuilder().setText("\ufffd").build();
    assertEquals("conformance.proto2.text:v1:%EF%BF%BD:~", Proto2TextIdem.idempotencyKey(m));
  }

  @Test
  void unchecked_halfAPair_keyRefuses() {
    Proto2.Proto2Text m = Proto2.Proto2Text.newBuilder().setText("\ufffd\ud800").build();
    assertFault(ErrorCode.STRING_UTF8, "text", () -> Proto2TextIdem.idempotencyKey(m));
  }

  @Test
  void checked_halfAPair_keyRefuses() {
    Scalars.OneString m = Scalars.OneString.newBuilder().setS("\ud83d").build();
    assertFault(ErrorCode.STRING_UTF8, "s", () -> OneStringIdem.idempotencyKey(m));
    assertEquals(
        "conformance.scalars.string:v1:%F0%9F%98%80",
        OneStringIdem.idempotencyKey(
            Scalars.OneString.newBuilder().setS("\ud83d\ude00").build()));
  }

  @Test
  void feature_unchecked_keyRefuses() {
    Edition2023.Edition2023Text m =
        Edition2023.Edition2023Text.newBuilder()
            .setUnchecked("a")
            .setUncheckedExplicitBytes(ILL_FORMED)
            .build();
    assertFault(
        ErrorCode.STRING_UTF8, "unchecked_explicit", () -> Edition2023TextIdem.idempotencyKey(m));
  }

  @Test
  void otherTexts_illFormed_ofNoSyntax() {
    Proto2.Proto2Text m = Proto2.Proto2Text.newBuilder().setAmountBytes(ILL_FORMED).build();
    assertFault(ErrorCode.DECIMAL_SYNTAX, "amount", () -> Proto2TextIdem.fingerprint(m));
  }

  @Test
  void defaults_areNotLookedAt() {
    Proto2.Proto2Defaults unset = Proto2.Proto2Defaults.getDefaultInstance();
    Faults.assertMissing("number", () -> Proto2DefaultsIdem.idempotencyKey(unset));
    assertEquals(
        "conformance.proto2.defaults_allow:v1:~:~:~:~",
        Proto2DefaultsAllowIdem.idempotencyKey(Proto2.Proto2DefaultsAllow.getDefaultInstance()));
  }
}
