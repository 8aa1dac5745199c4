// Payloads: the fields of a message from its bytes, by a descriptor.
import { isWellFormed } from './bytes.mjs';
import { fieldsOf, FIXED32, FIXED64, GROUP, LENGTH, malformed, packedOf, VARINT } from './wire.mjs';

const MAX_DEPTH = 100; // of messages around a message, as in most parsers (CONF-040)

const asInt32 = (value) => BigInt.asIntN(32, value);
const asInt64 = (value) => BigInt.asIntN(64, value);
const asUint32 = (value) => BigInt.asUintN(32, value);
const same = (value) => value;
const zigzag = (value) => (value >> 1n) ^ -(value & 1n);

// How a scalar is written and what its value is.
const SCALARS = {
  double: [FIXED64, same],
  float: [FIXED32, same],
  int64: [VARINT, asInt64],
  uint64: [VARINT, same],
  int32: [VARINT, asInt32],
  fixed64: [FIXED64, same],
  fixed32: [FIXED32, same],
  bool: [VARINT, (value) => value !== 0n],
  string: [LENGTH, same],
  bytes: [LENGTH, same],
  uint32: [VARINT, asUint32],
  enum: [VARINT, asInt32],
  sfixed32: [FIXED32, asInt32],
  sfixed64: [FIXED64, asInt64],
  sint32: [VARINT, (value) => zigzag(asUint32(value))],
  sint64: [VARINT, zigzag],
};

// A message is its type, the values of its singular fields by number (nested ones are messages),
// and the messages of its repeated fields, which are there to be checked and nothing else.
const emptyMessage = (type) => ({ type, values: new Map(), others: [] });

// parse gives a message, or PAYLOAD_INVALID.
export function parse(type, bytes) {
  const message = emptyMessage(type);
  merge(message, bytes, 0);
  checkRequired(message);
  return message;
}

// merge reads bytes into a message: of a scalar the last value wins, messages are merged.
function merge(message, bytes, depth) {
  if (depth > MAX_DEPTH) malformed('nested too deeply');
  for (const { number, wire, value } of fieldsOf(bytes)) {
    const field = message.type.fields.get(number);
    if (field === undefined) continue; // an unknown field
    if (field.kind === 'message') mergeMessage(message, field, wire, value, depth);
    else mergeScalar(message, field, wire, value);
  }
}

// mergeMessage leaves a field of another wire type alone, as an unknown one.
function mergeMessage(message, field, wire, bytes, depth) {
  if (wire !== (field.isDelimited ? GROUP : LENGTH)) return;
  const part = (field.isRepeated ? undefined : message.values.get(field.number)) ?? emptyMessage(field.message);
  merge(part, bytes, depth + 1);
  if (field.isRepeated) message.others.push(part);
  else put(message, field, part);
}

function mergeScalar(message, field, wire, value) {
  const [wanted, convert] = SCALARS[field.kind];
  if (field.isRepeated && wire === LENGTH && wanted !== LENGTH) {
    for (const _ of packedOf(value, wanted)); // packed: nobody reads it, but it has to be whole
    return;
  }
  if (wire !== wanted) return;
  if (field.kind === 'string' && field.checksUtf8 && !isWellFormed(value)) malformed(`${field.name}: UTF-8`);
  const converted = convert(value);
  if (field.enum?.isClosed && !field.enum.numbers.has(Number(converted))) return; // unknown too
  if (!field.isRepeated) put(message, field, converted);
}

// put sets a field and clears the others of its oneof.
function put(message, field, value) {
  if (field.oneof !== undefined) {
    for (const number of message.values.keys()) {
      const other = message.type.fields.get(number);
      if (other !== field && other.oneof === field.oneof) message.values.delete(number);
    }
  }
  message.values.set(field.number, value);
}

// checkRequired comes last: a required field may be in any of the pieces of a message.
function checkRequired(message) {
  for (const field of message.type.fields.values()) {
    if (field.isRequired && !message.values.has(field.number)) malformed(`${field.name} is required`);
  }
  for (const value of [...message.values.values(), ...message.others]) {
    if (value.type !== undefined) checkRequired(value);
  }
}
