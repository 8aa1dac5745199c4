// Kafka's own cases for murmur2, which are signed there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { murmur2 } from './routing.mjs';

const CASES = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
];

for (const [text, want] of CASES) {
  test(`murmur2 of ${text}`, () => assert.equal(murmur2(Buffer.from(text)), want));
}
