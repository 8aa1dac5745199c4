// Outcome to action (chapter 7, RETRY-020 to RETRY-026).
import { backoff, cappedWait, checkCount, jitterOf } from './backoff.mjs';
import { fail } from './fault.mjs';
import { checkPolicy, checkValue } from './policy.mjs';

const ACTIONS = new Map([
  ['OK', ack],
  ['DUPLICATE', ack],
  ['STALE', ack],
  ['RETRYABLE', retry],
  ['THROTTLED', retry],
  ['OUT_OF_ORDER', hold],
  ['IN_PROGRESS', defer],
  ['FENCED', defer],
  ['NON_RETRYABLE', deadLetter],
  ['KEY_REUSED', deadLetter],
  ['CONFLICT', deadLetter],
  ['MALFORMED', deadLetter],
  ['CRASH_LOOP', deadLetter],
  ['TOO_OLD', deadLetter],
]);

export const OUTCOMES = [...ACTIONS.keys()];
export const OUTCOMES_WITH_WAIT = ['IN_PROGRESS', 'FENCED'];

// decide takes integers as BigInt. All that RETRY-026 names is checked before the table is read.
export function decide(question) {
  const checked = {
    ...question,
    maxRetry: checkValue('max_retry', question.maxRetry),
    maxHold: checkValue('max_hold', question.maxHold),
    retryCount: checkCount(question.retryCount),
    holdCount: checkCount(question.holdCount),
    policy: checkPolicy(question.policy),
    reason: question.reason || question.outcome, // RETRY-025
  };
  if (checked.key === '') fail('KEY_EMPTY');
  return ACTIONS.get(checked.outcome)(checked);
}

function ack() {
  return { action: 'ACK' };
}

function retry(q) {
  if (q.retryCount >= q.maxRetry) return deadLetter(q);
  const retryAfter = q.outcome === 'THROTTLED' ? q.retryAfter : undefined; // RETRY-024
  const { delay } = backoff(q.key, q.retryCount, q.policy, retryAfter);
  return { action: 'RETRY', delay, retryCount: q.retryCount + 1, holdCount: q.holdCount, reason: q.reason };
}

function hold(q) {
  if (q.holdCount >= q.maxHold) return deadLetter(q);
  const { delay } = backoff(q.key, q.holdCount, q.policy);
  return { action: 'HOLD', delay, retryCount: q.retryCount, holdCount: q.holdCount + 1, reason: q.reason };
}

function defer(q) {
  const delay = cappedWait(q.wait) + jitterOf(q.key, q.retryCount, q.policy); // RETRY-023
  return { action: 'DEFER', delay, retryCount: q.retryCount, holdCount: q.holdCount };
}

function deadLetter(q) {
  return { action: 'DEAD_LETTER', retryCount: q.retryCount, holdCount: q.holdCount, reason: q.reason };
}
