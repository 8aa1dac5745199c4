// The wire format of protobuf, by hand: enough to read descriptors and payloads.
import { fail } from './fault.mjs';

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const GROUP = 3;
const GROUP_END = 4;
export const FIXED32 = 5;

const MAX_NUMBER = 2n ** 29n - 1n;
const MAX_VARINT = 10; // bytes

export function malformed(detail) {
  fail('PAYLOAD_INVALID', detail);
}

// fieldsOf walks the fields of a message: {number, wire, value}. A value is an unsigned BigInt, or
// the bytes of what has a length or of a group's inside.
export function* fieldsOf(bytes) {
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const { number, wire } = readTag(cursor);
    if (wire === GROUP_END) malformed('a group ends that did not begin');
    yield { number, wire, value: readValue(cursor, number, wire) };
  }
}

// packedOf gives the values of a packed field.
export function* packedOf(bytes, wire) {
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) yield readValue(cursor, 0, wire);
}

function readTag(cursor) {
  const tag = readVarint(cursor);
  const number = tag >> 3n;
  if (number < 1n || number > MAX_NUMBER) malformed(`field number ${number}`);
  return { number: Number(number), wire: Number(tag & 7n) };
}

function readValue(cursor, number, wire) {
  switch (wire) {
    case VARINT:
      return readVarint(cursor);
    case FIXED64:
      return take(cursor, 8).readBigUInt64LE();
    case LENGTH:
      return readLength(cursor);
    case GROUP:
      return readGroup(cursor, number);
    case FIXED32:
      return BigInt(take(cursor, 4).readUInt32LE());
    default:
      return malformed(`wire type ${wire}`);
  }
}

function take(cursor, length) {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) malformed('cut short');
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}

function readLength(cursor) {
  const length = readVarint(cursor);
  if (length > BigInt(cursor.bytes.length - cursor.at)) malformed('cut short');
  return take(cursor, Number(length));
}

// readVarint gives 64 bits. Most are one byte long, and BigInt is slow.
function readVarint(cursor) {
  let value = 0n;
  for (let count = 0; count < MAX_VARINT; count++) {
    if (cursor.at >= cursor.bytes.length) malformed('cut short');
    const byte = cursor.bytes[cursor.at++];
    if (count === 0 && byte < 0x80) return BigInt(byte);
    value |= BigInt(byte & 0x7f) << BigInt(7 * count);
    if (byte < 0x80) {
      if (value > 0xffffffffffffffffn) malformed('a varint of more than 64 bits');
      return value;
    }
  }
  return malformed('a varint of more than ten bytes');
}

// readGroup skips to the end of a group and gives its inside. It needs no stack, however deep
// groups are nested.
function readGroup(cursor, number) {
  const start = cursor.at;
  const open = [number];
  for (;;) {
    const end = cursor.at;
    const tag = readTag(cursor);
    if (tag.wire === GROUP) {
      open.push(tag.number);
    } else if (tag.wire === GROUP_END) {
      if (open.pop() !== tag.number) malformed('a group ends that did not begin');
      if (open.length === 0) return cursor.bytes.subarray(start, end);
    } else {
      readValue(cursor, tag.number, tag.wire);
    }
  }
}
