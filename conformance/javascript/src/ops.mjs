// The ops of chapter 12: each takes an input, checks its shape and gives its output, or throws a
// Fault.
import { admit, STATES } from './admit.mjs';
import { backoff, checkCount } from './backoff.mjs';
import { hexOf } from './bytes.mjs';
import * as classes from './classify.mjs';
import { decide, OUTCOMES, OUTCOMES_WITH_WAIT } from './decide.mjs';
import { refuse } from './fault.mjs';
import { readHeaders } from './headers.mjs';
import { componentText, fingerprint, render } from './key.mjs';
import { catalogue, readProducedAt, send } from './message.mjs';
import { nextHeaders } from './next-headers.mjs';
import { checkPolicy, POLICY_NAMES, policyInForce } from './policy.mjs';
import { hashOfKey, kafkaPartition, lane, shard } from './routing.mjs';
import * as shape from './shape.mjs';
import { verdict } from './state.mjs';
import { TRANSPORTS } from './transport.mjs';
import * as typed from './typed-inputs.mjs';
import { hashText, xxh64 } from './xxh64.mjs';

const textOp = (read) => (input) => ({ text: read(input)() });

// Chapter 4 and HASH-030.

function componentOp(input) {
  const value = typed.readComponent(input);
  return { text: componentText(value()) };
}

const LITERAL = /^[A-Za-z0-9._-]+$/;

function readSegments(input) {
  if (shape.list(input).length === 0) refuse('no segments'); // CONF-032
  return input.map(readSegment);
}

function readSegment(input) {
  if (shape.oneMember(input) === 'literal') {
    const literal = shape.text(input.literal);
    if (!LITERAL.test(literal)) refuse('literal');
    return () => literal;
  }
  shape.object(input, ['component']);
  const value = typed.readComponent(input.component);
  return () => componentText(value());
}

function keyOp(input) {
  shape.object(input, ['segments']);
  return { key: render(readSegments(input.segments)) };
}

function fingerprintOp(input) {
  shape.object(input, ['template', 'segments']);
  const template = shape.text(input.template);
  return { fingerprint: fingerprint(template, render(readSegments(input.segments))) };
}

// Chapter 5.

function hashOp(input) {
  shape.object(input, ['hex']);
  return { xxh64: hashText(xxh64(shape.hex(input.hex))) };
}

const routeOp = (name, route) => (input) => {
  const kind = shape.isObject(input) && Object.hasOwn(input, 'hash') ? 'hash' : 'key';
  shape.object(input, [kind, 'n']);
  const n = shape.integer(input.n);
  const hash = kind === 'hash' ? shape.hexDigits(input.hash, 16) : hashOfKey(shape.text(input.key), n);
  return { [name]: String(route(hash, n)) };
};

function kafkaPartitionOp(input) {
  shape.object(input, ['key', 'n']);
  const [key, n] = [shape.text(input.key), shape.integer(input.n)];
  return { partition: String(kafkaPartition(key, n)) };
}

// Chapter 7.

const BACKOFF_NAMES = ['backoff_base', 'backoff_max', 'backoff_jitter'];
const SCHEDULE = 'backoff_schedule';

// readPolicy gives the values that are there as BigInt; an empty schedule is an absent one.
function readPolicy(input, required, optional) {
  const policy = {};
  for (const [name, value] of Object.entries(shape.object(input, required, optional))) {
    policy[name] = name === SCHEDULE ? shape.list(value).map(shape.integer) : shape.integer(value);
  }
  return policy;
}

const readBackoffPolicy = (input) => readPolicy(input, BACKOFF_NAMES, [SCHEDULE]);

function policyOp(input) {
  shape.object(input, ['header', 'schema', 'limit']);
  const read = [
    readPolicy(input.header, [], [...POLICY_NAMES, SCHEDULE]),
    readPolicy(input.schema, [], [...POLICY_NAMES, SCHEDULE]),
    readPolicy(input.limit, [], POLICY_NAMES),
  ];
  return policyText(policyInForce(...read.map(checkPolicy)));
}

function policyText(policy) {
  const output = {};
  for (const name of POLICY_NAMES) output[name] = String(policy[name]);
  if (policy[SCHEDULE] !== undefined) output[SCHEDULE] = policy[SCHEDULE].map(String);
  return output;
}

// readWait is a Retry-After or a wait, in milliseconds (CONF-033).
const readWait = (value) => {
  const wait = shape.integer(value);
  if (wait < 0n) refuse('negative');
  return wait;
};

function backoffOp(input) {
  shape.object(input, ['key', 'retry_count', 'policy'], ['retry_after_ms']);
  const [key, count] = [shape.text(input.key), shape.integer(input.retry_count)];
  const policy = readBackoffPolicy(input.policy);
  const retryAfter = shape.optional(input.retry_after_ms, readWait);
  const { delay, base, jitter } = backoff(key, checkCount(count), checkPolicy(policy), retryAfter);
  return { delay_ms: String(delay), base_ms: String(base), jitter_ms: String(jitter) };
}

