package io.github.idemspec.v1;

import static io.github.idemspec.v1.Faults.assertFault;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClassifierTest {
  @ParameterizedTest
  @CsvSource({
    "100,RETRYABLE",
    "200,OK",
    "299,OK",
    "301,NON_RETRYABLE",
    "400,NON_RETRYABLE",
    "408,RETRYABLE",
    "409,RETRYABLE",
    "421,RETRYABLE",
    "423,RETRYABLE",
    "425,RETRYABLE",
    "429,THROTTLED",
    "499,NON_RETRYABLE",
    "500,RETRYABLE",
    "501,NON_RETRYABLE",
    "502,RETRYABLE",
    "503,THROTTLED",
    "505,NON_RETRYABLE",
    "506,NON_RETRYABLE",
    "508,NON_RETRYABLE",
    "510,NON_RETRYABLE",
    "511,RETRYABLE",
    "599,RETRYABLE"
  })
  void http_ofAStatus_isByTheTable(int status, Outcome want) {
    assertEquals(want, Classifier.http(status));
  }

  @ParameterizedTest
  @CsvSource({
    "0,OK",
    "1,RETRYABLE",
    "2,RETRYABLE",
    "3,NON_RETRYABLE",
    "4,RETRYABLE",
    "5,NON_RETRYABLE",
    "6,NON_RETRYABLE",
    "7,NON_RETRYABLE",
    "8,THROTTLED",
    "9,NON_RETRYABLE",
    "10,RETRYABLE",
    "11,NON_RETRYABLE",
    "12,NON_RETRYABLE",
    "13,RETRYABLE",
    "14,RETRYABLE",
    "15,NON_RETRYABLE",
    "16,NON_RETRYABLE",
    "17,RETRYABLE",
    "2147483647,RETRYABLE"
  })
  void grpc_ofACode_isByTheTable(int code, Outcome want) {
    assertEquals(want, Classifier.grpc(code));
  }

  @ParameterizedTest
  @CsvSource({
    "00000,OK",
    "01000,RETRYABLE",
    "08006,RETRYABLE",
    "0A000,NON_RETRYABLE",
    "22001,NON_RETRYABLE",
    "23505,NON_RETRYABLE",
    "25001,NON_RETRYABLE",
    "25006,RETRYABLE",
    "25P02,RETRYABLE",
    "25P03,RETRYABLE",
    "2B000,NON_RETRYABLE",
    "40001,RETRYABLE",
    "40002,NON_RETRYABLE",
    "40P01,RETRYABLE",
    "42601,NON_RETRYABLE",
    "44000,NON_RETRYABLE",
    "53300,RETRYABLE",
    "57014,RETRYABLE",
    "57P04,RETRYABLE",
    "XX000,RETRYABLE",
    "99999,RETRYABLE"
  })
  void sqlState_ofACode_isByTheCodeThenTheClass(String state, Outcome want) {
    assertEquals(want, Classifier.sqlState(state));
  }

  @ParameterizedTest
  @CsvSource({
    "timeout,RETRYABLE",
    "dns_timeout,RETRYABLE",
    "canceled,RETRYABLE",
    "x,RETRYABLE",
    "tls_certificate,NON_RETRYABLE",
    "tls_hostname,NON_RETRYABLE",
    "dns_not_found,NON_RETRYABLE",
    "url_invalid,NON_RETRYABLE"
  })
  void net_ofAWord_isByTheTable(String word, Outcome want) {
    assertEquals(want, Classifier.net(word));
  }

  /** What Kafka's own clients try again is RETRYABLE, but for a quota. */
  @Test
  void kafka_ofWhatKafkaRetries_isRetryable() {
    for (Errors error : Errors.values()) {
      if (error == Errors.THROTTLING_QUOTA_EXCEEDED) {
        assertEquals(Outcome.THROTTLED, Classifier.kafka(error.code()));
      } else if (error.exception() instanceof RetriableException) {
        assertEquals(Outcome.RETRYABLE, Classifier.kafka(error.code()), error.name());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0,OK",
    "-1,RETRYABLE",
    "1,NON_RETRYABLE",
    "22,RETRYABLE",
    "27,RETRYABLE",
    "89,THROTTLED",
    "90,RETRYABLE",
    "131,NON_RETRYABLE",
    "132,RETRYABLE",
    "32767,RETRYABLE",
    "-32768,RETRYABLE"
  })
  void kafka_ofACode_isByTheList(int code, Outcome want) {
    assertEquals(want, Classifier.kafka(code));
  }

  @Test
  void classifier_ofNumbersThatDoNotExist_isRefused() {
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.http(99));
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.http(600));
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.grpc(-1));
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.kafka(32_768));
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.kafka(-32_769));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0000", "000000", "0000a", "\uff10000", " 0000"})
  void sqlState_ofAnotherShape_isRefused(String state) {
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.sqlState(state));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Timeout",
        "time-out",
        "t\u0131meout",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      })
  void net_ofNoWord_isRefused(String word) {
    assertFault(ErrorCode.INPUT_INVALID, () -> Classifier.net(word));
  }
}
