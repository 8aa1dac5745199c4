package io.github.idemspec.store.redis;

import io.github.idemspec.store.Claim;
import io.github.idemspec.store.Grant;
import io.github.idemspec.store.Lease;
import io.github.idemspec.v1.Admission.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import redis.clients.jedis.UnifiedJedis;

/**
 * Runs one script for each claim. A key that comes again in a batch waits for the answer to the first
 * one, and where that one proceeds it is IN_PROGRESS (DEDUP-025).
 */
final class Claims {
  private final UnifiedJedis redis;
  private final Keys keys;
  private final long retentionMs;

  Claims(UnifiedJedis redis, Keys keys, long retentionMs) {
    this.redis = redis;
    this.keys = keys;
    this.retentionMs = retentionMs;
  }

  List<Grant> claim(List<Claim> claims) {
    Grant[] grants = new Grant[claims.size()];
    Map<List<String>, Claim> claimed = new HashMap<>();
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < grants.length; i++) {
      open.add(i);
    }
    while (!open.isEmpty()) {
      open = claimOnce(claims, open, claimed, grants);
    }
    return List.of(grants);
  }

  /** Claims those that share no key with one before them, and gives the others. */
  private List<Integer> claimOnce(
      List<Claim> claims, List<Integer> open, Map<List<String>, Claim> claimed, Grant[] grants) {
    List<Integer> now = new ArrayList<>();
    List<Integer> later = new ArrayList<>();
    Set<List<String>> asked = new HashSet<>();
    List<Script.Call> calls = new ArrayList<>();
    for (int i : open) {
      Claim claim = claims.get(i);
      List<List<String>> names = names(claim);
      Claim by = names.stream().map(claimed::get).filter(c -> c != null).findFirst().orElse(null);
      if (by != null) {
        grants[i] = Grant.inProgress(claim, by.lease().toMillis());
      } else if (names.stream().anyMatch(asked::contains)) {
        later.add(i);
      } else {
        asked.addAll(names);
        now.add(i);
        calls.add(callOf(claim));
      }
    }
    List<Object> replies = Script.CLAIM.run(redis, calls);
    for (int n = 0; n < now.size(); n++) {
      Claim claim = claims.get(now.get(n));
      Grant grant = grantOf(claim, (List<?>) replies.get(n));
      grants[now.get(n)] = grant;
      if (grant.verdict() == Verdict.PROCEED) {
        names(claim).forEach(name -> claimed.put(name, claim));
      }
    }
    return later;
  }

  private static List<List<String>> names(Claim claim) {
    List<String> key = List.of(claim.scope(), claim.key());
    return claim.dual() ? List.of(key, List.of(claim.scope(), claim.previous())) : List.of(key);
  }

  private Script.Call callOf(Claim claim) {
    if (claim.lane() != null) {
      throw new IllegalArgumentException(
          "Redis keeps no lanes, so that a route cannot park: order it by BLOCK, or use a database");
    }
    return new Script.Call(
        keys.of(claim.scope(), claim.key(), claim.dual() ? claim.previous() : ""),
        Texts.arguments(
            claim.owner(),
            claim.fingerprint(),
            claim.redriveCount(),
            claim.retryCount(),
            claim.holdCount(),
            claim.maxAttempts(),
            claim.lease().toMillis(),
            retentionMs,
            claim.old() ? 1 : 0));
  }

  private static Grant grantOf(Claim claim, List<?> reply) {
    String word = Texts.text(reply.get(0));
    int retries = (int) Texts.number(reply.get(7));
    int holds = (int) Texts.number(reply.get(8));
    if (word.equals("TOO_OLD")) {
      return Grant.tooOld(claim);
    }
    Verdict verdict = Verdict.valueOf(word);
    boolean proceeds = verdict == Verdict.PROCEED;
    Lease lease = null;
    if (proceeds || verdict == Verdict.CRASH_LOOP) {
      lease =
          new Lease(
              claim.scope(),
              claim.key(),
              Texts.number(reply.get(1)),
              claim.dual() ? claim.previous() : "",
              claim.dual() ? Texts.number(reply.get(2)) : 0,
              proceeds ? claim.owner() : "");
    }
    return new Grant(
        verdict,
        false,
        false,
        false,
        lease,
        proceeds ? Texts.number(reply.get(3)) : 0,
        proceeds ? Texts.number(reply.get(4)) : 0,
        proceeds && Texts.text(reply.get(5)).equals("1"),
        (byte[]) reply.get(11),
        verdict == Verdict.IN_PROGRESS ? Texts.number(reply.get(6)) : 0,
        retries,
        holds,
        (int) Texts.number(reply.get(9)),
        Texts.text(reply.get(10)));
  }
}
