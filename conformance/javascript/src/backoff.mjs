// Backoff (chapter 7, RETRY-010 to RETRY-014).
import { utf8 } from './bytes.mjs';
import { fail } from './fault.mjs';
import { within } from './integer.mjs';
import { xxh64 } from './xxh64.mjs';

const COUNT = [0n, 2n ** 31n - 1n];
const LONGEST_WAIT = 604800000n; // seven days (RETRY-011, RETRY-023)

// checkCount checks a retry or hold count and gives it as a Number (CONF-033).
export function checkCount(count) {
  if (!within(count, COUNT)) fail('POLICY_RANGE', 'count');
  return Number(count);
}

// backoff takes a checked policy. `retryAfter` is a BigInt or undefined.
export function backoff(key, count, policy, retryAfter) {
  if (key === '') fail('KEY_EMPTY');
  const own = baseDelay(count, policy);
  const base = retryAfter === undefined ? own : Math.max(own, cappedWait(retryAfter)); // RETRY-011
  const jitter = jitterOf(key, count, policy);
  return { delay: base + jitter, base, jitter };
}

export function cappedWait(wait) {
  return Number(wait < LONGEST_WAIT ? wait : LONGEST_WAIT);
}

// baseDelay is RETRY-010. JavaScript shifts 32-bit numbers by n mod 32, so powers of two stand for
// the shifts; all of them are exact here.
function baseDelay(n, policy) {
  const schedule = policy.backoff_schedule;
  if (schedule !== undefined) return schedule[Math.min(n, schedule.length - 1)];
  const base = policy.backoff_base * 1000;
  const cap = policy.backoff_max * 1000;
  if (n >= 63 || base > Math.floor(cap / 2 ** n)) return cap;
  return base * 2 ** n;
}

// jitterOf is RETRY-012.
export function jitterOf(key, n, policy) {
  return Number(xxh64(utf8(`${key}#${n}`)) % BigInt(policy.backoff_jitter + 1));
}
