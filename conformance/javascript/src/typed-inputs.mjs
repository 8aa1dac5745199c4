// The inputs of the ops that write one value, which a component nests too (CONF-030). Each reader
// checks the shape at once and gives a function that computes, so that INPUT_INVALID comes before
// any other fault (CONF-021).
import { bytesOfUnits, isWellFormed, textOf } from './bytes.mjs';
import { dateTextOf } from './date.mjs';
import { decimalText } from './decimal.mjs';
import { durationText } from './duration.mjs';
import { fail, refuse } from './fault.mjs';
import { enumText, INTEGER_TYPES, integerText } from './integer.mjs';
import { ABSENT, bytesValue, digestOf, missing, textValue, timestampValue } from './key.mjs';
import { moneyText } from './money.mjs';
import * as shape from './shape.mjs';
import { instantFromEpoch, instantFromText, timestampText, UNITS } from './timestamp.mjs';
import { uuidText } from './uuid.mjs';

export function readDecimal(input) {
  const kind = alternative(input, ['text', 'hex']);
  shape.object(input, [kind], ['max_scale']);
  const maxScale = shape.optional(input.max_scale, (value) => Number(shape.integerWithin(value, 0n, 255n)));
  const source = kind === 'text' ? shape.text(input.text) : shape.hex(input.hex).toString('latin1');
  return () => decimalText(source, maxScale);
}

// alternative gives the one of these members that is there.
function alternative(input, names) {
  if (!shape.isObject(input)) refuse('not an object');
  const there = names.filter((name) => Object.hasOwn(input, name));
  if (there.length !== 1) refuse(`not exactly one of ${names}`);
  return there[0];
}

export function readMoney(input) {
  shape.object(input, ['currency_code', 'units', 'nanos']);
  const currency = shape.text(input.currency_code);
  const [units, nanos] = [shape.integer(input.units), shape.integer(input.nanos)];
  return () => moneyText(currency, units, nanos);
}

const fractionDigits = (value) => Number(shape.integerWithin(value, 0n, 9n));

const INSTANTS = {
  rfc3339: ['rfc3339'],
  seconds: ['seconds', 'nanos'],
  epoch: ['epoch', 'unit'],
};

export function readTimestamp(input) {
  const kind = alternative(input, Object.keys(INSTANTS));
  shape.object(input, [...INSTANTS[kind], 'fraction_digits']);
  const digits = fractionDigits(input.fraction_digits);
  const instant = readInstant(kind, input);
  return () => timestampText(instant(), digits);
}

function readInstant(kind, input) {
  if (kind === 'rfc3339') {
    const text = shape.text(input.rfc3339);
    return () => instantFromText(text);
  }
  if (kind === 'epoch') {
    const [epoch, unit] = [shape.integer(input.epoch), shape.oneOf(input.unit, [...UNITS.keys()])];
    return () => instantFromEpoch(epoch, unit);
  }
  const instant = { seconds: shape.integer(input.seconds), nanos: shape.integer(input.nanos) };
  return () => instant;
}

export function readDuration(input) {
  shape.object(input, ['seconds', 'nanos', 'fraction_digits']);
  const [seconds, nanos] = [shape.integer(input.seconds), shape.integer(input.nanos)];
  const digits = fractionDigits(input.fraction_digits);
  return () => durationText(seconds, nanos, digits);
}

export function readDate(input) {
  shape.object(input, ['year', 'month', 'day']);
  const [year, month, day] = [input.year, input.month, input.day].map(shape.integer);
  return () => dateTextOf(year, month, day);
}

export function readUuid(input) {
  shape.object(input, ['text']);
  const text = shape.text(input.text);
  return () => uuidText(text);
}

// as turns a reader of a text into a reader of a component's value.
const as = (read, value = textValue) => (input) => {
  const text = read(input);
  return () => value(text());
};

const PLAIN_COMPONENTS = new Map([
  ['string', as((input) => constant(shape.text(input)))],
  ['hex_utf8', readUtf8],
  ['utf16', readUtf16],
  ['bytes', readBytes],
  ['bool', as((input) => constant(String(shape.bool(input))))],
  ['enum', as(readEnum)],
  ['int', as(readInt)],
  ['absent', readAbsent],
  ['missing', readMissing],
  ['decimal', as(readDecimal)],
  ['money', as(readMoney)],
  ['timestamp', as(readTimestamp, timestampValue)],
  ['duration', as(readDuration)],
  ['date', as(readDate)],
  ['uuid', as(readUuid)],
]);

const constant = (text) => () => text;

// readComponent gives a function that computes the component's value, or null where it is absent.
export function readComponent(input) {
  const kind = shape.oneMember(input);
  if (kind !== 'sha256') return readPlainComponent(kind, input[kind]);
  const inner = input.sha256;
  const value = readPlainComponent(shape.oneMember(inner), Object.values(inner)[0]);
  return () => digestOf(value());
}

function readPlainComponent(kind, input) {
  const read = PLAIN_COMPONENTS.get(kind);
  if (read === undefined) refuse(`${kind} is not known`);
  return read(input);
}

function readUtf8(input) {
  const bytes = shape.hex(input);
  return () => {
    if (!isWellFormed(bytes)) fail('STRING_UTF8');
    return textValue(textOf(bytes));
  };
}

function readUtf16(input) {
  const units = shape.list(input).map((unit) => Number(shape.hexDigits(unit, 4)));
  return () => bytesValue(bytesOfUnits(units));
}

function readBytes(input) {
  const bytes = shape.hex(input);
  return () => textValue(bytes.toString('hex')); // TXT-054
}

function readEnum(input) {
  const number = shape.integer(input);
  return () => enumText(number);
}

function readInt(input) {
  shape.object(input, ['type', 'value']);
  const type = shape.oneOf(input.type, [...INTEGER_TYPES.keys()]);
  const value = shape.integer(input.value);
  return () => integerText(type, value);
}

function readAbsent(input) {
  shape.onlyTrue(input);
  return () => ABSENT;
}

function readMissing(input) {
  shape.onlyTrue(input);
  return missing;
}
