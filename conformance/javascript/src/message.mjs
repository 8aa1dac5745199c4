// What a producer sends (HDR-020 to HDR-022, CONF-040 to CONF-042).
import { readFileSync } from 'node:fs';
import { readTypes } from './descriptor.mjs';
import { fail, refuse } from './fault.mjs';
import { HEADERS } from './header-table.mjs';
import { fingerprint, render } from './key.mjs';
import { parse } from './payload.mjs';
import { checkPolicy, POLICY_NAMES, withDefaults } from './policy.mjs';
import { compile, segmentsOf, timestampAt } from './template.mjs';
import { instantFromHeader, isInRange, timestampText } from './timestamp.mjs';

const DESCRIPTORS = new URL('../../../conformance-vectors/descriptors.binpb', import.meta.url);

// What a template of each name is for; the order is that of CONF-042.
const TEMPLATES = ['idempotencyKey', 'idempotencyKeyPrevious', 'bizKey', 'fingerprint', 'occurredAt'];

// Catalogue knows the annotated messages of a FileDescriptorSet.
export class Catalogue {
  #types;
  #plans = new Map();

  constructor(bytes) {
    this.#types = readTypes(bytes);
  }

  // plan gives what is to be rendered for a message, taken apart once.
  plan(name) {
    if (!this.#plans.has(name)) this.#plans.set(name, this.#makePlan(name));
    return this.#plans.get(name);
  }

  #makePlan(name) {
    const type = this.#types.get(name);
    if (type?.idem === undefined) refuse(`${name} is unknown or not annotated`);
    const plan = { type, idem: type.idem, compiled: {} };
    for (const template of TEMPLATES) {
      const text = type.idem[template];
      if (text !== undefined) plan.compiled[template] = compile(type, text);
    }
    return plan;
  }
}

// catalogue reads the descriptors on first use; undefined where there are none.
let known;
export function catalogue() {
  if (known === undefined) {
    try {
      known = new Catalogue(readFileSync(DESCRIPTORS));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  return known;
}

// readProducedAt takes the form of HDR-003 and writes three digits.
export function readProducedAt(text) {
  const instant = instantFromHeader(text);
  if (instant === undefined || !isInRange(instant)) refuse('produced_at');
  return timestampText(instant, 3);
}

// send gives what a producer sends; faults come in the order of CONF-042.
export function send(plan, payload, context) {
  const message = parse(plan.type, payload);
  const draw = (name) => plan.compiled[name] && render(segmentsOf(plan.compiled[name], message));
  const sent = {
    event_type: plan.compiled.idempotencyKey[0], // KEY-014
    idempotency_key: draw('idempotencyKey'),
    idempotency_key_previous: draw('idempotencyKeyPrevious'),
    biz_key: checkBizKey(draw('bizKey')),
    fingerprint: fingerprintOf(plan, draw('fingerprint')),
  };
  for (const name of Object.keys(sent)) if (sent[name] === undefined) delete sent[name];
  return { ...sent, headers: headersOf(plan, message, sent, context) };
}

function checkBizKey(text) {
  if (text === '') fail('KEY_EMPTY', 'biz_key'); // KEY-013
  return text;
}

function fingerprintOf(plan, text) {
  return text === undefined ? undefined : fingerprint(plan.idem.fingerprint, text);
}

// headersOf lists the headers of HDR-020 in the table's order.
function headersOf(plan, message, sent, context) {
  const { transition, retry } = plan.idem;
  const told = Object.entries(context ?? {}).filter(([, value]) => value !== ''); // HDR-022
  const values = {
    ...sent,
    ...Object.fromEntries(told),
    ...(retry === undefined ? {} : retryHeaders(retry)),
    idem_spec: '1',
    occurred_at: occurredAt(plan, message),
    expected_current_state: transition === undefined ? undefined : (transition.from ?? ''),
  };
  return HEADERS.filter(({ name }) => values[name] !== undefined).map(({ name }) => [name, { utf8: values[name] }]);
}

function occurredAt(plan, message) {
  const template = plan.compiled.occurredAt; // one placeholder (OPT-014)
  return template && timestampAt(template[0], message);
}

const WITH_SCHEDULE = ['max_retry', 'max_hold', 'backoff_jitter', 'backoff_schedule'];

// retryHeaders writes the schema's policy: with a schedule, neither base nor cap.
function retryHeaders(retry) {
  const stated = Object.fromEntries(Object.entries(retry).map(([name, value]) => [name, toBigInt(value)]));
  const policy = withDefaults(checkPolicy(stated));
  const names = policy.backoff_schedule === undefined ? POLICY_NAMES : WITH_SCHEDULE;
  // A list's toString joins with commas, which is the header's syntax.
  return Object.fromEntries(names.map((name) => [name, policy[name].toString()]));
}

function toBigInt(value) {
  return Array.isArray(value) ? value.map(BigInt) : BigInt(value);
}
