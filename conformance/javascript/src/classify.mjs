// Classification (chapter 8). Numbers are BigInt, so that a huge one is not rounded into a table.
import { refuse } from './fault.mjs';
import { within } from './integer.mjs';

const words = (text) => new Set(text.split(/\s+/));

// tableOf turns {class: keys} into a map from key to class.
function tableOf(classes) {
  const table = new Map();
  for (const [name, keys] of Object.entries(classes)) {
    for (const key of words(keys)) table.set(key, name);
  }
  return table;
}

// look is CLASS-001: what no table classifies is RETRYABLE.
const look = (table, key) => table.get(key) ?? 'RETRYABLE';

const HTTP = tableOf({
  RETRYABLE: '408 409 421 423 425',
  THROTTLED: '429 503',
  NON_RETRYABLE: '501 505 506 508 510',
});
const HTTP_HUNDREDS = tableOf({ OK: '2', RETRYABLE: '1 5', NON_RETRYABLE: '3 4' });

const GRPC = tableOf({
  OK: '0',
  THROTTLED: '8',
  NON_RETRYABLE: '3 5 6 7 9 11 12 15 16',
});

const SQLSTATE = tableOf({
  OK: '00000',
  RETRYABLE: '25006 25P02 25P03 40001 40P01 40003 55006 55P03 57014 57P01 57P02 57P03 57P05',
  NON_RETRYABLE: '40002',
});
const SQLSTATE_CLASS = tableOf({
  RETRYABLE: '08 40 53 55 57 58 XX',
  NON_RETRYABLE: '0A 21 22 23 25 26 28 2B 3D 3F 42 44',
});

const KAFKA = tableOf({
  OK: '0',
  THROTTLED: '89',
  NON_RETRYABLE: `1 4 10 12 17 18 21 23 24 26 28 29 30 31 32 33 34 35 36 37 38 39 40 42 43 44 50 53 54 57 58 61 62 63
    64 65 66 67 69 73 76 81 85 86 87 91 92 93 94 95 96 97 98 99 101 102 104 105 107 112 114 115 116 117
    118 119 121 125 126 127 128 130 131`,
});

const NET = tableOf({
  RETRYABLE: 'timeout refused reset closed eof unreachable dns_timeout canceled',
  NON_RETRYABLE: 'tls_certificate tls_hostname dns_not_found url_invalid',
});

export function classifyHttp(status) {
  if (!within(status, [100n, 599n])) refuse('http'); // CLASS-010
  return HTTP.get(String(status)) ?? HTTP_HUNDREDS.get(String(status / 100n));
}

export function classifyGrpc(code) {
  if (!within(code, [0n, 2n ** 31n - 1n])) refuse('grpc'); // CLASS-041
  return look(GRPC, String(code));
}

export function classifyKafka(code) {
  if (!within(code, [-32768n, 32767n])) refuse('kafka'); // CLASS-041
  return look(KAFKA, String(code));
}

export function classifySqlstate(code) {
  if (!/^[0-9A-Z]{5}$/.test(code)) refuse('sqlstate'); // CLASS-030
  return SQLSTATE.get(code) ?? look(SQLSTATE_CLASS, code.slice(0, 2));
}

export function classifyNet(word) {
  if (!/^[a-z_]{1,64}$/.test(word)) refuse('net'); // CLASS-041
  return look(NET, word);
}
