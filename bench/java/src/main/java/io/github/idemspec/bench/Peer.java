package io.github.idemspec.bench;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.idemspec.bench.v1.PaymentSettled;
import io.github.idemspec.shop.v1.PaymentSucceeded;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What a team hashes where it has no key: JSON of the message's fields, in one order, by SHA-256.
 * The writer is prepared; the time goes in as its two numbers, which is the cheapest text it can
 * have.
 */
final class Peer {
  private static final ObjectWriter WRITER = JsonMapper.builder().build().writerFor(Fields.class);

  private Peer() {}

  @JsonPropertyOrder(alphabetic = true)
  record Fields(
      String orderId, String amount, String currency, long seconds, int nanos, String paymentId) {}

  static String jsonSha256(PaymentSucceeded m) {
    return hash(
        new Fields(
            m.getOrderId(),
            m.getAmount(),
            m.getCurrency(),
            m.getOccurredAt().getSeconds(),
            m.getOccurredAt().getNanos(),
            m.getPaymentId()));
  }

  static String jsonSha256(PaymentSettled m) {
    return hash(
        new Fields(
            m.getOrderId(),
            m.getAmount(),
            m.getCurrency(),
            m.getOccurredAt().getSeconds(),
            m.getOccurredAt().getNanos(),
            m.getPaymentId()));
  }

  private static String hash(Fields fields) {
    try {
      byte[] json = WRITER.writeValueAsBytes(fields);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(json));
    } catch (JsonProcessingException | NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
