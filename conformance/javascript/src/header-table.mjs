// The table of headers (chapter 6, HDR-001 to HDR-003, HDR-013). A check gives the code of the
// fault, or undefined; it sees well-formed text and knows its length in bytes.
import { INT32 } from './integer.mjs';
import { instantFromHeader, isInRange } from './timestamp.mjs';

const INTEGER = /^(?:0|[1-9][0-9]*)$/;
const VISIBLE = /^[\x21-\x7e]+$/;
const CONTROL = /[\x00-\x1f\x7f]/;
const COUNT_MAX = Number(INT32[1]);

const SYNTAX = 'HEADER_SYNTAX';
const RANGE = 'HEADER_RANGE';

const matches = (pattern) => (text) => (pattern.test(text) ? undefined : SYNTAX);
const name = matches(/^[A-Za-z0-9._-]{1,200}$/);
const state = matches(/^[A-Za-z0-9._-]{0,200}$/);
const fingerprint = matches(/^[0-9a-f]{8}-[0-9a-f]{16}$/);
const oneToKilobyte = (_text, length) => (length >= 1 && length <= 1024 ? undefined : SYNTAX);
const anything = () => undefined;

// A number too long for a double is Infinity or rounded, and above every bound either way.
const integer = (low, high, code = RANGE) => (text) => {
  if (!INTEGER.test(text)) return SYNTAX;
  return Number(text) >= low && Number(text) <= high ? undefined : code;
};

function key(text, length) {
  if (!VISIBLE.test(text)) return 'KEY_SYNTAX';
  return length <= 1024 ? undefined : 'KEY_TOO_LONG';
}

function schedule(text) {
  const entries = text.split(',');
  if (!entries.every((entry) => INTEGER.test(entry))) return SYNTAX;
  if (entries.length > 32) return RANGE;
  return entries.every((entry) => Number(entry) <= 604800000) ? undefined : RANGE;
}

function timestamp(text) {
  const instant = instantFromHeader(text);
  if (instant === undefined) return SYNTAX;
  return isInRange(instant) ? undefined : RANGE;
}

function reason(text, length) {
  return length <= 1024 && !CONTROL.test(text) ? undefined : SYNTAX;
}

const row = (headerName, check, kind = {}) => ({ name: headerName, check, ...kind });
const CONTEXT = { context: true };
const TRACE = { context: true, trace: true };
const NUMBER = { number: true };
const KEY = { key: true };

export const HEADERS = [
  row('idempotency_key', key, KEY),
  row('event_id', oneToKilobyte, CONTEXT),
  row('event_type', name),
  row('biz_key', key, KEY),
  row('topic', oneToKilobyte, CONTEXT),
  row('produced_at', timestamp, CONTEXT),
  row('occurred_at', timestamp, CONTEXT),
  row('traceparent', anything, TRACE),
  row('tracestate', anything, TRACE),
  row('expected_current_state', state),
  row('idempotency_key_previous', key, KEY),
  row('fingerprint', fingerprint),
  row('idem_spec', integer(1, 1, 'SPEC_VERSION'), NUMBER),
  row('retry_count', integer(0, COUNT_MAX), NUMBER),
  row('max_retry', integer(0, 100), NUMBER),
  row('hold_count', integer(0, COUNT_MAX), NUMBER),
  row('max_hold', integer(0, 100), NUMBER),
  row('redrive_count', integer(0, COUNT_MAX), NUMBER),
  row('target_scope', name),
  row('backoff_base', integer(1, 86400), NUMBER),
  row('backoff_jitter', integer(0, 3600000), NUMBER),
  row('backoff_max', integer(1, 604800), NUMBER),
  row('backoff_schedule', schedule),
  row('retry_interval', integer(0, 608400000), NUMBER),
  row('next_retry_time', timestamp),
  row('reject_reason', reason, CONTEXT),
];

export const HEADER_BY_NAME = new Map(HEADERS.map((header) => [header.name, header]));
