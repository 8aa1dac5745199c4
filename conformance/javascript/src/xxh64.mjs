// XXH64 with seed 0 (chapter 5, HASH-001).

const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;

const u64 = (value) => BigInt.asUintN(64, value);
const rotl = (value, bits) => u64((value << bits) | (value >> (64n - bits)));
const round = (acc, lane) => u64(rotl(u64(acc + lane * P2), 31n) * P1);

// xxh64 gives an unsigned 64-bit BigInt for a Buffer.
export function xxh64(bytes) {
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    at = bytes.length - (bytes.length % 32);
    hash = stripes(bytes, at);
  }
  hash = u64(hash + BigInt(bytes.length));
  return avalanche(tail(hash, bytes, at));
}

// stripes takes 32 bytes at a time in four lanes.
function stripes(bytes, end) {
  let v1 = u64(P1 + P2);
  let v2 = P2;
  let v3 = 0n;
  let v4 = u64(-P1);
  for (let at = 0; at < end; at += 32) {
    v1 = round(v1, bytes.readBigUInt64LE(at));
    v2 = round(v2, bytes.readBigUInt64LE(at + 8));
    v3 = round(v3, bytes.readBigUInt64LE(at + 16));
    v4 = round(v4, bytes.readBigUInt64LE(at + 24));
  }
  let hash = rotl(v1, 1n) + rotl(v2, 7n) + rotl(v3, 12n) + rotl(v4, 18n);
  for (const lane of [v1, v2, v3, v4]) {
    hash = u64((hash ^ round(0n, lane)) * P1 + P4);
  }
  return hash;
}

// tail takes what is left, by 8, 4 and 1 bytes.
function tail(hash, bytes, at) {
  for (; at + 8 <= bytes.length; at += 8) {
    hash = u64(rotl(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4);
  }
  if (at + 4 <= bytes.length) {
    hash = u64(rotl(hash ^ u64(BigInt(bytes.readUInt32LE(at)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at++) {
    hash = u64(rotl(hash ^ u64(BigInt(bytes[at]) * P5), 11n) * P1);
  }
  return hash;
}

function avalanche(hash) {
  hash = u64((hash ^ (hash >> 33n)) * P2);
  hash = u64((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}

// hashText prints a hash as HASH-002 says.
export function hashText(hash) {
  return hash.toString(16).padStart(16, '0');
}
