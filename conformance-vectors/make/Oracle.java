import com.dynatrace.hash4j.hashing.Hashing;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.HexFormat;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/**
 * What Java's libraries say: a question a line, `op argument...` with texts in hex, and an answer a
 * line, `-` where there is none. See platform_java.py.
 */
public final class Oracle {
  public static void main(String[] arguments) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    var answers = new StringBuilder();
    for (String line; (line = in.readLine()) != null; ) {
      answers.append(answer(line.split(" "))).append('\n');
    }
    System.out.print(answers);
  }

  private static String answer(String[] question) {
    return switch (question[0]) {
      case "decimal" -> decimal(text(question[1]));
      case "xxh64" -> String.format("%016x", Hashing.xxh64().hashBytesToLong(bytes(question[1])));
      case "partition" ->
          Integer.toString(
              BuiltInPartitioner.partitionForKey(bytes(question[1]), Integer.parseInt(question[2])));
      case "instant" -> {
        long seconds = Long.parseLong(question[1]);
        yield format(Instant.ofEpochSecond(seconds, Long.parseLong(question[2])), question[3]);
      }
      case "rfc3339" -> {
        try {
          yield format(OffsetDateTime.parse(text(question[1])).toInstant(), question[2]);
        } catch (DateTimeException exception) {
          yield "-"; // ZoneOffset ends at 18 hours
        }
      }
      case "date" ->
          LocalDate.of(number(question[1]), number(question[2]), number(question[3])).toString();
      case "kafka-error" -> {
        Errors error = Errors.forCode(Short.parseShort(question[1]));
        yield error.exception() instanceof RetriableException ? "retriable" : "-";
      }
      default -> throw new IllegalArgumentException(question[0]);
    };
  }

  private static String decimal(String text) {
    BigDecimal value = new BigDecimal(text);
    return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
  }

  /** Of an instant of years 1 to 9999; the digits that do not show are cut. */
  private static String format(Instant instant, String fractionDigits) {
    int digits = number(fractionDigits);
    var pattern =
        new DateTimeFormatterBuilder().append(DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss"));
    if (digits > 0) {
      pattern.appendFraction(ChronoField.NANO_OF_SECOND, digits, digits, true);
    }
    return pattern.appendLiteral('Z').toFormatter().format(instant.atOffset(ZoneOffset.UTC));
  }

  private static int number(String text) {
    return Integer.parseInt(text);
  }

  private static byte[] bytes(String hex) {
    return hex.equals("-") ? new byte[0] : HexFormat.of().parseHex(hex);
  }

  private static String text(String hex) {
    return new String(bytes(hex), StandardCharsets.UTF_8);
  }
}
