package io.github.idemspec.golden;

import static io.github.idemspec.golden.Faults.assertFault;
import static io.github.idemspec.golden.Faults.assertMissing;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.protobuf.BoolValue;
import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.Duration;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.UInt64Value;
import com.google.type.Date;
import com.google.type.Decimal;
import com.google.type.Money;
import idem.conformance.v1.*;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.IdemException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * Each kind of component, read from a message. Expected texts are written out, or come from the
 * platform where it has the same one.
 */
class ComponentTest {
  private static String sha256(String text) throws Exception {
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    StringBuilder hex = new StringBuilder();
    for (byte b : hash) {
      hex.append(String.format("%02x", b));
    }
    return hex.substring(0, 32);
  }

  @Test
  void scalars_unsigned_asDeclared() {
    Scalars.ScalarsExplicit m =
        Scalars.ScalarsExplicit.newBuilder()
            .setInt32Value(Integer.MIN_VALUE)
            .setInt64Value(Long.MIN_VALUE)
            .setUint32Value(-1)
            .setUint64Value(-1)
            .setSint32Value(-1)
            .setSint64Value(-1)
            .setFixed32Value(Integer.MIN_VALUE)
            .setFixed64Value(Long.MIN_VALUE)
            .setSfixed32Value(0)
            .setSfixed64Value(Long.MAX_VALUE)
            .setBoolValue(false)
            .setStringValue("")
            .setBytesValue(ByteString.copyFrom(new byte[] {0, (byte) 0xff, 10}))
            .setColorValueValue(-7)
            .build();
    assertEquals(
        "conformance.scalars.explicit:v1:-2147483648:-9223372036854775808:"
            + Integer.toUnsignedString(-1) + ":" + Long.toUnsignedString(-1) + ":-1:-1:"
            + Integer.toUnsignedString(Integer.MIN_VALUE) + ":"
            + Long.toUnsignedString(Long.MIN_VALUE)
            + ":0:9223372036854775807:false::00ff0a:-7",
        ScalarsExplicitIdem.idempotencyKey(m));
  }

  @Test
  void implicit_zero_missingOrItsText() {
    assertMissing(
        "int32_value",
        () -> ScalarsImplicitIdem.idempotencyKey(Scalars.ScalarsImplicit.getDefaultInstance()));
    assertEquals(
        "conformance.scalars.implicit_allow:v1:0:0:0:0:0:0:0:0:0:0:false:::0",
        ScalarsImplicitAllowIdem.idempotencyKey(
            Scalars.ScalarsImplicitAllow.getDefaultInstance()));
  }

  @Test
  void explicit_unset_missingOrAbsent() {
    assertMissing(
        "int32_value",
        () -> ScalarsExplicitIdem.idempotencyKey(Scalars.ScalarsExplicit.getDefaultInstance()));
    assertEquals(
        "conformance.scalars.explicit_allow:v1:~:~:~:~:~:~:~:~:~:~:~:~:~:~",
        ScalarsExplicitAllowIdem.idempotencyKey(
            Scalars.ScalarsExplicitAllow.getDefaultInstance()));
  }

  @Test
  void oneof_memberOfZero_isThere() {
    assertEquals(
        "conformance.scalars.oneof_error:v1:0",
        OneofErrorIdem.idempotencyKey(Scalars.OneofError.newBuilder().setB(0).build()));
    assertMissing(
        "b",
        () -> OneofErrorIdem.idempotencyKey(Scalars.OneofError.newBuilder().setA("a").build()));
    assertEquals(
        "conformance.scalars.oneof:v1:~:~:~:~:~:~:~:~:~:~:~::~:~",
        ScalarsOneofIdem.idempotencyKey(
            Scalars.ScalarsOneof.newBuilder().setStringValue("").build()));
  }

  @Test
  void enum_undeclaredAndAlias_number() {
    assertEquals(
        "conformance.scalars.shade:v1:1",
        OneShadeIdem.idempotencyKey(
            Scalars.OneShade.newBuilder().setShade(Scalars.Shade.SHADE_GRAY).build()));
    assertEquals(
        "conformance.scalars.shade:v1:99",
        OneShadeIdem.idempotencyKey(Scalars.OneShade.newBuilder().setShadeValue(99).build()));
  }

  @Test
  void wrappers_withoutContent_areZeros() {
    Presence.Wrappers m =
        Presence.Wrappers.newBuilder()
            .setBoolValue(BoolValue.getDefaultInstance())
            .setBytesValue(BytesValue.getDefaultInstance())
            .setInt32Value(Int32Value.of(-5))
            .setInt64Value(Int64Value.getDefaultInstance())
            .setStringValue(StringValue.of("a:b~"))
            .setUint32Value(UInt32Value.of(-1))
            .setUint64Value(UInt64Value.of(-1))
            .build();
    assertEquals(
        "conformance.wrappers:v1:false::-5:0:a%3Ab%7E:4294967295:18446744073709551615",
        WrappersIdem.idempotencyKey(m));
    assertMissing(
        "string_value",
        () -> WrappersIdem.idempotencyKey(m.toBuilder().clearStringValue().build()));
    assertEquals(
        "conformance.wrappers.allow:v1:~:~:~:~:~:~",
        WrappersAllowIdem.idempotencyKey(Presence.WrappersAllow.getDefaultInstance()));
  }

