// Bytes and text: hex, UTF-8 and UTF-16 (GEN-004).
import { isUtf8 } from 'node:buffer';
import { fail } from './fault.mjs';

// utf8 gives the bytes of a text. Buffer.from would write U+FFFD for half a surrogate pair.
export function utf8(text) {
  if (!text.isWellFormed()) fail('STRING_UTF8', 'a surrogate without its other half');
  return Buffer.from(text, 'utf8');
}

// utf8Length counts without building the bytes.
export function utf8Length(text) {
  return Buffer.byteLength(text, 'utf8');
}

export function isWellFormed(bytes) {
  return isUtf8(bytes);
}

// textOf gives the text of well-formed bytes. Buffer keeps a byte order mark, where TextDecoder
// would drop it (TXT-070).
export function textOf(bytes) {
  return bytes.toString('utf8');
}

export function hexOf(bytes) {
  return bytes.toString('hex');
}

// bytesOfUnits gives the UTF-8 bytes of UTF-16 code units.
export function bytesOfUnits(units) {
  return utf8(units.map((unit) => String.fromCharCode(unit)).join(''));
}
