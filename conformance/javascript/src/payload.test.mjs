// Payloads that are no message, and those that are one in an unusual way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from './fault.mjs';
import { parse } from './payload.mjs';

function field(number, kind, more = {}) {
  return { name: `f${number}`, number, kind, hasPresence: true, checksUtf8: true, idem: {}, ...more };
}

function type(...fields) {
  return { name: 't.T', fields: new Map(fields.map((one) => [one.number, one])) };
}

const CHILD = type(field(1, 'int32'), field(2, 'string', { checksUtf8: false }));
const TYPE = type(
  field(1, 'int32'),
  field(2, 'string'),
  field(3, 'message', { message: CHILD }),
  field(4, 'message', { message: CHILD, isDelimited: true }),
  field(5, 'sint64', { isRepeated: true }),
  field(6, 'enum', { enum: { isClosed: true, numbers: new Set([0, 1]) } }),
  field(7, 'int32', { oneof: 0 }),
  field(8, 'message', { message: CHILD, oneof: 0 }),
  field(9, 'uint64'),
  field(10, 'bool'),
  field(11, 'sint32'),
);

function read(hex) {
  try {
    return plain(parse(TYPE, Buffer.from(hex, 'hex')));
  } catch (fault) {
    if (fault instanceof Fault) return fault.code;
    throw fault;
  }
}

function plain(value) {
  if (value.type !== undefined) return Object.fromEntries([...value.values].map(([at, one]) => [at, plain(one)]));
  return Buffer.isBuffer(value) ? value.toString('latin1') : value;
}

const CASES = [
  ['nothing', '', {}],
  ['the last value wins', '08010802', { 1: 2n }],
  ['a negative int32 in ten bytes', '08ffffffffffffffffff01', { 1: -1n }],
  ['an int32 is the low half', '08808080801008', 'PAYLOAD_INVALID'],
  ['an int32 of 33 bits is cut', '088180808010', { 1: 1n }],
  ['a varint longer than it has to be', '08818000', { 1: 1n }],
  ['all 64 bits', '48ffffffffffffffffff01', { 9: 18446744073709551615n }],
  ['65 bits', '48ffffffffffffffffff02', 'PAYLOAD_INVALID'],
  ['eleven bytes', '48ffffffffffffffffffff01', 'PAYLOAD_INVALID'],
  ['a bool of many bits', '508080808010', { 10: true }],
  ['the lowest sint32', '58ffffffff0f', { 11: -2147483648n }],
  ['a tag without a value', '08', 'PAYLOAD_INVALID'],
  ['field number 0', '0001', 'PAYLOAD_INVALID'],
  ['field number 2^29', '808080801000', 'PAYLOAD_INVALID'],
  ['wire type 6', '0e', 'PAYLOAD_INVALID'],
  ['wire type 7', '0f', 'PAYLOAD_INVALID'],
  ['a length beyond the end', '120261', 'PAYLOAD_INVALID'],
  ['a length of 2^63', '1280808080808080808001', 'PAYLOAD_INVALID'],
  ['another wire type is an unknown field', '0d01000000', {}],
  ['ill-formed text where it is checked', '1201ff', 'PAYLOAD_INVALID'],
  ['ill-formed text where it is not', '1a031201ff', { 3: { 2: '\xff' } }],
  ['two pieces of a message', '1a0208011a03120161', { 3: { 1: 1n, 2: 'a' } }],
  ['a malformed message inside', '1a0108', 'PAYLOAD_INVALID'],
  ['a delimited message', '23080124', { 4: { 1: 1n } }],
  ['a delimited field with a length', '22020801', {}],
  ['unknown groups in groups', 'a306ab06ac06a406', {}],
  ['a group without an end', 'a30608', 'PAYLOAD_INVALID'],
  ['a group with another end', 'a306ac06', 'PAYLOAD_INVALID'],
  ['an end without a group', 'a406', 'PAYLOAD_INVALID'],
  ['packed and not', '2a0201022803', {}],
  ['packed and cut', '2a0180', 'PAYLOAD_INVALID'],
  ['a closed enum does not know it', '3001' + '3002', { 6: 1n }],
  ['a oneof holds the last', '38014200' + '3802', { 7: 2n }],
  ['a oneof starts again', '42020801' + '3801' + '4203120161', { 8: { 2: 'a' } }],
];

for (const [name, hex, want] of CASES) {
  test(name, () => assert.deepEqual(read(hex), want));
}

test('a hundred thousand nested groups need no stack', () => {
  assert.deepEqual(read('a306'.repeat(100000) + 'a406'.repeat(100000)), {});
});

test('a required field may come with a later piece', () => {
  const inner = type(field(1, 'int32', { isRequired: true }));
  const outer = type(field(1, 'message', { message: inner }), field(2, 'message', { message: inner, isRepeated: true }));
  const parses = (hex) => {
    try {
      return parse(outer, Buffer.from(hex, 'hex')) !== undefined;
    } catch {
      return false;
    }
  };
  assert.deepEqual(['', '0a00', '0a000a020801', '1200', '12020801'].map(parses), [true, false, true, false, true]);
});
