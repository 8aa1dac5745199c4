// State machines (chapter 10). States are well-formed texts, so === compares their bytes (STATE-006).
import { fail } from './fault.mjs';

// verdict takes edges as pairs of texts and checks in the order of STATE-003.
export function verdict(edges, current, from, to) {
  const next = successors(edges);
  if (hasCycle(next)) fail('STATE_CYCLE');
  if (!next.has(from) || !next.has(to)) fail('STATE_UNKNOWN');
  if (!next.has(current) && current !== '') fail('STATE_UNKNOWN');
  if (!next.get(from).has(to)) fail('TRANSITION_UNDECLARED');

  if (current === from) return 'APPLY'; // STATE-004
  if (reaches(next, to, current)) return 'DUPLICATE';
  if (reaches(next, current, from)) return 'EARLY';
  if (current === '' && !next.has('')) return 'EARLY';
  return 'CONFLICT';
}

// successors maps every state that an edge names to the set of those one step on. It is a Map:
// a state may be called "constructor".
function successors(edges) {
  const next = new Map();
  const of = (state) => next.get(state) ?? next.set(state, new Set()).get(state);
  for (const [from, to] of edges) {
    of(from).add(to);
    of(to);
  }
  return next;
}

// hasCycle takes away states that nothing leads to, until none is left or a cycle is.
function hasCycle(next) {
  const incoming = new Map([...next.keys()].map((state) => [state, 0]));
  for (const targets of next.values()) {
    for (const to of targets) incoming.set(to, incoming.get(to) + 1);
  }
  const free = [...next.keys()].filter((state) => incoming.get(state) === 0);
  let taken = 0;
  for (; free.length > 0; taken++) {
    for (const to of next.get(free.pop())) {
      incoming.set(to, incoming.get(to) - 1);
      if (incoming.get(to) === 0) free.push(to);
    }
  }
  return taken < next.size;
}

// reaches is true for a state itself too.
function reaches(next, start, goal) {
  const seen = new Set([start]);
  for (const state of seen) {
    // A Set's iterator meets what is added on the way.
    if (state === goal) return true;
    for (const to of next.get(state) ?? []) seen.add(to);
  }
  return false;
}
