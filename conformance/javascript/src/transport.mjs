// Bindings (chapter 6, HDR-040 to HDR-045): how each transport calls a header, and what a value is
// once the transport's own writing is off.
import { HEADERS } from './header-table.mjs';

const HTAB = 0x09;
const BLANK = 0x20;

const STRUCTURED_STRING = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const NOT_HTTP = /[^\x20-\x7e]/;

const CLOUDEVENTS_NAMES = new Map([
  ['event_id', 'id'],
  ['event_type', 'type'],
  ['occurred_at', 'time'],
  ['biz_key', 'partitionkey'],
]);

const HTTP_NAMES = new Map([
  ['idempotency_key', 'Idempotency-Key'],
  ['traceparent', 'traceparent'],
  ['tracestate', 'tracestate'],
  ['idem_spec', 'Idem-Spec'],
]);

function httpName(name) {
  const words = name.split('_').map((word) => word[0].toUpperCase() + word.slice(1));
  return HTTP_NAMES.get(name) ?? `Idem-${words.join('-')}`;
}

// lowerAscii leaves the Kelvin sign alone, which toLowerCase would turn into a k.
function lowerAscii(text) {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const same = (name) => name;

function binding(nameOf, fold = same) {
  const known = new Map(HEADERS.map(({ name }) => [fold(nameOf(name)), name]));
  return { nameOf, find: (wireName) => known.get(fold(wireName)) };
}

export const TRANSPORTS = new Map([
  ['kafka', binding(same)],
  ['amqp', binding(same)],
  ['http', { ...binding(httpName, lowerAscii), http: true }],
  ['cloudevents', binding((name) => CLOUDEVENTS_NAMES.get(name) ?? name.replaceAll('_', ''))],
]);

// readValue takes the writing of a transport off a known header's value: `raw` is what is kept,
// `bytes` is what it means, `fault` is one of the transport's own.
export function readValue(transport, name, value) {
  if (!transport.http) return { raw: value.bytes, bytes: value.bytes, isInteger: value.isInteger };
  const raw = trim(value.bytes);
  const text = raw.toString('latin1');
  if (name === 'idempotency_key' && text.startsWith('"')) {
    const match = STRUCTURED_STRING.exec(text);
    if (match === null) return { raw, bytes: raw, fault: true };
    return { raw, bytes: Buffer.from(match[1].replace(/\\(.)/g, '$1'), 'latin1') };
  }
  return { raw, bytes: raw, fault: NOT_HTTP.test(text) }; // HDR-044
}

// trim takes off blanks and tabs alone (HDR-042); String.prototype.trim takes more.
function trim(bytes) {
  let [start, end] = [0, bytes.length];
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

function isBlank(byte) {
  return byte === BLANK || byte === HTAB;
}
