package io.github.idemspec.conformance;

import io.github.idemspec.v1.EpochUnit;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.KeyBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A component whose shape has been read; what it is worth shows when it is appended. So the shape
 * of a whole key is judged before the first of its values is.
 */
interface Component {
  void appendTo(KeyBuilder out);

  /** The component that an object with one member describes (CONF-030). */
  static Component read(Input in) {
    String kind =
        in.oneOf(
            "string",
            "hex_utf8",
            "utf16",
            "bytes",
            "bool",
            "enum",
            "int",
            "absent",
            "missing",
            "decimal",
            "money",
            "timestamp",
            "duration",
            "date",
            "uuid",
            "sha256");
    Component component = kind.equals("sha256") ? sha256(in.object(kind)) : read(in, kind);
    in.end();
    return component;
  }

  private static Component sha256(Input in) {
    Input.check(!in.has("sha256"), "sha256 of sha256");
    Component text = read(in);
    return out -> text.appendTo(out.sha256());
  }

  private static Component read(Input in, String kind) {
    switch (kind) {
      case "string":
        return string(in.text(kind));
      case "utf16":
        return string(in.utf16(kind));
      case "hex_utf8":
        byte[] utf8 = in.hex(kind);
        return out -> out.utf8(utf8, null);
      case "bytes":
        byte[] bytes = in.hex(kind);
        return out -> out.bytes(bytes);
      case "bool":
        boolean bool = in.bool(kind);
        return out -> out.bool(bool);
      case "enum":
        Int number = in.integer(kind);
        return out -> out.int32(number.asInt32(ErrorCode.INT_RANGE));
      case "int":
        return integer(in.object(kind));
      case "absent":
        in.flag(kind);
        return KeyBuilder::absent;
      case "missing":
        in.flag(kind);
        return out -> out.require(false, null);
      default:
        return typed(in.object(kind), kind);
    }
  }

  private static Component string(String text) {
    return out -> out.string(text, null);
  }

  private static Component integer(Input in) {
    String type = in.text("type");
    Int value = in.integer("value");
    in.end();
    switch (type) {
      case "int32":
      case "sint32":
      case "sfixed32":
        return out -> out.int32(value.asInt32(ErrorCode.INT_RANGE));
      case "uint32":
      case "fixed32":
        return out -> out.uint32((int) value.in(0, 0xffff_ffffL, ErrorCode.INT_RANGE));
      case "int64":
      case "sint64":
      case "sfixed64":
        return out -> out.int64(value.asInt64(ErrorCode.INT_RANGE));
      case "uint64":
      case "fixed64":
        return out -> out.uint64(value.asUint64(ErrorCode.INT_RANGE));
      default:
        throw Input.invalid("type " + type);
    }
  }

  /** A value that is the input of an operation of its own. */
  static Component typed(Input in, String kind) {
    Component component = typedOpen(in, kind);
    in.end();
    return component;
  }

  private static Component typedOpen(Input in, String kind) {
    switch (kind) {
      case "decimal":
        return decimal(in);
      case "money":
        String currency = in.text("currency_code");
        Int units = in.integer("units");
        Int nanos = in.integer("nanos");
        return out -> money(out, currency, units, nanos);
      case "timestamp":
        return timestamp(in);
      case "duration":
        Int seconds = in.integer("seconds");
        Int rest = in.integer("nanos");
        int digits = fractionDigits(in);
        return out ->
            out.duration(
                seconds.asInt64(ErrorCode.DURATION_RANGE),
                rest.asInt32(ErrorCode.DURATION_RANGE),
                digits,
                null);
      case "date":
        Int year = in.integer("year");
        Int month = in.integer("month");
        Int day = in.integer("day");
        return out ->
            out.date(
                year.asInt32(ErrorCode.DATE_RANGE),
                month.asInt32(ErrorCode.DATE_RANGE),
                day.asInt32(ErrorCode.DATE_RANGE),
                null);
      default:
        String uuid = in.text("text");
        return out -> out.uuid(uuid, null);
    }
  }

  private static Component decimal(Input in) {
    boolean isText = in.oneOf("text", "hex").equals("text");
    // Bytes above 7F are no decimal, whatever text they would be.
    String text = isText ? in.text("text") : new String(in.hex("hex"), StandardCharsets.ISO_8859_1);
    int maxScale = in.has("max_scale") ? (int) in.integer("max_scale", 0, 255) : -1;
    return out -> out.decimal(text, maxScale, null);
  }

  private static void money(KeyBuilder out, String currency, Int units, Int nanos) {
    // The currency is judged first, so a number that fits no type becomes one that is out of range.
    boolean fits = units.isLong() && nanos.saturated() == (int) nanos.saturated();
    long value = fits ? units.saturated() : 0;
    out.money(currency, value, fits ? (int) nanos.saturated() : Integer.MAX_VALUE, null);
  }

  private static int fractionDigits(Input in) {
    return (int) in.integer("fraction_digits", 0, 9);
  }

  private static Component timestamp(Input in) {
    int digits = fractionDigits(in);
    switch (in.oneOf("rfc3339", "seconds", "epoch")) {
      case "rfc3339":
        String text = in.text("rfc3339");
        return out -> out.rfc3339(text, digits, null);
      case "seconds":
        Int seconds = in.integer("seconds");
        Int nanos = in.integer("nanos");
        return out ->
            out.timestamp(
                seconds.asInt64(ErrorCode.TIMESTAMP_RANGE),
                nanos.asInt32(ErrorCode.TIMESTAMP_RANGE),
                digits,
                null);
      default:
        Int epoch = in.integer("epoch");
        EpochUnit unit = unit(in.text("unit"));
        return out -> epoch(out, epoch, unit, digits);
    }
  }

  private static void epoch(KeyBuilder out, Int epoch, EpochUnit unit, int digits) {
    if (epoch.isNegative()) {
      out.epoch(epoch.asInt64(ErrorCode.INT_RANGE), unit, digits, null);
    } else {
      out.epochUnsigned(epoch.asUint64(ErrorCode.INT_RANGE), unit, digits, null);
    }
  }

  private static EpochUnit unit(String text) {
    switch (text) {
      case "s":
        return EpochUnit.SECONDS;
      case "ms":
        return EpochUnit.MILLIS;
      case "us":
        return EpochUnit.MICROS;
      case "ns":
        return EpochUnit.NANOS;
      default:
        throw Input.invalid("unit " + text);
    }
  }

  /** The segments of a key: a literal as it is, a component escaped, a colon between them. */
  static Component segments(Input in) {
    List<?> list = in.list("segments");
    Input.check(!list.isEmpty(), "no segment");
    List<Component> segments = new ArrayList<>();
    for (Object element : list) {
      Input segment = new Input(element);
      if (segment.oneOf("literal", "component").equals("literal")) {
        String literal = segment.text("literal");
        Input.check(isLiteral(literal), "literal " + literal);
        segments.add(out -> out.literal(literal));
      } else {
        segments.add(read(segment.object("component")));
      }
      segment.end();
    }
    return out -> {
      for (int i = 0; i < segments.size(); i++) {
        segments.get(i).appendTo(i == 0 ? out : out.literal(":"));
      }
    };
  }

  private static boolean isLiteral(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-') {
        return false;
      }
    }
    return !text.isEmpty();
  }
}
