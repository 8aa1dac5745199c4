// Decimals (chapter 2, TXT-001 to TXT-008).
import { fail } from './fault.mjs';

const MAX_EXPONENT_DIGITS = 4; // TXT-002
const MAX_TEXT = 256; // TXT-006

// decimalText gives the canonical text. `source` holds one character a byte or a text; neither
// has a digit outside ASCII that would count. `maxScale` is undefined where the scale is free.
export function decimalText(source, maxScale) {
  const parts = scan(source);
  if (parts.exponentDigits.length > MAX_EXPONENT_DIGITS) fail('DECIMAL_RANGE', 'exponent'); // TXT-002
  const { digits, exponent } = normalise(parts);
  if (digits === '') return '0'; // TXT-003
  const scale = Math.max(0, -exponent);
  if (maxScale !== undefined && scale > maxScale) fail('DECIMAL_SCALE', `scale ${scale}`); // TXT-005
  if (textLength(parts.negative, digits.length, exponent) > MAX_TEXT) fail('DECIMAL_RANGE', 'length');
  return plain(parts.negative, digits, exponent);
}

// scan takes the text apart by the grammar; all else is DECIMAL_SYNTAX (TXT-001).
function scan(source) {
  let at = 0;
  const sign = () => (source[at] === '+' || source[at] === '-' ? source[at++] : '');
  const digits = () => {
    const start = at;
    while (isDigit(source.charCodeAt(at))) at++;
    return source.slice(start, at);
  };

  const negative = sign() === '-';
  const whole = digits();
  let fraction = '';
  if (source[at] === '.') {
    at++;
    fraction = digits();
  }
  if (whole === '' && fraction === '') syntax(at);

  let exponentNegative = false;
  let exponentDigits = '';
  if (source[at] === 'e' || source[at] === 'E') {
    at++;
    exponentNegative = sign() === '-';
    exponentDigits = digits();
    if (exponentDigits === '') syntax(at);
  }
  if (at !== source.length) syntax(at);
  return { negative, whole, fraction, exponentNegative, exponentDigits: withoutLeadingZeros(exponentDigits) };
}

function syntax(at) {
  fail('DECIMAL_SYNTAX', `offset ${at}`);
}

// charCodeAt is NaN at the end, which is no digit.
function isDigit(code) {
  return code >= 0x30 && code <= 0x39;
}

function withoutLeadingZeros(digits) {
  let start = 0;
  while (digits[start] === '0') start++;
  return digits.slice(start);
}

function withoutTrailingZeros(digits) {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

// normalise gives digits without zeros at either end and the power of ten they are counted in.
function normalise(parts) {
  const all = withoutLeadingZeros(parts.whole + parts.fraction);
  const digits = withoutTrailingZeros(all);
  const power = Number(parts.exponentDigits) * (parts.exponentNegative ? -1 : 1);
  return { digits, exponent: power - parts.fraction.length + (all.length - digits.length) };
}

// textLength is the length of what plain would build; 1E9999 costs no more than 1 (TXT-006).
function textLength(negative, digits, exponent) {
  const sign = negative ? 1 : 0;
  if (exponent >= 0) return sign + digits + exponent;
  return sign + Math.max(1, digits + exponent) + 1 - exponent;
}

// plain writes the plain notation of TXT-004.
function plain(negative, digits, exponent) {
  const sign = negative ? '-' : '';
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
