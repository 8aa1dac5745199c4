// Reading headers (chapter 6, HDR-010 to HDR-015).
import { isWellFormed, textOf } from './bytes.mjs';
import { fail } from './fault.mjs';
import { HEADERS } from './header-table.mjs';
import { readValue } from './transport.mjs';

// sortPairs parts known headers from unknown pairs. A pair is {name, value, given}; a known null is
// absent (HDR-010), an unknown one passes through (HDR-015).
export function sortPairs(transport, pairs) {
  const known = new Map();
  const unknown = [];
  for (const pair of pairs) {
    const name = transport.find(pair.name);
    if (name === undefined) {
      unknown.push(pair.given);
    } else if (pair.value !== null) {
      if (!known.has(name)) known.set(name, []);
      known.get(name).push(readValue(transport, name, pair.value));
    }
  }
  return { known, unknown };
}

// distinct gives the values that count, each once (HDR-012, HDR-032). What is equal but for a
// transport's fault is not equal.
export function distinct(header, values) {
  if (header.trace) return values.slice(-1);
  const first = new Map();
  for (const value of values) {
    const identity = `${Boolean(value.fault)} ${value.bytes.toString('latin1')}`;
    if (!first.has(identity)) first.set(identity, value);
  }
  return [...first.values()];
}

// faultOf checks one header: conflict, UTF-8, syntax, range (HDR-011).
export function faultOf(header, values) {
  const counted = header.trace ? values.slice(-1) : values;
  const [value, other] = distinct(header, counted);
  if (other !== undefined) return 'HEADER_CONFLICT';
  if (!isWellFormed(value.bytes)) return 'HEADER_UTF8';
  if (value.fault) return header.key ? 'KEY_SYNTAX' : 'HEADER_SYNTAX';
  if (!header.number && counted.some(({ isInteger }) => isInteger)) return 'HEADER_SYNTAX'; // HDR-041
  return header.check(textOf(value.bytes), value.bytes.length);
}

export function textOfHeader(header, values) {
  return textOf(distinct(header, values)[0].bytes);
}

// readHeaders gives the envelope, the unknown pairs and the warnings (HDR-014), or the first fault.
export function readHeaders(transport, pairs) {
  const { known, unknown } = sortPairs(transport, pairs);
  const envelope = {};
  const warnings = [];
  for (const header of HEADERS) {
    const values = known.get(header.name);
    if (values === undefined) continue;
    const code = faultOf(header, values);
    if (code === undefined) envelope[header.name] = textOfHeader(header, values);
    else if (header.context) warnings.push(header.name);
    else fail(code, header.name);
  }
  return { envelope, unknown, warnings };
}
