"""Shards, lanes and Kafka partitions (HASH-010 to HASH-020)."""

from __future__ import annotations

from struct import unpack_from

from .errors import IdemError
from .hashing import hash64
from .strings import utf8

_LOW_32 = 0xFFFF_FFFF
_M = 0x5BD1_E995


def shard(key: str, n: int) -> int:
    """Which of n shards a key belongs to. PARTITION_COUNT, then KEY_EMPTY."""
    return shard_of_hash(hash64(_routed(key, n)), n)


def lane(key: str, n: int) -> int:
    """Which of n lanes a key belongs to, by other bits of the hash than its shard.

    PARTITION_COUNT, then KEY_EMPTY.
    """
    return lane_of_hash(hash64(_routed(key, n)), n)


def kafka_partition(biz_key: str, n: int) -> int:
    """The partition that Kafka's own producer chooses for a record's key.

    PARTITION_COUNT, then KEY_EMPTY: a message without a biz key has a null record key, and Kafka
    spreads those itself.
    """
    return (_murmur2(_routed(biz_key, n)) & 0x7FFF_FFFF) % n


def shard_of_hash(hashed: int, n: int) -> int:
    """The shard of an unsigned 64-bit hash, for an n in bounds (`check_count`)."""
    return hashed % n


def lane_of_hash(hashed: int, n: int) -> int:
    """The lane of an unsigned 64-bit hash, for an n in bounds (`check_count`)."""
    return (hashed >> 32) % n


def check_count(n: int) -> None:
    """Raises PARTITION_COUNT where n is not 1 to 2147483647."""
    if not 1 <= n < 1 << 31:
        raise IdemError("PARTITION_COUNT", "is not from 1 to 2147483647", "n", n)


def _routed(key: str, n: int) -> bytes:
    check_count(n)
    if not key:
        raise IdemError("KEY_EMPTY", "is a key of no bytes", "key")
    return utf8(key, "key")


def _murmur2(data: bytes) -> int:
    """The 32-bit MurmurHash2 of Kafka's clients, as an unsigned number."""
    h = 0x9747_B28C ^ len(data)
    words = len(data) // 4
    for k in unpack_from(f"<{words}I", data):
        k = k * _M & _LOW_32
        k = (k ^ k >> 24) * _M
        h = (h * _M ^ k) & _LOW_32
    if rest := data[4 * words :]:
        h = (h ^ int.from_bytes(rest, "little")) * _M & _LOW_32
    h = (h ^ h >> 13) * _M & _LOW_32
    return h ^ h >> 15