  @Test
  void paths_belowUnset_missingOrAbsent() {
    assertMissing(
        "customer.id", () -> PathsIdem.idempotencyKey(Presence.Paths.getDefaultInstance()));
    assertEquals(
        "conformance.paths.allow:v1:~:~:~:~:~",
        PathsAllowIdem.idempotencyKey(Presence.PathsAllow.getDefaultInstance()));
    assertEquals(
        "conformance.paths.allow:v1::~:0:~:~",
        PathsAllowIdem.idempotencyKey(
            Presence.PathsAllow.newBuilder()
                .setCustomer(Presence.Customer.getDefaultInstance())
                .build()));
  }

  @Test
  void paths_set_values() {
    Presence.Customer.Address address =
        Presence.Customer.Address.newBuilder()
            .setCity("K\u00f6ln")
            .setZip("")
            .setFloor(StringValue.of("2"))
            .build();
    Presence.Customer customer =
        Presence.Customer.newBuilder().setId("c").setAddress(address).build();
    assertEquals(
        "conformance.paths:v1:c:K%C3%B6ln::2",
        PathsIdem.idempotencyKey(Presence.Paths.newBuilder().setCustomer(customer).build()));
    assertMissing(
        "customer.address.zip",
        () ->
            PathsIdem.idempotencyKey(
                Presence.Paths.newBuilder()
                    .setCustomer(
                        customer.toBuilder().setAddress(address.toBuilder().clearZip()).build())
                    .build()));
    assertMissing(
        "buyer.id",
        () ->
            PathsOneofIdem.idempotencyKey(
                Presence.PathsOneof.newBuilder().setSeller(customer).build()));
  }

  @Test
  void decimals() {
    String text = "-12.3400e-2";
    assertEquals(
        "conformance.values.decimal_text:v1:"
            + new BigDecimal(text).stripTrailingZeros().toPlainString(),
        DecimalTextIdem.idempotencyKey(Values.DecimalText.newBuilder().setAmount(text).build()));
    assertFault(
        ErrorCode.DECIMAL_SCALE,
        "amount",
        () ->
            DecimalTextScaleIdem.idempotencyKey(
                Values.DecimalTextScale.newBuilder().setAmount("1.005").build()));
    assertMissing(
        "amount",
        () -> DecimalTextIdem.idempotencyKey(Values.DecimalText.getDefaultInstance()));
    assertFault(
        ErrorCode.DECIMAL_SYNTAX,
        "amount",
        () -> DecimalTextAllowIdem.idempotencyKey(Values.DecimalTextAllow.getDefaultInstance()));
    assertEquals(
        "conformance.values.decimal_message:v1:0",
        DecimalMessageIdem.idempotencyKey(
            Values.DecimalMessage.newBuilder().setAmount(Decimal.getDefaultInstance()).build()));
  }

