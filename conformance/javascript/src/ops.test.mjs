// Shapes that are refused, and the traps of JavaScript.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer } from './protocol.mjs';

function ask(op, input) {
  const { output, error } = answer({ seq: 1, op, input });
  return error ?? output;
}

const POLICY = { backoff_base: '1', backoff_max: '60', backoff_jitter: '20' };
const DECIDE = {
  outcome: 'RETRYABLE',
  key: 'k',
  retry_count: '0',
  max_retry: '5',
  hold_count: '0',
  max_hold: '5',
  policy: POLICY,
};
const DIGITS = '9'.repeat(100000);

const REFUSED = [
  ['decimal', null],
  ['decimal', []],
  ['decimal', 'text'],
  ['decimal', {}],
  ['decimal', { text: 1 }],
  ['decimal', { text: '1', hex: '31' }],
  ['decimal', { text: '1', more: '1' }],
  ['decimal', { text: '1', max_scale: 2 }],
  ['decimal', { text: '1', max_scale: '02' }],
  ['decimal', { text: '1', max_scale: '256' }],
  ['decimal', { text: '1', max_scale: DIGITS }],
  ['decimal', { text: '1', max_scale: null }],
  ['decimal', { hex: '3' }],
  ['decimal', { hex: '3G' }],
  ['decimal', { hex: 'AB' }],
  ['decimal', JSON.parse('{"text":"1","__proto__":{}}')],
  ['decimal', { text: '\ud800' }],
  ['money', { currency_code: 'USD', units: '+1', nanos: '0' }],
  ['money', { currency_code: 'USD', units: '-0', nanos: '0' }],
  ['money', { currency_code: 'USD', units: '1\n', nanos: '0' }],
  ['money', { currency_code: 'USD', units: '١', nanos: '0' }],
  ['money', { currency_code: 'USD', units: '1' }],
  ['timestamp', { rfc3339: 'x' }],
  ['timestamp', { rfc3339: 'x', fraction_digits: '10' }],
  ['timestamp', { rfc3339: 'x', seconds: '0', nanos: '0', fraction_digits: '0' }],
  ['timestamp', { seconds: '0', fraction_digits: '0' }],
  ['timestamp', { epoch: '0', unit: 'S', fraction_digits: '0' }],
  ['component', {}],
  ['component', { string: 'a', bytes: '' }],
  ['component', { toString: 'a' }],
  ['component', { absent: false }],
  ['component', { bool: 'true' }],
  ['component', { int: { type: 'int16', value: '1' } }],
  ['component', { utf16: ['41'] }],
  ['component', { utf16: '0041' }],
  ['component', { sha256: { sha256: { string: 'a' } } }],
  ['key', { segments: [] }],
  ['key', { segments: [{ literal: '' }] }],
  ['key', { segments: [{ literal: 'a:b' }] }],
  ['key', { segments: [{ literal: 'a\n' }] }],
  ['key', { segments: [{ component: { missing: true } }, { literal: 7 }] }],
  ['shard', { key: 'a', hash: '0000000000000000', n: '1' }],
  ['shard', { hash: '000000000000000', n: '1' }],
  ['shard', { n: '1' }],
  ['policy', { header: {}, schema: {}, limit: { backoff_schedule: [] } }],
  ['policy', { header: { max_retry: '101' }, schema: {}, limit: { max_hold: 1 } }],
  ['backoff', { key: '', retry_count: '0', policy: POLICY, retry_after_ms: '-1' }],
  ['backoff', { key: 'k', retry_count: '0', policy: { ...POLICY, backoff_jitter: undefined } }],
  ['decide', { ...DECIDE, outcome: 'ok' }],
  ['decide', { ...DECIDE, outcome: 'constructor' }],
  ['decide', { ...DECIDE, outcome: 'FENCED' }],
  ['decide', { ...DECIDE, wait_ms: 1 }],
  ['headers', { transport: 'kafka', headers: [['a', { int: '1' }]] }],
  ['headers', { transport: 'amqp', headers: [['a', { int: '01' }]] }],
  ['headers', { transport: 'amqp', headers: [['a']] }],
  ['headers', { transport: 'sqs', headers: [] }],
  ['classify', { http: '200', grpc: '0' }],
  ['classify', { http: '600' }],
  ['classify', { kafka: '32768' }],
  ['classify', { sqlstate: '40001\n' }],
  ['classify', { net: 'EOF' }],
];

