package io.github.idemspec.conformance;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import idem.conformance.edition2024.v1.Edition2024Proto;
import idem.conformance.v1.AB;
import idem.conformance.v1.Digest;
import idem.conformance.v1.Edition2023;
import idem.conformance.v1.NamesOuterClass;
import idem.conformance.v1.Presence;
import idem.conformance.v1.Proto2;
import idem.conformance.v1.Scalars;
import idem.conformance.v1.States;
import idem.conformance.v1.Templates;
import idem.conformance.v1.Values;
import io.github.idemspec.conformance.v1.Payment;
import io.github.idemspec.v1.Context;
import io.github.idemspec.v1.ErrorCode;
import io.github.idemspec.v1.Header;
import io.github.idemspec.v1.IdemException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The operation on messages: what generated code says of a payload (CONF-040 to CONF-042). */
final class MessageOperation {
  private static final List<FileDescriptor> FILES =
      List.of(
          AB.getDescriptor(),
          Digest.getDescriptor(),
          Edition2023.getDescriptor(),
          Edition2024Proto.getDescriptor(),
          NamesOuterClass.getDescriptor(),
          Payment.getDescriptor(),
          Presence.getDescriptor(),
          Proto2.getDescriptor(),
          Scalars.getDescriptor(),
          States.getDescriptor(),
          Templates.getDescriptor(),
          Values.getDescriptor());

  /** The headers that are members of the output too. */
  private static final Set<String> MEMBERS =
      Set.of("idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint");

  private static final Map<String, Type> TYPES = new HashMap<>();

  static {
    for (FileDescriptor file : FILES) {
      file.getMessageTypes().forEach(MessageOperation::add);
    }
  }

  private MessageOperation() {}

  /**
   * A message type: its parser, and its generated class. A program would call both by name; here
   * the name comes with the question.
   */
  private static final class Type {
    private final Method parse;
    private final Method headers;

    private final String eventType;

    Type(Class<?> generated) throws ReflectiveOperationException {
      eventType = (String) generated.getField("EVENT_TYPE").get(null);
      headers =
          Arrays.stream(generated.getMethods())
              .filter(m -> m.getName().equals("headers") && m.getParameterCount() == 2)
              .findAny()
              .orElseThrow(NoSuchMethodException::new);
      parse = headers.getParameterTypes()[0].getMethod("parseFrom", byte[].class);
    }

    Object parse(byte[] payload) {
      try {
        return call(parse, payload);
      } catch (InvalidProtocolBufferException e) {
        throw new IdemException(ErrorCode.PAYLOAD_INVALID, null, -1, e.getMessage());
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    List<?> headers(Object message, Context context) {
      try {
        return (List<?>) call(headers, message, context);
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    private static Object call(Method method, Object... arguments) throws Exception {
      try {
        return method.invoke(null, arguments);
      } catch (InvocationTargetException e) {
        if (e.getCause() instanceof Error) {
          throw (Error) e.getCause();
        }
        throw (Exception) e.getCause();
      }
    }
  }

  /** Adds a message and those inside it, where there is a generated class for them. */
  private static void add(Descriptor message) {
    message.getNestedTypes().forEach(MessageOperation::add);
    FileDescriptor file = message.getFile();
    boolean own = file.getOptions().hasJavaPackage();
    String javaPackage = own ? file.getOptions().getJavaPackage() : file.getPackage();
    String names = message.getFullName().substring(file.getPackage().length() + 1);
    try {
      Class<?> generated = Class.forName(javaPackage + "." + names.replace(".", "") + "Idem");
      TYPES.put(message.getFullName(), new Type(generated));
    } catch (ClassNotFoundException e) {
      // Not annotated.
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  static Json.Obj message(Input in) {
    Type type = TYPES.get(in.text("type"));
    byte[] payload = in.hex("payload");
    Context context = in.has("context") ? context(in.object("context")) : Context.EMPTY;
    in.end();
    Input.check(type != null, "no annotated message of this type");

    Json.Obj output = Operations.output("event_type", type.eventType);
    List<Object> pairs = new ArrayList<>();
    for (Object element : type.headers(type.parse(payload), context)) {
      Header header = (Header) element;
      String text = new String(header.value(), StandardCharsets.UTF_8);
      if (MEMBERS.contains(header.name())) {
        output.put(header.name(), text);
      }
      pairs.add(List.of(header.name(), Operations.output("utf8", text)));
    }
    output.put("headers", pairs);
    return output;
  }

  private static Context context(Input in) {
    Context context =
        Context.EMPTY
            .withEventId(in.optionalText("event_id"))
            .withTopic(in.optionalText("topic"))
            .withTraceparent(in.optionalText("traceparent"))
            .withTracestate(in.optionalText("tracestate"));
    String producedAt = in.optionalText("produced_at");
    in.end();
    if (producedAt == null) {
      return context;
    }
    try {
      return context.withProducedAt(producedAt);
    } catch (IdemException e) {
      throw Input.invalid(e.getMessage());
    }
  }
}
