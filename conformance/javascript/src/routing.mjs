// Shard, lane and Kafka partition (chapter 5, HASH-010 to HASH-020). n is a BigInt.
import { utf8 } from './bytes.mjs';
import { fail } from './fault.mjs';
import { within } from './integer.mjs';
import { xxh64 } from './xxh64.mjs';

const COUNT = [1n, 2n ** 31n - 1n];

function checkCount(n) {
  if (!within(n, COUNT)) fail('PARTITION_COUNT');
}

// hashOfKey checks in the order of HASH-012: the count, then the key.
export function hashOfKey(key, n) {
  checkCount(n);
  if (key === '') fail('KEY_EMPTY');
  return xxh64(utf8(key));
}

export function shard(hash, n) {
  checkCount(n);
  return hash % n;
}

export function lane(hash, n) {
  checkCount(n);
  return (hash >> 32n) % n; // a BigInt hash is never negative
}

export function kafkaPartition(key, n) {
  checkCount(n);
  if (key === '') fail('KEY_EMPTY');
  return BigInt(murmur2(utf8(key)) & 0x7fffffff) % n;
}

// murmur2 is that of Kafka's clients (HASH-020). Math.imul multiplies modulo 2^32, where * would
// round; the sign of the 32-bit result does not matter, since every shift here is >>>.
export function murmur2(bytes) {
  const m = 0x5bd1e995;
  let hash = 0x9747b28c ^ bytes.length;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    let k = Math.imul(bytes.readInt32LE(at), m);
    k = Math.imul(k ^ (k >>> 24), m);
    hash = Math.imul(hash, m) ^ k;
  }
  if (at < bytes.length) {
    for (let left = bytes.length - at - 1; left >= 0; left--) hash ^= bytes[at + left] << (8 * left);
    hash = Math.imul(hash, m);
  }
  hash = Math.imul(hash ^ (hash >>> 13), m);
  return hash ^ (hash >>> 15);
}
