package io.github.idemspec.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** A script of the spec, with the digest by which a server knows it. */
final class Script {
  static final Script CLAIM = new Script("claim");
  static final Script COMPLETE = new Script("complete");
  static final Script SETTLE = new Script("settle");
  static final Script RENEW = new Script("renew");
  static final Script FORGET = new Script("forget");

  /** The most calls that are sent before replies are read. */
  private static final int PIPELINED = 1000;

  private final byte[] text;
  private final byte[] digest;

  private Script(String name) {
    try (InputStream in = Script.class.getResourceAsStream(name + ".lua")) {
      text = in.readAllBytes();
      digest = hex(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has SHA-1.
    }
  }

  private static byte[] hex(byte[] bytes) {
    StringBuilder hex = new StringBuilder();
    for (byte b : bytes) {
      hex.append(String.format("%02x", b));
    }
    return hex.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** One run of it. */
  record Call(List<byte[]> keys, List<byte[]> arguments) {}

  /**
   * Sends calls together, and gives their replies. A server that does not know the script yet is given
   * it. An error says nothing of the calls: each may have been done.
   */
  List<Object> run(UnifiedJedis redis, List<Call> calls) {
    List<Object> replies = new ArrayList<>(calls.size());
    for (int from = 0; from < calls.size(); from += PIPELINED) {
      replies.addAll(runPart(redis, calls.subList(from, Math.min(from + PIPELINED, calls.size()))));
    }
    return replies;
  }

  private List<Object> runPart(UnifiedJedis redis, List<Call> calls) {
    List<Response<Object>> sent =
        send(redis, calls, (p, c) -> p.evalsha(digest, c.keys, c.arguments));
    List<Object> replies = new ArrayList<>(calls.size());
    List<Integer> missing = new ArrayList<>();
    List<Call> again = new ArrayList<>();
    for (int i = 0; i < sent.size(); i++) {
      try {
        replies.add(sent.get(i).get());
      } catch (JedisNoScriptException e) {
        replies.add(null);
        missing.add(i);
        again.add(calls.get(i));
      }
    }
    if (!again.isEmpty()) {
      // EVAL needs nothing from the server: one that was promoted just now does not know it either.
      List<Response<Object>> rest = send(redis, again, (p, c) -> p.eval(text, c.keys, c.arguments));
      for (int i = 0; i < rest.size(); i++) {
        replies.set(missing.get(i), rest.get(i).get());
      }
    }
    return replies;
  }

  private static List<Response<Object>> send(
      UnifiedJedis redis,
      List<Call> calls,
      BiFunction<AbstractPipeline, Call, Response<Object>> command) {
    List<Response<Object>> sent = new ArrayList<>(calls.size());
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (Call call : calls) {
        sent.add(command.apply(pipeline, call));
      }
      pipeline.sync();
    }
    return sent;
  }
}
