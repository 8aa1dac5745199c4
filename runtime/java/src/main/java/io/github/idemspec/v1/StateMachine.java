// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The transitions that a schema declares, and what a message's transition means for an object's
 * state (chapter 10). Immutable.
 */
public final class StateMachine {
  /** What a transition means for the current state (STATE-004). */
  public enum Verdict {
    /** The object is in the state before: do it. */
    APPLY,
    /** The object is in the state after, or past it: done. */
    DUPLICATE,
    /** The state before is still to come: the outcome OUT_OF_ORDER, never dropped. */
    EARLY,
    /** It can never apply: not retryable. */
    CONFLICT
  }

  private final Map<String, Set<String>> next = new HashMap<>();

  /**
   * A machine of these edges; one that is given twice counts once.
   *
   * @throws IdemException STATE_CYCLE
   */
  public StateMachine(List<Transition> transitions) {
    for (Transition t : transitions) {
      next.computeIfAbsent(t.from(), k -> new LinkedHashSet<>()).add(t.to());
      next.computeIfAbsent(t.to(), k -> new LinkedHashSet<>());
    }
    checkAcyclic();
  }

  /**
   * A machine of these edges.
   *
   * @throws IdemException STATE_CYCLE
   */
  public static StateMachine of(Transition... transitions) {
    return new StateMachine(Arrays.asList(transitions));
  }

  /** The texts of all states, in no order. */
  public Set<String> states() {
    return Collections.unmodifiableSet(next.keySet());
  }

  /**
   * The verdict on a transition.
   *
   * @param current the object's state; empty where it has no row yet
   * @param transition what the message stands for
   * @throws IdemException STATE_UNKNOWN or TRANSITION_UNDECLARED (STATE-003)
   */
  public Verdict verdict(String current, Transition transition) {
    String from = transition.from();
    String to = transition.to();
    checkKnown(from);
    checkKnown(to);
    if (!current.isEmpty()) {
      checkKnown(current);
    }
    if (!next.get(from).contains(to)) {
      throw new IdemException(ErrorCode.TRANSITION_UNDECLARED, null, -1, transition.toString());
    }
    if (current.equals(from)) {
      return Verdict.APPLY;
    }
    if (current.equals(to) || isReachable(to, current)) {
      return Verdict.DUPLICATE;
    }
    // No row, and a machine without creations: somebody else makes the row.
    if (!next.containsKey(current) || isReachable(current, from)) {
      return Verdict.EARLY;
    }
    return Verdict.CONFLICT;
  }

  private void checkKnown(String state) {
    if (!next.containsKey(state)) {
      throw new IdemException(ErrorCode.STATE_UNKNOWN, null, -1, state);
    }
  }

  private boolean isReachable(String start, String goal) {
    Set<String> seen = new HashSet<>();
    Deque<String> open = new ArrayDeque<>();
    open.add(start);
    while (!open.isEmpty()) {
      for (String state : next.get(open.remove())) {
        if (state.equals(goal)) {
          return true;
        }
        if (seen.add(state)) {
          open.add(state);
        }
      }
    }
    return false;
  }

  /** Takes away states that nothing leads to until none is left; a cycle stays. */
  private void checkAcyclic() {
    Map<String, Integer> incoming = new HashMap<>();
    for (Set<String> targets : next.values()) {
      for (String to : targets) {
        incoming.merge(to, 1, Integer::sum);
      }
    }
    List<String> free = new ArrayList<>(next.keySet());
    free.removeAll(incoming.keySet());
    for (int i = 0; i < free.size(); i++) {
      for (String to : next.get(free.get(i))) {
        if (incoming.merge(to, -1, Integer::sum) == 0) {
          free.add(to);
        }
      }
    }
    if (free.size() < next.size()) {
      List<String> cyclic = new ArrayList<>(next.keySet());
      cyclic.removeAll(new HashSet<>(free));
      Collections.sort(cyclic);
      throw new IdemException(ErrorCode.STATE_CYCLE, null, -1, String.join(", ", cyclic));
    }
  }
}
