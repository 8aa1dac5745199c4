// Headers on the transports, where JavaScript's own text functions would do too much.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer } from './protocol.mjs';

function read(transport, headers) {
  const { output, error } = answer({ seq: 1, op: 'headers', input: { transport, headers } });
  return error ?? output;
}

const utf8 = (text) => ({ utf8: text });
const envelope = (members) => ({ envelope: members, unknown: [], warnings: [] });

const READ = [
  ['names without case', 'http', [['IDEM-retry-count', utf8('1')]], envelope({ retry_count: '1' })],
  [
    'a Kelvin sign is no k',
    'http',
    [['Idempotency-\u212aey', utf8('a')]],
    { envelope: {}, unknown: [['Idempotency-\u212aey', utf8('a')]], warnings: [] },
  ],
  ['blanks and tabs around', 'http', [['Idem-Retry-Count', utf8(' \t1\t ')]], envelope({ retry_count: '1' })],
  ['no other white space', 'http', [['Idem-Retry-Count', utf8('\u00a01')]], 'HEADER_SYNTAX'],
  ['a line feed at the end', 'kafka', [['retry_count', utf8('1\n')]], 'HEADER_SYNTAX'],
  ['quoted or not', 'http', [['Idempotency-Key', utf8('"a\\"\\\\"')], ['idempotency-key', utf8('a"\\')]], envelope({ idempotency_key: 'a"\\' })],
  ['a quote left open', 'http', [['Idempotency-Key', utf8('"a')]], 'KEY_SYNTAX'],
  ['parameters after the quote', 'http', [['Idempotency-Key', utf8('"a";v=1')]], 'KEY_SYNTAX'],
  ['another escape', 'http', [['Idempotency-Key', utf8('"\\a"')]], 'KEY_SYNTAX'],
  ['a long integer', 'kafka', [['retry_count', utf8('9'.repeat(400))]], 'HEADER_RANGE'],
  ['one above 2^31-1', 'kafka', [['retry_count', utf8('2147483648')]], 'HEADER_RANGE'],
  ['a version', 'kafka', [['idem_spec', utf8('2')]], 'SPEC_VERSION'],
  ['an ill-formed context header', 'kafka', [['event_id', { hex: 'ff' }]], { envelope: {}, unknown: [], warnings: ['event_id'] }],
  ['a byte order mark is text', 'kafka', [['event_id', { hex: 'efbbbf61' }]], envelope({ event_id: '\ufeffa' })],
  ['the table gives the order', 'kafka', [['max_retry', utf8('x')], ['event_type', utf8('')], ['event_type', utf8('a')]], 'HEADER_CONFLICT'],
  ['a member of every object', 'kafka', [['constructor', null]], { envelope: {}, unknown: [['constructor', null]], warnings: [] }],
];

for (const [name, transport, headers, want] of READ) {
  test(`headers: ${name}`, () => assert.deepEqual(read(transport, headers), want));
}

function reasonAfter(transport, reason) {
  const decision = { action: 'DEAD_LETTER', reject_reason: reason };
  const input = { transport, headers: [], decision, scope: 's', topic: 't', now_ms: '0' };
  const { headers } = answer({ seq: 1, op: 'next_headers', input }).output;
  return headers.at(-1)[1].utf8;
}

const REASONS = [
  ['control characters', 'kafka', 'a\r\n\u007f\u0080', 'a   \u0080'],
  ['a cut between characters', 'kafka', `${'a'.repeat(1022)}😀`, 'a'.repeat(1022)],
  ['a character that just fits', 'kafka', `${'a'.repeat(1020)}😀b`, `${'a'.repeat(1020)}😀`],
  ['one mark a character', 'http', 'é😀\t', '?? '],
];

for (const [name, transport, reason, want] of REASONS) {
  test(`reject_reason: ${name}`, () => assert.equal(reasonAfter(transport, reason), want));
}
