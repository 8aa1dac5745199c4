// Integers and enums (chapter 2, TXT-050, TXT-051, TXT-053). All of them are BigInt here: a Number
// is exact to 2^53 only.
import { fail } from './fault.mjs';

const signed = (bits) => [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
const unsigned = (bits) => [0n, 2n ** bits - 1n];

export const INT32 = signed(32n);
export const INT64 = signed(64n);
export const UINT32 = unsigned(32n);
export const UINT64 = unsigned(64n);

// The ranges of the integer types of protobuf, by their names.
export const INTEGER_TYPES = new Map([
  ['int32', INT32],
  ['sint32', INT32],
  ['sfixed32', INT32],
  ['int64', INT64],
  ['sint64', INT64],
  ['sfixed64', INT64],
  ['uint32', UINT32],
  ['fixed32', UINT32],
  ['uint64', UINT64],
  ['fixed64', UINT64],
]);

export function within(value, [low, high]) {
  return value >= low && value <= high;
}

export function integerText(type, value) {
  if (!within(value, INTEGER_TYPES.get(type))) fail('INT_RANGE', type);
  return String(value);
}

export function enumText(value) {
  if (!within(value, INT32)) fail('INT_RANGE', 'enum');
  return String(value);
}