  @Test
  void money_date_duration_uuid() {
    assertEquals(
        "conformance.values.money:v1:USD-0.5",
        MoneyValueIdem.idempotencyKey(
            Values.MoneyValue.newBuilder()
                .setPrice(Money.newBuilder().setCurrencyCode("USD").setNanos(-500_000_000))
                .build()));
    assertEquals(
        "conformance.values.date:v1:2024-02-29",
        DateValueIdem.idempotencyKey(
            Values.DateValue.newBuilder()
                .setDay(Date.newBuilder().setYear(2024).setMonth(2).setDay(29))
                .build()));
    assertFault(
        ErrorCode.DATE_RANGE,
        "day",
        () ->
            DateValueIdem.idempotencyKey(
                Values.DateValue.newBuilder().setDay(Date.newBuilder().setYear(2024)).build()));
    assertEquals(
        "conformance.values.duration:v1:-1.500s",
        DurationDefaultIdem.idempotencyKey(
            Values.DurationDefault.newBuilder()
                .setWait(Duration.newBuilder().setSeconds(-1).setNanos(-500_000_000))
                .build()));
    assertEquals(
        "conformance.values.uuid:v1:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        UuidTextIdem.idempotencyKey(
            Values.UuidText.newBuilder().setId("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6").build()));
  }

  @Test
  void timestamps() {
    Instant nine = Instant.parse("2025-01-01T04:00:00.123456789Z");
    Timestamp at =
        Timestamp.newBuilder().setSeconds(nine.getEpochSecond()).setNanos(nine.getNano()).build();
    assertEquals(
        "conformance.values.timestamp_nanos:v1:" + nine,
        TimestampNanosIdem.idempotencyKey(Values.TimestampNanos.newBuilder().setAt(at).build()));
    assertEquals(
        "conformance.values.timestamp:v1:2025-01-01T04:00:00.123Z",
        TimestampDefaultIdem.idempotencyKey(
            Values.TimestampDefault.newBuilder().setAt(at).build()));
    assertEquals(
        "conformance.values.timestamp_seconds:v1:1970-01-01T00:00:00Z",
        TimestampSecondsIdem.idempotencyKey(
            Values.TimestampSeconds.newBuilder().setAt(Timestamp.getDefaultInstance()).build()));
    assertEquals(
        "conformance.values.timestamp_text:v1:2025-01-01T04:00:00.500000Z",
        TimestampTextIdem.idempotencyKey(
            Values.TimestampText.newBuilder().setAt("2025-01-01T05:00:00.5+01:00").build()));
  }

  @Test
  void epochs() {
    assertEquals(
        "conformance.values.epoch_millis:v1:" + "1969-12-31T23:59:59.999Z",
        EpochMillisIdem.idempotencyKey(Values.EpochMillis.newBuilder().setAt(-1).build()));
    assertEquals(
        "conformance.values.epoch_nanos:v1:" + Instant.ofEpochSecond(18446744073L, 709551615),
        EpochNanosIdem.idempotencyKey(Values.EpochNanos.newBuilder().setAt(-1).build()));
    assertEquals(
        "conformance.values.epoch32:v1:1969-12-31T23:59:59.000Z:2106-02-07T06:28:15.000Z:"
            + "1970-02-19T17:02:47Z",
        Epoch32Idem.idempotencyKey(
            Values.Epoch32.newBuilder().setSigned(-1).setUnsigned(-1).setFixed(-1).build()));
    assertMissing(
        "at", () -> EpochMicrosIdem.idempotencyKey(Values.EpochMicros.getDefaultInstance()));
  }

  @Test
  void digests() throws Exception {
    assertEquals(
        "conformance.digest.string:v1:" + sha256("a@b.c"),
        DigestStringIdem.idempotencyKey(
            Digest.DigestString.newBuilder().setMail("a@b.c").build()));
    assertEquals(
        "conformance.digest.bytes:v1:" + sha256("00ff"),
        DigestBytesIdem.idempotencyKey(
            Digest.DigestBytes.newBuilder()
                .setSecret(ByteString.copyFrom(new byte[] {0, (byte) 0xff}))
                .build()));
    assertEquals(
        "conformance.digest.allow:v1:" + sha256("") + ":~",
        DigestAllowIdem.idempotencyKey(Digest.DigestAllow.getDefaultInstance()));
    assertEquals(
        "conformance.digest.kinds:v1:" + sha256("false") + ":" + sha256("-1")
            + ":~:~:" + sha256("0.1") + ":~:~:~:~:~:~:~:" + sha256("USD1"),
        DigestsIdem.idempotencyKey(
            Digest.Digests.newBuilder()
                .setFlag(false)
                .setInt32Value(-1)
                .setAmount("0.10")
                .setPrice(Money.newBuilder().setCurrencyCode("USD").setUnits(1))
                .build()));
  }

  @Test
  void redacted_fault_withoutValue() {
    IdemException e =
        assertFault(
            ErrorCode.STRING_UTF8,
            "mail",
            () ->
                DigestStringIdem.idempotencyKey(
                    Digest.DigestString.newBuilder().setMail("secret\ud800").build()));
    assertNull(e.value());
    assertEquals(-1, e.getMessage().indexOf("secret"));
    IdemException below =
        assertFault(
            ErrorCode.STRING_UTF8,
            "person.mail",
            () ->
                RedactedPathIdem.idempotencyKey(
                    Digest.RedactedPath.newBuilder()
                        .setPerson(
                            Digest.RedactedPath.Person.newBuilder().setMail("secret\udc00"))
                        .build()));
    assertEquals(-1, below.getMessage().indexOf("secret"));
  }

  @Test
  void length_isLookedAtLast() {
    Templates.Many.Builder m = Templates.Many.newBuilder();
    String filler = "x".repeat(2000);
    Templates.Many.getDescriptor().getFields().forEach(f -> m.setField(f, filler));
    assertFault(ErrorCode.KEY_TOO_LONG, null, () -> ManyIdem.idempotencyKey(m.build()));
    assertMissing("p40", () -> ManyIdem.idempotencyKey(m.clearP40().build()));
  }

  @Test
  void bizKey_empty() {
    assertFault(
        ErrorCode.KEY_EMPTY,
        null,
        () ->
            BizKeyEmptyIdem.bizKey(Templates.BizKeyEmpty.newBuilder().setId("x").build()));
    assertEquals(
        "tenant:7:o%201",
        BizKeyCompoundIdem.bizKey(
            Templates.BizKeyCompound.newBuilder().setTenant(7).setOrderId("o 1").build()));
  }

  @Test
  void previous() {
    Templates.Previous m = Templates.Previous.newBuilder().setId("i").setPart("p").build();
    assertEquals("conformance.templates.previous:v2:i:p", PreviousIdem.idempotencyKey(m));
    assertEquals("conformance.templates.previous:v1:i", PreviousIdem.idempotencyKeyPrevious(m));
  }
}
