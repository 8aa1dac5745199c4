// The next delivery (chapter 6, HDR-023, HDR-030 to HDR-034).
import { isWellFormed, hexOf, textOf, utf8, utf8Length } from './bytes.mjs';
import { HEADERS, HEADER_BY_NAME } from './header-table.mjs';
import { distinct, faultOf, sortPairs, textOfHeader } from './headers.mjs';
import { timestampText, instantFromEpoch } from './timestamp.mjs';

const MAX_REASON = 1024;
const MAX_REDRIVE = 2n ** 31n - 1n;
const REMOVED = null;

// nextHeaders gives the list of pairs of the next delivery. Counts and times are BigInt.
export function nextHeaders(transport, pairs, decision, scope, topic, now) {
  const { known, unknown } = sortPairs(transport, pairs);
  const changes = changesOf(transport, known, decision, scope, topic, now);
  const written = [];
  for (const header of HEADERS) {
    for (const value of valuesOf(header, known, changes)) written.push([transport.nameOf(header.name), value]);
  }
  return [...written, ...unknown]; // HDR-030
}

// valuesOf gives what is written of one header: a change, or what was there (HDR-032).
function valuesOf(header, known, changes) {
  const change = changes.get(header.name);
  if (change === REMOVED) return [];
  if (change !== undefined) return [{ utf8: change }];
  return distinct(header, known.get(header.name) ?? []).map(({ raw }) => valueOf(raw));
}

function valueOf(bytes) {
  return isWellFormed(bytes) ? { utf8: textOf(bytes) } : { hex: hexOf(bytes) };
}

// changesOf is the table of HDR-031: a text sets, REMOVED removes.
function changesOf(transport, known, decision, scope, topic, now) {
  const changes = new Map([['target_scope', scope]]);
  const set = (name, value) => value !== undefined && changes.set(name, String(value));
  if (!known.has('topic')) set('topic', topic);
  set('retry_count', decision.retryCount);
  set('hold_count', decision.holdCount);
  if (decision.reason !== undefined) set('reject_reason', reasonText(transport, decision.reason));
  if (decision.action === 'REDRIVE') redrive(changes, known, decision);
  setDelay(changes, decision, now);
  return changes;
}

function redrive(changes, known, decision) {
  changes.set('retry_count', '0');
  changes.set('hold_count', '0');
  changes.set('redrive_count', String(redriveCount(known, decision.redriveCount)));
  changes.set('reject_reason', REMOVED);
  if (decision.dropFingerprint) changes.set('fingerprint', REMOVED);
}

// redriveCount is HDR-033.
function redriveCount(known, recorded) {
  const header = HEADER_BY_NAME.get('redrive_count');
  const values = known.get(header.name);
  const faulty = values === undefined || faultOf(header, values) !== undefined;
  const given = faulty ? 0n : BigInt(textOfHeader(header, values));
  const next = (given > recorded ? given : recorded) + 1n;
  return next < MAX_REDRIVE ? next : MAX_REDRIVE;
}

function setDelay(changes, decision, now) {
  if (decision.delay === undefined) {
    changes.set('retry_interval', REMOVED);
    changes.set('next_retry_time', REMOVED);
    return;
  }
  changes.set('retry_interval', String(decision.delay));
  changes.set('next_retry_time', dueText(now + decision.delay));
}

// dueText is HDR-034: the sum may be beyond int64, and is out of range long before that.
function dueText(milliseconds) {
  return timestampText(instantFromEpoch(milliseconds, 'ms'), 3);
}

// reasonText is HDR-023, then HDR-044. The u flag makes one `?` of a character, not of each half
// of its surrogate pair.
function reasonText(transport, reason) {
  const text = cut(reason.replace(/[\x00-\x1f\x7f]/g, ' '));
  return transport.http ? text.replace(/[^\x20-\x7e]/gu, '?') : text;
}

// cut keeps whole characters up to 1024 bytes.
function cut(text) {
  if (utf8Length(text) <= MAX_REASON) return text;
  const bytes = utf8(text);
  let end = MAX_REASON;
  while ((bytes[end] & 0xc0) === 0x80) end--;
  return textOf(bytes.subarray(0, end));
}
