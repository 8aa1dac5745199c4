// What conformance-vectors/descriptors.binpb says of messages (CONF-043): fields, presence, and the
// options of chapter 3, which are found by their extension numbers (OPT-001).
import { fieldsOf, packedOf, VARINT } from './wire.mjs';

const IDEM = 73157;

// A shape says what to read of a message of descriptor.proto: number -> [name, read, isList].
const text = (bytes) => bytes.toString('utf8');
const number = (value) => Number(BigInt.asIntN(64, value));
const bool = (value) => value !== 0n;

const FEATURES = { 1: ['presence', number], 2: ['enumType', number], 4: ['utf8', number], 5: ['encoding', number] };
const TIME = { 1: ['digits', number], 2: ['unit', number] };

const IDEM_FIELD = {
  1: ['decimal', { 1: ['maxScale', number] }],
  2: ['timestamp', TIME],
  3: ['duration', TIME],
  4: ['uuid', bool],
  5: ['missing', number],
  6: ['digest', number],
};

const IDEM_MESSAGE = {
  1: ['idempotencyKey', text],
  2: ['idempotencyKeyPrevious', text],
  3: ['bizKey', text],
  4: ['fingerprint', text],
  5: ['occurredAt', text],
  6: [
    'retry',
    {
      1: ['max_retry', number],
      2: ['max_hold', number],
      3: ['backoff_base', number],
      4: ['backoff_jitter', number],
      5: ['backoff_max', number],
      6: ['backoff_schedule', number, true],
    },
  ],
  7: ['transition', { 2: ['from', text], 3: ['to', text] }],
};

const FIELD = {
  1: ['name', text],
  3: ['number', number],
  4: ['label', number],
  5: ['type', number],
  6: ['typeName', text],
  8: ['options', { 21: ['features', FEATURES], [IDEM]: ['idem', IDEM_FIELD] }],
  9: ['oneof', number],
};

const ENUM = {
  1: ['name', text],
  2: ['values', { 2: ['number', number] }, true],
  3: ['options', { 7: ['features', FEATURES] }],
};

const MESSAGE = {
  1: ['name', text],
  2: ['fields', FIELD, true],
  4: ['enums', ENUM, true],
  7: ['options', { 7: ['isMapEntry', bool], 12: ['features', FEATURES], [IDEM]: ['idem', IDEM_MESSAGE] }],
};
MESSAGE[3] = ['messages', MESSAGE, true];

const FILE = {
  2: ['package', text],
  4: ['messages', MESSAGE, true],
  5: ['enums', ENUM, true],
  8: ['options', { 50: ['features', FEATURES] }],
  12: ['syntax', text],
};

const FILES = { 1: ['files', FILE, true] };

// read fills an object by a shape. What comes in pieces is merged: protoc writes one piece for
// each option statement.
function read(bytes, shape, into = {}) {
  for (const field of fieldsOf(bytes)) {
    if (!Object.hasOwn(shape, field.number)) continue;
    const [name, how, isList] = shape[field.number];
    if (isList) (into[name] ??= []).push(...readItems(field.value, how));
    else if (typeof how === 'function') into[name] = how(field.value);
    else into[name] = read(field.value, how, into[name]);
  }
  return into;
}

// readItems gives what one field adds to a list: one item, or several packed numbers.
function readItems(value, how) {
  if (typeof how !== 'function') return [read(value, how)];
  const isPacked = how === number && typeof value !== 'bigint';
  return (isPacked ? [...packedOf(value, VARINT)] : [value]).map(how);
}

// Features (of editions) and what they are in proto2 and proto3.
const EXPLICIT = 1;
const IMPLICIT = 2;
const LEGACY_REQUIRED = 3;
const OPEN = 1;
const CLOSED = 2;
const VERIFY = 2;
const NONE = 3;
const LENGTH_PREFIXED = 1;
const DELIMITED = 2;

