// The shapes of inputs (CONF-020, CONF-021). JSON.parse has done its part; integers are strings
// because it would round them.
import { refuse } from './fault.mjs';

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const NOT_HEX = /[^0-9a-f]/;

// An integer of more digits than any op can use is only "too large", at no cost (CONF-021 asks
// for 30 digits).
const MANY_DIGITS = 40;
const HUGE = 10n ** 40n;

export const INT64_MAX = 2n ** 63n - 1n;

export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// object checks that a value has these members and no others, and gives it back.
export function object(value, required, optional = []) {
  if (!isObject(value)) refuse('not an object');
  for (const name of required) {
    if (!Object.hasOwn(value, name)) refuse(`${name} is missing`);
  }
  for (const name of Object.keys(value)) {
    if (!required.includes(name) && !optional.includes(name)) refuse(`${name} is not known`);
  }
  return value;
}

// oneMember checks that an object has exactly one member and gives its name.
export function oneMember(value) {
  if (!isObject(value)) refuse('not an object');
  const names = Object.keys(value);
  if (names.length !== 1) refuse('not exactly one member');
  return names[0];
}

export function list(value) {
  if (!Array.isArray(value)) refuse('not a list');
  return value;
}

export function text(value) {
  if (typeof value !== 'string' || !value.isWellFormed()) refuse('not a text');
  return value;
}

export function bool(value) {
  if (typeof value !== 'boolean') refuse('not a boolean');
  return value;
}

// onlyTrue is for members that are true or left out.
export function onlyTrue(value) {
  if (value !== true) refuse('not true');
}

export function hex(value) {
  if (typeof value !== 'string' || value.length % 2 !== 0 || NOT_HEX.test(value)) refuse('not hex');
  return Buffer.from(value, 'hex');
}

// hexDigits gives the number that exactly `count` hex digits stand for.
export function hexDigits(value, count) {
  if (typeof value !== 'string' || value.length !== count || NOT_HEX.test(value)) {
    refuse(`not ${count} hex digits`);
  }
  return BigInt(`0x${value}`);
}

export function integer(value) {
  if (typeof value !== 'string' || !INTEGER.test(value)) refuse('not a canonical integer');
  if (value.length > MANY_DIGITS) return value.startsWith('-') ? -HUGE : HUGE;
  return BigInt(value);
}

// integerWithin is an integer whose range is part of its shape.
export function integerWithin(value, low, high) {
  const number = integer(value);
  if (number < low || number > high) refuse(`not ${low} to ${high}`);
  return number;
}

// count is a time, a fence or a count of CONF-036 and CONF-039.
export function count(value) {
  return integerWithin(value, 0n, INT64_MAX);
}

export function oneOf(value, known) {
  if (typeof value !== 'string' || !known.includes(value)) refuse('not a known word');
  return value;
}

// optional reads a member that may be left out.
export function optional(value, read) {
  return value === undefined ? undefined : read(value);
}
