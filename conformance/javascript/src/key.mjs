// The key (chapter 4) and the fingerprint (HASH-030).
import { createHash } from 'node:crypto';
import { utf8 } from './bytes.mjs';
import { fail } from './fault.mjs';
import { hashText, xxh64 } from './xxh64.mjs';

const MAX_KEY = 1024; // KEY-011
const MISSING_TEXT = '~'; // KEY-005
const UNESCAPED = /^[A-Za-z0-9._-]*$/;

const ESCAPED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return UNESCAPED.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

// A value is canonical bytes, and whether they are escaped; null is a missing field that may be.
export const textValue = (text) => ({ bytes: utf8(text), verbatim: false });
export const bytesValue = (bytes) => ({ bytes, verbatim: false });
export const timestampValue = (text) => ({ bytes: utf8(text), verbatim: true }); // KEY-002
export const ABSENT = null;

// componentText gives the text of a component (KEY-001, KEY-002, KEY-005).
export function componentText(value) {
  if (value === ABSENT) return MISSING_TEXT;
  return value.verbatim ? value.bytes.toString('latin1') : escape(value.bytes);
}

export function escape(bytes) {
  let text = '';
  for (const byte of bytes) text += ESCAPED[byte];
  return text;
}

// digestOf replaces a value by its digest (KEY-003); what is absent stays so.
export function digestOf(value) {
  if (value === ABSENT) return ABSENT;
  return textValue(createHash('sha256').update(value.bytes).digest('hex').slice(0, 32));
}

export function missing() {
  fail('KEY_COMPONENT_MISSING');
}

// render joins segments, each a function that gives its text or throws its fault: the first fault
// from the left is the answer, then the length (KEY-010, KEY-011). Texts that are of no use any
// more are not kept.
export function render(segments) {
  let key = '';
  let length = -1;
  for (const segment of segments) {
    const text = segment();
    length += 1 + text.length; // a segment is ASCII
    if (length <= MAX_KEY) key += length === text.length ? text : `:${text}`;
  }
  if (length > MAX_KEY) fail('KEY_TOO_LONG', `${length} bytes`);
  return key;
}

// fingerprint takes the template's text and the rendered text.
export function fingerprint(template, text) {
  const [t, v] = [template, text].map((part) => hashText(xxh64(utf8(part))));
  return `${t.slice(8)}-${v}`;
}

// areComparable is HASH-031; T is what comes before the "-".
export function areComparable(left, right) {
  return left !== undefined && right !== undefined && left.slice(0, 8) === right.slice(0, 8);
}
