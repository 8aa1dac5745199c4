package io.github.idemspec.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import idem.conformance.edition2024.v1.Edition2024Proto;
import idem.conformance.edition2024.v1.Fault;
import idem.conformance.edition2024.v1.FaultIdem;
import idem.conformance.edition2024.v1.NestedIdem;
import idem.conformance.edition2024.v1.OpaqueNames;
import idem.conformance.edition2024.v1.OpaqueNamesIdem;
import idem.conformance.v1.*;
import io.github.idemspec.v1.Outcome;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Fields with odd names. Each is set to a value of its own by its descriptor, so that a getter of
 * another field would show.
 */
class NamesTest {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w+)}");

  /** Sets every scalar field, and expects its value where the template names it. */
  private static <M extends Message> void check(
      M empty, String template, Function<M, String> idempotencyKey) {
    Descriptor type = empty.getDescriptorForType();
    Message.Builder m = empty.newBuilderForType();
    for (FieldDescriptor f : type.getFields()) {
      if (!f.isRepeated() && f.getJavaType() == FieldDescriptor.JavaType.STRING) {
        m.setField(f, "value-" + f.getNumber());
      }
    }
    StringBuilder want = new StringBuilder();
    Matcher placeholder = PLACEHOLDER.matcher(template);
    while (placeholder.find()) {
      FieldDescriptor f = type.findFieldByName(placeholder.group(1));
      boolean string = f.getJavaType() == FieldDescriptor.JavaType.STRING;
      placeholder.appendReplacement(want, string ? "value-" + f.getNumber() : "0");
    }
    placeholder.appendTail(want);
    @SuppressWarnings("unchecked")
    M built = (M) m.build();
    assertEquals(want.toString(), idempotencyKey.apply(built));
  }

  @Test
  void keywords() {
    check(
        NamesOuterClass.Keywords.getDefaultInstance(),
        "conformance.names.keywords:v1:{class}:{None}:{from}:{import}:{def}:{lambda}:{self}:{True}"
            + ":{async}:{type}:{func}:{range}:{package}:{interface}:{switch}:{int}:{default}"
            + ":{return}:{go}:{map}:{string}:{message}:{oneof}:{option}:{repeated}:{new}:{this}"
            + ":{null}:{public}:{void}:{Object}:{dst}:{start}:{err}:{idem}",
        KeywordsIdem::idempotencyKey);
  }

  @Test
  void methodsOfMessages() {
    check(
        NamesOuterClass.Methods.getDefaultInstance(),
        "conformance.names.methods:v1:{reset}:{marshal}:{unmarshal}:{proto_message}"
            + ":{extension_map}:{_x}:{class}:{cached_size}:{foo}:{get_foo}:{has_foo}",
        MethodsIdem::idempotencyKey);
  }

  @Test
  void collisions() {
    check(
        NamesOuterClass.Collisions.getDefaultInstance(),
        "conformance.names.collisions:v1:{bar_count}:{color}:{color_value}",
        CollisionsIdem::idempotencyKey);
    check(
        Proto2.Proto2Collisions.getDefaultInstance(),
        "conformance.proto2.collisions:v1:{foo_bar}:{fooBar}:{field_1}:{field1}",
        Proto2CollisionsIdem::idempotencyKey);
  }

  @Test
  void cases() {
    check(
        NamesOuterClass.Cases.getDefaultInstance(),
        "conformance.names.cases:v1:{UPPER}:{camelCase}:{PascalCase}:{with__two}:{with_2digits}"
            + ":{trailing_}:{x1y2}:{URLPath}",
        CasesIdem::idempotencyKey);
  }

  @Test
  void messages() {
    check(
        NamesOuterClass.Names.getDefaultInstance(),
        "conformance.names:v1:{id}",
        NamesIdem::idempotencyKey);
    check(
        NamesOuterClass.None.getDefaultInstance(),
        "conformance.names.none:v1:{id}",
        NoneIdem::idempotencyKey);
    check(
        NamesOuterClass.String.getDefaultInstance(),
        "conformance.names.string:v1:{string}",
        StringIdem::idempotencyKey);
    check(
        NamesOuterClass.lower_case.getDefaultInstance(),
        "conformance.names.lower_case:v1:{id}",
        lower_caseIdem::idempotencyKey);
    check(
        NamesOuterClass.lower_case.lambda.getDefaultInstance(),
        "conformance.names.nested_lambda:v1:{id}",
        lower_caselambdaIdem::idempotencyKey);
    assertEquals(
        "conformance.names.dash_file:v1:c",
        DashFileIdem.idempotencyKey(
            AB.DashFile.newBuilder()
                .setCustomer(Presence.Customer.newBuilder().setId("c"))
                .build()));
  }

  @Test
  void states() {
    assertEquals("class", moodIdem.text(NamesOuterClass.mood.MOOD_class));
    assertEquals(NamesOuterClass.mood.MOOD_None, moodIdem.parse("None"));
  }

  @Test
  void edition2024() {
    check(
        OpaqueNames.getDefaultInstance(),
        "conformance.edition2024.opaque_names:v1:{id}:{has_id}:{get_id}:{build}:{_x}:{x_x}"
            + ":{idem_key}:{class}",
        OpaqueNamesIdem::idempotencyKey);
    check(
        Edition2024Proto.Nested.getDefaultInstance(),
        "conformance.edition2024.nested:v1:{id}",
        NestedIdem::idempotencyKey);
    assertEquals(Outcome.NON_RETRYABLE, FaultIdem.classify(Fault.FAULT_DARK));
  }
}
