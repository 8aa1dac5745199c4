// The policy (chapter 7, RETRY-001 to RETRY-004). Values are BigInt until their bounds are known,
// then Numbers: the largest is far below 2^53.
import { fail } from './fault.mjs';
import { within } from './integer.mjs';

const SCHEDULE_ENTRY = [0n, 604800000n];
const MAX_SCHEDULE = 32;

const VALUES = new Map([
  ['max_retry', { bounds: [0n, 100n], byDefault: 5 }],
  ['max_hold', { bounds: [0n, 100n], byDefault: 20 }],
  ['backoff_base', { bounds: [1n, 86400n], byDefault: 1 }],
  ['backoff_jitter', { bounds: [0n, 3600000n], byDefault: 1000 }],
  ['backoff_max', { bounds: [1n, 604800n], byDefault: 300 }],
]);

export const POLICY_NAMES = [...VALUES.keys()];

// checkPolicy checks every value that is there and gives them as Numbers (RETRY-004).
export function checkPolicy(policy) {
  const checked = {};
  for (const name of POLICY_NAMES) {
    if (policy[name] !== undefined) checked[name] = checkValue(name, policy[name]);
  }
  if (policy.backoff_schedule?.length > 0) checked.backoff_schedule = checkSchedule(policy.backoff_schedule);
  return checked;
}

export function checkValue(name, value) {
  if (!within(value, VALUES.get(name).bounds)) fail('POLICY_RANGE', name);
  return Number(value);
}

function checkSchedule(schedule) {
  if (schedule.length > MAX_SCHEDULE) fail('POLICY_RANGE', 'backoff_schedule');
  if (!schedule.every((entry) => within(entry, SCHEDULE_ENTRY))) fail('POLICY_RANGE', 'backoff_schedule');
  return schedule.map(Number);
}

// policyInForce combines checked policies (RETRY-001 to RETRY-003).
export function policyInForce(header, schema, limit) {
  const inForce = {};
  for (const [name, { byDefault }] of VALUES) {
    const value = header[name] ?? schema[name] ?? byDefault;
    inForce[name] = Math.min(value, limit[name] ?? value);
  }
  const schedule = scheduleInForce(header, schema);
  if (schedule !== undefined) {
    const most = limit.backoff_max === undefined ? Infinity : limit.backoff_max * 1000;
    inForce.backoff_schedule = schedule.map((entry) => Math.min(entry, most));
  }
  return inForce;
}

// scheduleInForce is RETRY-002; an empty schedule did not get this far.
function scheduleInForce(header, schema) {
  if (header.backoff_schedule !== undefined) return header.backoff_schedule;
  if (header.backoff_base !== undefined || header.backoff_max !== undefined) return undefined;
  return schema.backoff_schedule;
}

// withDefaults fills in the defaults of a schema's policy (HDR-020).
export function withDefaults(schema) {
  return policyInForce({}, schema, {});
}
