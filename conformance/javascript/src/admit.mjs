// Admission (chapter 9, DEDUP-001 to DEDUP-004). All numbers are BigInt.
import { areComparable } from './key.mjs';

export const STATES = ['PROCESSING', 'SUCCESS', 'FAILED', 'DEAD'];

const LARGEST = 2n ** 63n - 1n;

// sum stays at the largest integer there is (CONF-037).
const sum = (a, b) => (a + b > LARGEST ? LARGEST : a + b);

// admit walks the steps of DEDUP-001; the first that fits is the answer.
export function admit(record, delivery, call) {
  if (record === null) return proceed(1n, 1n, call, false);
  if (areComparable(record.fingerprint, call.fingerprint) && record.fingerprint !== call.fingerprint) {
    return { admission: 'KEY_REUSED' };
  }
  if (record.state === 'SUCCESS') return { admission: 'DUPLICATE', result: record.result };
  if (isStale(record, delivery)) return { admission: 'STALE' };
  if (record.state === 'PROCESSING' && record.leaseUntil > call.now) return underLease(record, call);
  if (delivery.redriveCount > record.redriveCount) return claimAgain(record, 1n, call);
  if (record.attempts >= call.maxAttempts) return { admission: 'CRASH_LOOP' };
  return claimAgain(record, sum(record.attempts, 1n), call);
}

// isStale is step 4.
function isStale(record, delivery) {
  if (delivery.redriveCount !== record.redriveCount) return delivery.redriveCount < record.redriveCount;
  return record.state === 'DEAD' || delivery.position < record.position;
}

// underLease is step 5; the same owner asks again because its claim's reply was lost.
function underLease(record, call) {
  if (record.owner !== call.owner) return { admission: 'IN_PROGRESS', wait: record.leaseUntil - call.now };
  const { fence, attempts, leaseUntil } = record;
  return { admission: 'PROCEED', fence, attempts, leaseUntil, recovered: false };
}

function claimAgain(record, attempts, call) {
  return proceed(sum(record.fence, 1n), attempts, call, record.state === 'PROCESSING'); // DEDUP-003
}

function proceed(fence, attempts, call, recovered) {
  return { admission: 'PROCEED', fence, attempts, leaseUntil: sum(call.now, call.lease), recovered };
}
