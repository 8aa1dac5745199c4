package io.github.idemspec.conformance;

import io.github.idemspec.v1.IdemException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Answers a conformance runner on standard output for the Java core (chapter 12). */
public final class Port {
  private static final String PROTOCOL = "idem-conformance/1";
  private static final String VERSION = "1.0.0";
  private static final Pattern SEQ = Pattern.compile("0|[1-9][0-9]{0,15}");
  private static final int FLUSH_AT = 1 << 16;

  private final InputStream in;
  private final OutputStream out;
  private final StringBuilder answers = new StringBuilder(2 * FLUSH_AT);

  private byte[] buffer = new byte[1 << 16];
  private int start;
  private int end;

  private Port(InputStream in, OutputStream out) {
    this.in = in;
    this.out = out;
  }

  /** Runs until {@code end} or the end of input; exit 2 where a line is not of the protocol. */
  public static void main(String[] args) throws IOException {
    Port port =
        new Port(new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out));
    try {
      port.run();
    } catch (Json.MalformedException e) {
      port.flush();
      System.err.println(
          "idem-java: a line that is no JSON object of the protocol: " + e.getMessage());
      System.exit(2);
    }
  }

  private void run() throws IOException, Json.MalformedException {
    int newline;
    while ((newline = nextLine()) >= 0) {
      boolean more = answer(Json.parseObject(buffer, start, newline - start));
      start = newline + 1;
      if (!more) {
        break;
      }
      if (answers.length() >= FLUSH_AT) {
        flush();
      }
    }
    flush();
  }

  /**
   * The index of the end of the next line, which begins at {@link #start}; -1 at the end of input.
   */
  private int nextLine() throws IOException {
    int seen = start;
    while (true) {
      for (; seen < end; seen++) {
        if (buffer[seen] == '\n') {
          return seen;
        }
      }
      seen -= start;
      makeRoom();
      if (in.available() == 0) {
        flush();
      }
      int count = in.read(buffer, end, buffer.length - end);
      if (count < 0) {
        // A last line without its newline is a line too.
        return end > start ? end++ : -1;
      }
      end += count;
    }
  }

  /** Moves the line to the front, and leaves a byte for a newline that never came. */
  private void makeRoom() {
    System.arraycopy(buffer, start, buffer, 0, end - start);
    end -= start;
    start = 0;
    if (buffer.length - end < 2) {
      buffer = Arrays.copyOf(buffer, 2 * buffer.length);
    }
  }

  private void flush() throws IOException {
    out.write(answers.toString().getBytes(StandardCharsets.UTF_8));
    answers.setLength(0);
  }

  /** Answers one line; false after the last. */
  private boolean answer(Json.Obj line) throws Json.MalformedException {
    Object type = line.get("type");
    if (line.ambiguous) {
      throw new Json.MalformedException("a name twice");
    }
    if ("end".equals(type)) {
      return false;
    }
    if ("hello".equals(type)) {
      Json.Obj hello = Operations.output("type", "hello");
      hello.put("protocol", PROTOCOL);
      hello.put("name", "idem-java");
      hello.put("version", VERSION);
      Json.write(answers, hello);
    } else if ("case".equals(type)) {
      Json.write(answers, result(line));
    } else {
      throw new Json.MalformedException("no type hello, case or end");
    }
    answers.append('\n');
    return true;
  }

  private static Json.Obj result(Json.Obj line) throws Json.MalformedException {
    Object seq = line.get("seq");
    if (!(seq instanceof Json.Num) || !SEQ.matcher(((Json.Num) seq).text).matches()) {
      throw new Json.MalformedException("no seq");
    }
    Json.Obj result = Operations.output("type", "result");
    result.put("seq", seq);
    Object op = line.get("op");
    Function<Input, Json.Obj> operation =
        op instanceof String ? Operations.find((String) op) : null;
    if (operation == null) {
      result.put("unsupported", Boolean.TRUE);
      return result;
    }
    try {
      result.put("output", operation.apply(new Input(line.get("input"))));
    } catch (IdemException e) {
      result.put("error", e.code().name());
      result.put("detail", e.getMessage());
    }
    return result;
  }
}
