// Timestamps (chapter 2, TXT-020 to TXT-025). An instant is seconds and nanos >= 0, as BigInt.
import { dateFromDays, dateText, daysFromDate, isDate, pad } from './calendar.mjs';
import { fail } from './fault.mjs';
import { within } from './integer.mjs';

const SECONDS = [-62135596800n, 253402300799n]; // 0001-01-01T00:00:00 to 9999-12-31T23:59:59
const NANOS = [0n, 999999999n];
const EPOCH = [-(2n ** 63n), 2n ** 64n - 1n]; // TXT-023
const NANOS_A_SECOND = 1000000000n;

// How many of a unit make a second.
export const UNITS = new Map([
  ['s', 1n],
  ['ms', 1000n],
  ['us', 1000000n],
  ['ns', NANOS_A_SECOND],
]);

// No flags: $ is the end of the text and nothing else, and [0-9] is ASCII.
const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

// timestampText writes an instant; digits beyond `digits` are cut, which floors (TXT-021).
export function timestampText({ seconds, nanos }, digits) {
  if (!within(seconds, SECONDS) || !within(nanos, NANOS)) fail('TIMESTAMP_RANGE'); // TXT-022
  const whole = Number(seconds);
  const days = Math.floor(whole / 86400);
  const second = whole - days * 86400;
  return `${dateText(dateFromDays(days))}T${clockText(second)}${fractionText(nanos, digits)}Z`;
}

function clockText(second) {
  return [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map((n) => pad(n, 2)).join(':');
}

// fractionText is shared with durations.
export function fractionText(nanos, digits) {
  return digits === 0 ? '' : `.${pad(nanos, 9).slice(0, digits)}`;
}

// instantFromEpoch reads an integer since the epoch (TXT-023). BigInt division cuts toward zero;
// the instant is the floor.
export function instantFromEpoch(epoch, unit) {
  if (!within(epoch, EPOCH)) fail('INT_RANGE', 'epoch');
  const perSecond = UNITS.get(unit);
  const rest = ((epoch % perSecond) + perSecond) % perSecond;
  return { seconds: (epoch - rest) / perSecond, nanos: rest * (NANOS_A_SECOND / perSecond) };
}

// instantFromText reads the restricted RFC 3339 of TXT-024.
export function instantFromText(text) {
  const instant = scan(text);
  if (instant === undefined) fail('TIMESTAMP_SYNTAX');
  return instant;
}

// scan gives undefined where the text is not a timestamp, or a date or clock that does not exist.
// `-00:00` is UTC (TXT-025).
function scan(text) {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (!isDate(year, month, day) || !isClock(hour, minute, second)) return undefined;
  if (!isClock(offsetHour, offsetMinute, 0)) return undefined;
  const offset = (offsetHour * 60 + offsetMinute) * 60 * (match[8] === '-' ? -1 : 1);
  const local = daysFromDate(year, month, day) * 86400 + (hour * 60 + minute) * 60 + second;
  return { seconds: BigInt(local - offset), nanos: BigInt((match[7] ?? '').padEnd(9, '0')) };
}

function isClock(hour, minute, second) {
  return hour <= 23 && minute <= 59 && second <= 59;
}

// instantFromHeader reads the form of HDR-003, which knows no offset; undefined where it is not one.
// Year 0000 is for the caller: see isInRange.
export function instantFromHeader(text) {
  return text.endsWith('Z') ? scan(text) : undefined;
}

export function isInRange({ seconds }) {
  return within(seconds, SECONDS);
}