const DECIDE = ['outcome', 'key', 'retry_count', 'max_retry', 'hold_count', 'max_hold', 'policy'];
const DECIDE_OPTIONAL = ['reason', 'retry_after_ms', 'wait_ms'];

function decideOp(input) {
  shape.object(input, DECIDE, DECIDE_OPTIONAL);
  const outcome = shape.oneOf(input.outcome, OUTCOMES);
  const wait = shape.optional(input.wait_ms, readWait);
  if (wait === undefined && OUTCOMES_WITH_WAIT.includes(outcome)) refuse('wait_ms is missing'); // CONF-034
  const decision = decide({
    outcome,
    wait,
    key: shape.text(input.key),
    retryCount: shape.integer(input.retry_count),
    maxRetry: shape.integer(input.max_retry),
    holdCount: shape.integer(input.hold_count),
    maxHold: shape.integer(input.max_hold),
    policy: readBackoffPolicy(input.policy),
    retryAfter: shape.optional(input.retry_after_ms, readWait),
    reason: shape.optional(input.reason, shape.text),
  });
  return withoutAbsent({
    action: decision.action,
    delay_ms: stringOf(decision.delay),
    retry_count: stringOf(decision.retryCount),
    hold_count: stringOf(decision.holdCount),
    reject_reason: decision.reason,
  });
}

const stringOf = (value) => (value === undefined ? undefined : String(value));

// withoutAbsent leaves out absent members (CONF-020).
function withoutAbsent(output) {
  return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== undefined));
}

// Chapter 9.

const FINGERPRINT = /^[0-9a-f]{8}-[0-9a-f]{16}$/;

function readFingerprint(value) {
  if (!FINGERPRINT.test(shape.text(value))) refuse('fingerprint');
  return value;
}

const RECORD = ['state', 'fence', 'attempts', 'owner', 'redrive_count', 'position'];
const POSITION = ['redrive_count', 'position'];

function readRecord(input) {
  if (input === null) return null;
  if (!shape.isObject(input)) refuse('record');
  const isProcessing = input.state === 'PROCESSING';
  const ofState = isProcessing ? ['lease_until_ms'] : [];
  const optional = input.state === 'SUCCESS' ? ['result', 'fingerprint'] : ['fingerprint'];
  shape.object(input, [...RECORD, ...ofState], optional);
  return {
    state: shape.oneOf(input.state, STATES),
    fence: shape.count(input.fence),
    attempts: shape.count(input.attempts),
    owner: shape.text(input.owner),
    ...readPosition(input),
    leaseUntil: shape.optional(input.lease_until_ms, shape.count),
    result: shape.optional(input.result, shape.hex) ?? Buffer.alloc(0), // CONF-037
    fingerprint: shape.optional(input.fingerprint, readFingerprint),
  };
}

function readPosition(input) {
  return { redriveCount: shape.count(input.redrive_count), position: shape.count(input.position) };
}

const readPositive = (value) => shape.integerWithin(value, 1n, shape.INT64_MAX);

function admitOp(input) {
  shape.object(
    input,
    ['record', 'delivery', 'now_ms', 'lease_ms', 'max_attempts', 'owner'],
    ['fingerprint'],
  );
  const record = readRecord(input.record);
  const delivery = readPosition(shape.object(input.delivery, POSITION));
  const admission = admit(record, delivery, {
    now: shape.count(input.now_ms),
    lease: readPositive(input.lease_ms),
    maxAttempts: readPositive(input.max_attempts),
    owner: shape.text(input.owner),
    fingerprint: shape.optional(input.fingerprint, readFingerprint),
  });
  return withoutAbsent({
    admission: admission.admission,
    fence: stringOf(admission.fence),
    attempts: stringOf(admission.attempts),
    lease_until_ms: stringOf(admission.leaseUntil),
    recovered: admission.recovered,
    result: admission.result === undefined ? undefined : hexOf(admission.result),
    wait_ms: stringOf(admission.wait),
  });
}

// Chapter 10.

function transitionOp(input) {
  shape.object(input, ['transitions', 'current', 'from', 'to']);
  const edges = shape.list(input.transitions).map((edge) => {
    shape.object(edge, ['from', 'to']);
    return [shape.text(edge.from), shape.text(edge.to)];
  });
  const [current, from, to] = [input.current, input.from, input.to].map(shape.text);
  return { verdict: verdict(edges, current, from, to) };
}

// Chapter 6.

function readTransport(input) {
  return TRANSPORTS.get(shape.oneOf(input, [...TRANSPORTS.keys()]));
}

function readPairs(transportName, input) {
  return shape.list(input).map((given) => {
    if (shape.list(given).length !== 2) refuse('not a pair');
    return { name: shape.text(given[0]), value: readHeaderValue(transportName, given[1]), given };
  });
}

