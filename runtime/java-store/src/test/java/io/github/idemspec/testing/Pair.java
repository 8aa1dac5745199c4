package io.github.idemspec.testing;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The runtime in another language on the same store, behind a program of a line for a request:
 * runtime/go/internal/pair, and src/test/python/pair.py of idem-store.
 */
public final class Pair implements AutoCloseable {
  private static Path built;

  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;

  /** Go's on a store and, for its scheduler, on brokers. */
  public static Pair go(String storeUrl, String... brokers) {
    return new Pair(List.of(program().toString()), storeUrl, brokers);
  }

  /** Python's. */
  public static Pair python(String storeUrl, String... brokers) {
    Path program = Servers.root().resolve("runtime/java-store/src/test/python/pair.py");
    return new Pair(List.of(interpreter().toString(), program.toString()), storeUrl, brokers);
  }

  /** That of a language by its name. */
  public static Pair of(String language, String storeUrl, String... brokers) {
    return language.equals("go") ? go(storeUrl, brokers) : python(storeUrl, brokers);
  }

  private Pair(List<String> program, String storeUrl, String... brokers) {
    List<String> command = new ArrayList<>(program);
    command.add(storeUrl);
    command.addAll(List.of(brokers));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder
        .environment()
        .put("PYTHONPATH", Servers.root().resolve("runtime/python/src").toString());
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    in = process.outputWriter();
    out = process.inputReader();
  }

  /** Python with what its runtime needs, as scripts/tools makes it. */
  private static Path interpreter() {
    Path python = Servers.root().resolve(".tools/bin/python");
    if (!Files.exists(python)) {
      Servers.missing("there is no Python to be a pair with: scripts/tools");
    }
    return python;
  }

  /** Builds it once. */
  private static synchronized Path program() {
    if (built != null) {
      return built;
    }
    Path program = Path.of("target/pair").toAbsolutePath();
    try {
      Process go =
          new ProcessBuilder(
                  "go", "build", "-o", program.toString(), "./runtime/go/internal/pair")
              .directory(Servers.root().toFile())
              .inheritIO()
              .start();
      if (go.waitFor() != 0) {
        throw new IllegalStateException("go build ./runtime/go/internal/pair has failed");
      }
    } catch (IOException e) {
      Servers.missing("there is no Go to be a pair with: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    built = program;
    return program;
  }

  /** Asks, and throws where the answer is an error. */
  public JsonObject ask(String field, JsonElement value) {
    JsonObject request = new JsonObject();
    request.add(field, value);
    try {
      in.write(request.toString());
      in.newLine();
      in.flush();
      String line = out.readLine();
      JsonObject answer = JsonParser.parseString(String.valueOf(line)).getAsJsonObject();
      if (answer.has("Error")) {
        throw new IllegalStateException("pair: " + answer.get("Error").getAsString());
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Claims one key for a minute. */
  public JsonObject claim(String scope, String key, String owner) {
    return claim(scope, key, owner, 60_000);
  }

  /** Claims one key for some milliseconds. */
  public JsonObject claim(String scope, String key, String owner, long leaseMs) {
    JsonObject claim = new JsonObject();
    claim.addProperty("Scope", scope);
    claim.addProperty("Key", key);
    claim.addProperty("Owner", owner);
    claim.addProperty("MaxAttempts", 9);
    claim.addProperty("Lease", leaseMs * 1_000_000);
    return first(ask("Claim", array(claim)), "Grants").getAsJsonObject();
  }

  /** Completes a claim that {@link #claim} has answered. */
  public boolean complete(JsonObject grant, byte[] result) {
    JsonObject completion = new JsonObject();
    completion.add("Lease", grant.get("Lease"));
    completion.addProperty("Result", java.util.Base64.getEncoder().encodeToString(result));
    return first(ask("Complete", array(completion)), "Done").getAsBoolean();
  }

  /** Has Python consume a topic and fail, until there is a row of msg_retry. */
  public void fail(String topic, String group) {
    JsonObject of = new JsonObject();
    of.addProperty("Topic", topic);
    of.addProperty("Group", group);
    ask("Fail", of);
  }

  /** Has the scheduler publish so many rows of msg_retry. */
  public int publish(int rows) {
    return ask("Publish", new com.google.gson.JsonPrimitive(rows)).get("Published").getAsInt();
  }

  private static JsonArray array(JsonElement one) {
    JsonArray array = new JsonArray();
    array.add(one);
    return array;
  }

  private static JsonElement first(JsonObject answer, String field) {
    return answer.get(field).getAsJsonArray().get(0);
  }

  @Override
  public void close() {
    try {
      in.close();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