for (const [op, input] of REFUSED) {
  test(`${op} refuses ${JSON.stringify(input)?.slice(0, 90)}`, () => {
    assert.equal(ask(op, input), 'INPUT_INVALID');
  });
}

const ANSWERS = [
  ['decimal', { text: '1\n' }, 'DECIMAL_SYNTAX'],
  ['decimal', { text: '\ufeff1' }, 'DECIMAL_SYNTAX'],
  ['decimal', { hex: 'c3b1' }, 'DECIMAL_SYNTAX'],
  ['decimal', { text: `${'0'.repeat(1000000)}1` }, { text: '1' }],
  ['date', { year: DIGITS, month: '1', day: '1' }, 'DATE_RANGE'],
  ['date', { year: '2023', month: '2', day: '29' }, 'DATE_RANGE'],
  ['component', { enum: `-${DIGITS}` }, 'INT_RANGE'],
  ['component', { utf16: ['d83d', 'de00'] }, { text: '%F0%9F%98%80' }],
  ['component', { utf16: ['de00', 'd83d'] }, 'STRING_UTF8'],
  ['component', { hex_utf8: 'eda080' }, 'STRING_UTF8'],
  ['component', { string: '\u00a0\ufeffé' }, { text: '%C2%A0%EF%BB%BF%C3%A9' }],
  ['component', { sha256: { absent: true } }, { text: '~' }],
  ['component', { sha256: { string: '' } }, { text: 'e3b0c44298fc1c149afbf4c8996fb924' }],
  ['key', { segments: [{ component: { string: '' } }] }, { key: '' }],
  ['key', { segments: [{ component: { string: '' } }, { component: { string: '' } }] }, { key: ':' }],
  ['key', { segments: [{ literal: 'a'.repeat(1024) }] }, { key: 'a'.repeat(1024) }],
  ['key', { segments: [{ literal: 'a'.repeat(1024) }, { literal: 'a' }] }, 'KEY_TOO_LONG'],
  ['key', { segments: [{ literal: 'a'.repeat(1025) }, { component: { missing: true } }] }, 'KEY_COMPONENT_MISSING'],
  ['lane', { hash: 'ffffffff00000000', n: '2147483647' }, { lane: '1' }],
  ['shard', { key: '', n: '0' }, 'PARTITION_COUNT'],
  ['shard', { key: '', n: '1' }, 'KEY_EMPTY'],
  ['backoff', { key: 'order-8317', retry_count: '1', policy: POLICY }, { delay_ms: '2017', base_ms: '2000', jitter_ms: '17' }],
  ['classify', { grpc: '17' }, { class: 'RETRYABLE' }],
  ['classify', { net: 'constructor' }, { class: 'RETRYABLE' }],
  ['transition', { transitions: [{ from: '__proto__', to: 'constructor' }], current: '__proto__', from: '__proto__', to: 'constructor' }, { verdict: 'APPLY' }],
];

for (const [op, input, want] of ANSWERS) {
  test(`${op} of ${JSON.stringify(input).slice(0, 90)}`, () => {
    assert.deepEqual(ask(op, input), want);
  });
}

// The bound of TXT-006 is 256 bytes, with sign and point.
for (const [digits, sign, fits] of [[254, '', true], [255, '', false], [253, '-', true], [254, '-', false]]) {
  test(`a decimal of ${sign}0. and ${digits} digits ${fits ? 'fits' : 'does not fit'}`, () => {
    const text = `${sign}0.${'1'.repeat(digits)}`;
    assert.deepEqual(ask('decimal', { text }), fits ? { text } : 'DECIMAL_RANGE');
    const whole = `${sign}1E${255 - sign.length}`;
    assert.deepEqual(ask('decimal', { text: whole }), { text: `${sign}1${'0'.repeat(255 - sign.length)}` });
  });
}

test('a long chain of states needs no stack', () => {
  const transitions = Array.from({ length: 20000 }, (_, at) => ({ from: `s${at}`, to: `s${at + 1}` }));
  assert.deepEqual(ask('transition', { transitions, current: 's0', from: 's19999', to: 's20000' }), { verdict: 'EARLY' });
});