function readHeaderValue(transportName, input) {
  if (input === null) return null;
  const kind = shape.oneMember(input);
  if (kind === 'utf8') return { bytes: Buffer.from(shape.text(input.utf8), 'utf8') };
  if (kind === 'hex') return { bytes: shape.hex(input.hex) };
  if (kind !== 'int' || transportName !== 'amqp') refuse(`${kind} is no value here`);
  shape.integer(input.int);
  return { bytes: Buffer.from(input.int, 'latin1'), isInteger: true }; // HDR-041
}

function headersOp(input) {
  shape.object(input, ['transport', 'headers']);
  const transport = readTransport(input.transport);
  return readHeaders(transport, readPairs(input.transport, input.headers));
}

// The members of each action's decision: those that are there, those that may be (CONF-039).
const DELAYED = ['action', 'delay_ms', 'retry_count', 'hold_count'];
const DECISIONS = new Map([
  ['RETRY', [[...DELAYED, 'reject_reason'], []]],
  ['HOLD', [[...DELAYED, 'reject_reason'], []]],
  ['DEFER', [DELAYED, []]],
  ['DEAD_LETTER', [['action', 'reject_reason'], ['retry_count', 'hold_count']]],
  ['REDRIVE', [['action', 'redrive_count'], ['drop_fingerprint']]],
]);

function readDecision(input) {
  if (!shape.isObject(input)) refuse('decision');
  const [required, optional] = DECISIONS.get(shape.oneOf(input.action, [...DECISIONS.keys()]));
  shape.object(input, required, optional);
  shape.optional(input.drop_fingerprint, shape.onlyTrue);
  return {
    action: input.action,
    delay: shape.optional(input.delay_ms, shape.count),
    retryCount: shape.optional(input.retry_count, shape.count),
    holdCount: shape.optional(input.hold_count, shape.count),
    redriveCount: shape.optional(input.redrive_count, shape.count),
    reason: shape.optional(input.reject_reason, shape.text),
    dropFingerprint: input.drop_fingerprint === true,
  };
}

function nextHeadersOp(input) {
  shape.object(input, ['transport', 'headers', 'decision', 'scope', 'topic', 'now_ms']);
  const transport = readTransport(input.transport);
  const pairs = readPairs(input.transport, input.headers);
  const decision = readDecision(input.decision);
  const [scope, topic] = [shape.text(input.scope), shape.text(input.topic)];
  return { headers: nextHeaders(transport, pairs, decision, scope, topic, shape.count(input.now_ms)) };
}

// Chapter 8.

const CLASSIFY = new Map([
  ['http', (value) => classes.classifyHttp(shape.integer(value))],
  ['grpc', (value) => classes.classifyGrpc(shape.integer(value))],
  ['kafka', (value) => classes.classifyKafka(shape.integer(value))],
  ['sqlstate', (value) => classes.classifySqlstate(shape.text(value))],
  ['net', (value) => classes.classifyNet(shape.text(value))],
]);

function classifyOp(input) {
  const kind = shape.oneOf(shape.oneMember(input), [...CLASSIFY.keys()]);
  return { class: CLASSIFY.get(kind)(input[kind]) };
}

// CONF-040 and CONF-041.

const CONTEXT = ['event_id', 'topic', 'produced_at', 'traceparent', 'tracestate'];

function readContext(input) {
  const context = {};
  for (const [name, value] of Object.entries(shape.object(input, [], CONTEXT))) {
    context[name] = name === 'produced_at' ? readProducedAt(shape.text(value)) : shape.text(value);
  }
  return context;
}

// messageOp gives undefined, which is "unsupported", where there are no descriptors.
function messageOp(input) {
  const types = catalogue();
  if (types === undefined) return undefined;
  shape.object(input, ['type', 'payload'], ['context']);
  const payload = shape.hex(input.payload);
  const context = shape.optional(input.context, readContext) ?? {};
  return send(types.plan(shape.text(input.type)), payload, context);
}

// OPS is a Map, so that an op called "constructor" is not known either (CONF-004).
export const OPS = new Map([
  ['decimal', textOp(typed.readDecimal)],
  ['money', textOp(typed.readMoney)],
  ['timestamp', textOp(typed.readTimestamp)],
  ['duration', textOp(typed.readDuration)],
  ['date', textOp(typed.readDate)],
  ['uuid', textOp(typed.readUuid)],
  ['component', componentOp],
  ['key', keyOp],
  ['fingerprint', fingerprintOp],
  ['hash', hashOp],
  ['shard', routeOp('shard', shard)],
  ['lane', routeOp('lane', lane)],
  ['kafka_partition', kafkaPartitionOp],
  ['policy', policyOp],
  ['backoff', backoffOp],
  ['decide', decideOp],
  ['admit', admitOp],
  ['transition', transitionOp],
  ['headers', headersOp],
  ['next_headers', nextHeadersOp],
  ['classify', classifyOp],
  ['message', messageOp],
]);