const DEFAULTS = {
  proto2: { presence: EXPLICIT, enumType: CLOSED, utf8: NONE, encoding: LENGTH_PREFIXED },
  proto3: { presence: IMPLICIT, enumType: OPEN, utf8: VERIFY, encoding: LENGTH_PREFIXED },
  editions: { presence: EXPLICIT, enumType: OPEN, utf8: VERIFY, encoding: LENGTH_PREFIXED },
};

const LABEL_REQUIRED = 2;
const LABEL_REPEATED = 3;
const TYPE_GROUP = 10;
const TYPE_MESSAGE = 11;

const SCALARS = new Map([
  [1, 'double'],
  [2, 'float'],
  [3, 'int64'],
  [4, 'uint64'],
  [5, 'int32'],
  [6, 'fixed64'],
  [7, 'fixed32'],
  [8, 'bool'],
  [9, 'string'],
  [12, 'bytes'],
  [13, 'uint32'],
  [14, 'enum'],
  [15, 'sfixed32'],
  [16, 'sfixed64'],
  [17, 'sint32'],
  [18, 'sint64'],
]);

// readTypes gives the messages of a FileDescriptorSet by full name.
export function readTypes(bytes) {
  const types = { messages: new Map(), enums: new Map() };
  for (const file of read(bytes, FILES).files ?? []) {
    const features = { ...DEFAULTS[file.syntax ?? 'proto2'], ...file.options?.features };
    addScope(types, file.package ?? '', file, features);
  }
  for (const message of types.messages.values()) {
    for (const field of message.fields.values()) link(types, message, field);
  }
  return types.messages;
}

// addScope adds what a file or a message declares; its features are those of its parent and its own.
function addScope(types, prefix, scope, features) {
  const fullName = ({ name }) => (prefix === '' ? name : `${prefix}.${name}`);
  for (const declared of scope.enums ?? []) {
    const { enumType } = { ...features, ...declared.options?.features };
    const numbers = new Set(declared.values.map((value) => value.number ?? 0));
    types.enums.set(fullName(declared), { isClosed: enumType === CLOSED, numbers });
  }
  for (const declared of scope.messages ?? []) {
    const own = { ...features, ...declared.options?.features };
    const fields = (declared.fields ?? []).map((field) => describeField(field, own));
    const isMapEntry = declared.options?.isMapEntry ?? false;
    types.messages.set(fullName(declared), {
      name: fullName(declared),
      isMapEntry,
      fields: new Map(fields.map((field) => [field.number, field])),
      byName: new Map(fields.map((field) => [field.name, field])),
      idem: declared.options?.idem,
    });
    addScope(types, fullName(declared), declared, own);
  }
}

function describeField(declared, parentFeatures) {
  const features = { ...parentFeatures, ...declared.options?.features };
  const isMessage = declared.type === TYPE_MESSAGE || declared.type === TYPE_GROUP;
  const isRepeated = declared.label === LABEL_REPEATED;
  return {
    name: declared.name,
    number: declared.number,
    kind: isMessage ? 'message' : SCALARS.get(declared.type),
    typeName: declared.typeName?.slice(1), // without the dot in front
    isRepeated,
    isRequired: declared.label === LABEL_REQUIRED || features.presence === LEGACY_REQUIRED,
    isDelimited: declared.type === TYPE_GROUP || (isMessage && features.encoding === DELIMITED),
    hasPresence: !isRepeated && (isMessage || declared.oneof !== undefined || features.presence !== IMPLICIT),
    checksUtf8: features.utf8 !== NONE,
    oneof: declared.oneof,
    idem: declared.options?.idem ?? {},
  };
}

// link puts types in the place of their names. Maps are never delimited, whatever the features say.
function link(types, holder, field) {
  field.message = types.messages.get(field.typeName);
  field.enum = types.enums.get(field.typeName);
  if (holder.isMapEntry || field.message?.isMapEntry) field.isDelimited = false;
}
