// Templates (chapter 3) over a message: what a path names, and its text (chapters 2 and 4).
import { isWellFormed, textOf } from './bytes.mjs';
import { dateTextOf } from './date.mjs';
import { decimalText } from './decimal.mjs';
import { durationText } from './duration.mjs';
import { fail } from './fault.mjs';
import { ABSENT, bytesValue, componentText, digestOf, missing, textValue, timestampValue } from './key.mjs';
import { moneyText } from './money.mjs';
import { instantFromEpoch, instantFromText, timestampText } from './timestamp.mjs';
import { uuidText } from './uuid.mjs';

const DEFAULT_DIGITS = 3; // OPT-021
const MISSING_ALLOW = 2;
const DIGEST_SHA256 = 1;
const UNITS = [undefined, 's', 'ms', 'us', 'ns'];

// compile takes a template apart: a literal stays a text, a placeholder becomes a list of fields.
export function compile(type, template) {
  return template.split(':').map((segment) => (segment.startsWith('{') ? pathOf(type, segment.slice(1, -1)) : segment));
}

function pathOf(type, path) {
  let holder = type;
  return path.split('.').map((name) => {
    const field = holder.byName.get(name);
    holder = field.message;
    return field;
  });
}

// segmentsOf gives what render wants of a compiled template.
export function segmentsOf(compiled, message) {
  return compiled.map((segment) => () => {
    if (typeof segment === 'string') return segment;
    return componentText(valueAt(segment, message));
  });
}

// valueAt gives the value of a component, ABSENT, or KEY_COMPONENT_MISSING (KEY-004, KEY-005).
function valueAt(path, message) {
  const leaf = path.at(-1);
  const found = find(path, message);
  const allow = leaf.idem.missing === MISSING_ALLOW;
  if (found.isMissing && !allow) missing();
  const value = found.isUnset ? ABSENT : canonical(leaf, found.value);
  return leaf.idem.digest === DIGEST_SHA256 ? digestOf(value) : value;
}

// timestampAt gives the text of occurred_at, or undefined where it is missing (HDR-021).
export function timestampAt(path, message) {
  const found = find(path, message);
  return found.isMissing ? undefined : textOf(canonical(path.at(-1), found.value).bytes);
}

// find walks a path. A field without presence is never unset, but missing where it is zero.
function find(path, message) {
  let holder = message;
  for (const field of path.slice(0, -1)) {
    holder = holder.values.get(field.number);
    if (holder === undefined) return { isMissing: true, isUnset: true };
  }
  const leaf = path.at(-1);
  const value = holder.values.get(leaf.number);
  if (leaf.hasPresence) return { value, isMissing: value === undefined, isUnset: value === undefined };
  return { value: value ?? zeroOf(leaf.kind), isMissing: isZero(value), isUnset: false };
}

function zeroOf(kind) {
  if (kind === 'bool') return false;
  return kind === 'string' || kind === 'bytes' ? Buffer.alloc(0) : 0n;
}

function isZero(value) {
  return value === undefined || value === 0n || value === false || value.length === 0;
}

const digitsOf = (options) => options?.digits ?? DEFAULT_DIGITS;

// canonical gives the canonical value of a field that is set, or without presence.
function canonical(field, value) {
  if (field.kind !== 'message') return canonicalScalar(field.kind, field.idem, value);
  return MESSAGES[field.message.name](field.idem, (number) => fieldOf(value, number), value);
}

// fieldOf gives a field of a well-known message, its zero where it is not there.
function fieldOf(message, number) {
  return message.values.get(number) ?? zeroOf(message.type.fields.get(number).kind);
}

const MESSAGES = {
  'google.protobuf.Timestamp': ({ timestamp }, get) =>
    timestampValue(timestampText({ seconds: get(1), nanos: get(2) }, digitsOf(timestamp))),
  'google.protobuf.Duration': ({ duration }, get) => textValue(durationText(get(1), get(2), digitsOf(duration))),
  'google.type.Date': (_, get) => textValue(dateTextOf(get(1), get(2), get(3))),
  'google.type.Decimal': ({ decimal }, get) => {
    const source = get(1).toString('latin1');
    return textValue(source === '' ? '0' : decimalText(source, decimal?.maxScale)); // TXT-008
  },
  'google.type.Money': (_, get) => textValue(moneyText(get(1).toString('latin1'), get(2), get(3))),
};

for (const name of ['Int32', 'Int64', 'UInt32', 'UInt64', 'Bool', 'String', 'Bytes']) {
  MESSAGES[`google.protobuf.${name}Value`] = (options, get, message) =>
    canonicalScalar(message.type.fields.get(1).kind, options, get(1));
}

function canonicalScalar(kind, options, value) {
  if (kind === 'string') return canonicalString(options, value);
  if (kind === 'bytes') return textValue(value.toString('hex'));
  if (options.timestamp === undefined) return textValue(String(value));
  const unit = UNITS[options.timestamp.unit];
  return timestampValue(timestampText(instantFromEpoch(value, unit), digitsOf(options.timestamp)));
}

// canonicalString reads by its option first: what is ill-formed is no decimal, timestamp or UUID.
function canonicalString(options, bytes) {
  const source = bytes.toString('latin1');
  if (options.decimal !== undefined) return textValue(decimalText(source, options.decimal.maxScale));
  if (options.uuid) return textValue(uuidText(source));
  if (options.timestamp !== undefined) {
    return timestampValue(timestampText(instantFromText(source), digitsOf(options.timestamp)));
  }
  if (!isWellFormed(bytes)) fail('STRING_UTF8');
  return bytesValue(bytes);
}
