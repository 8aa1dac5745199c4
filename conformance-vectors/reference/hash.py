"""Chapter 5: one hash for routing, Kafka's own for partitions, and fingerprints."""

from .errors import Fault

_64 = 2**64 - 1
_32 = 2**32 - 1
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5


def _rotate(x: int, by: int) -> int:
    x &= _64
    return (x << by | x >> (64 - by)) & _64


def _round(lane: int, word: int) -> int:
    return _rotate(lane + word * _P2, 31) * _P1 & _64


def xxh64(data: bytes) -> int:
    """HASH-001: XXH64 with seed 0."""

    def word(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "little")

    at, end = 0, len(data)
    h = _P5
    if end >= 32:
        lanes = [_P1 + _P2, _P2, 0, -_P1]
        while at + 32 <= end:
            lanes = [_round(lane, word(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
            at += 32
        h = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            h = (h ^ _round(0, lane)) * _P1 + _P4
    h += end
    while at + 8 <= end:
        h = _rotate(h & _64 ^ _round(0, word(at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= end:
        h = _rotate(h & _64 ^ word(at, 4) * _P1, 23) * _P2 + _P3
        at += 4
    for byte in data[at:]:
        h = _rotate(h & _64 ^ byte * _P5, 11) * _P1
    h &= _64
    h = (h ^ h >> 33) * _P2 & _64
    h = (h ^ h >> 29) * _P3 & _64
    return h ^ h >> 32


def hex16(h: int) -> str:
    """HASH-002."""
    return f"{h:016x}"


def check_count(n: int) -> None:
    """HASH-012, first half: before the key is looked at."""
    if not 1 <= n <= 2**31 - 1:
        raise Fault("PARTITION_COUNT", "n is 1 to 2^31-1")


def check_key(key: bytes) -> None:
    """HASH-012, second half; RETRY-014."""
    if not key:
        raise Fault("KEY_EMPTY", "a key of no bytes")


def shard(h: int, n: int) -> int:
    """HASH-010."""
    return h % n


def lane(h: int, n: int) -> int:
    """HASH-011."""
    return (h >> 32) % n


def murmur2(data: bytes) -> int:
    """HASH-020, as the listing there says."""
    m, r = 0x5BD1E995, 24
    h = 0x9747B28C ^ len(data)
    whole = len(data) - len(data) % 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little")
        k = k * m & _32
        k ^= k >> r
        k = k * m & _32
        h = h * m & _32
        h ^= k
    rest = data[whole:]
    if rest:
        # Little-endian again: byte 2 << 16, byte 1 << 8, byte 0.
        h ^= int.from_bytes(rest, "little")
        h = h * m & _32
    h ^= h >> 13
    h = h * m & _32
    return h ^ h >> 15


def kafka_partition(key: bytes, n: int) -> int:
    """HASH-020."""
    return (murmur2(key) & 0x7FFFFFFF) % n


def fingerprint(template: bytes, rendered: bytes) -> str:
    """HASH-030."""
    return f"{xxh64(template) & _32:08x}-{xxh64(rendered):016x}"


def comparable_and_different(one: str | None, other: str | None) -> bool:
    """HASH-031."""
    if one is None or other is None:
        return False
    return one[:8] == other[:8] and one != other
