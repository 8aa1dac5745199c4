"""The hash, shards, lanes and Kafka partitions (HASH-001 to HASH-020)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import xxhash
from faults import fault
from hypothesis import given
from hypothesis import strategies as st
from idemspec import hash64, hash_text, kafka_partition, lane, shard
from idemspec.routing import lane_of_hash, shard_of_hash

any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
counts = st.integers(1, (1 << 31) - 1)


@given(st.binary())
def test_hash_same_as_xxhash(data: bytes) -> None:
    """The hash is XXH64 with seed 0, printed most significant digit first."""
    assert hash64(data) == xxhash.xxh64(data, seed=0).intdigest()
    assert hash_text(data) == f"{hash64(data):016x}"


def test_hash_of_text() -> None:
    """Text is hashed as its UTF-8 bytes, with leading zeros printed."""
    assert hash_text("") == "ef46db3751d8e999"
    assert hash_text("order-8317") == "0009840d8e32d5ea"
    assert hash64("é") == hash64("é".encode())
    fault("STRING_UTF8", hash64, "\ud800")
    fault("STRING_UTF8", hash_text, "\ud800")


@given(any_text, counts)
def test_routing_same_as_arithmetic(key: str, n: int) -> None:
    """Shard and lane are remainders of the whole hash and of its upper half."""
    number = int(xxhash.xxh64_hexdigest(key.encode()), 16)
    assert shard(key, n) == number % n
    assert lane(key, n) == number // (1 << 32) % n


def test_routing_is_unsigned() -> None:
    """A hash with its top bit set is no negative number."""
    assert shard("order-128", 12) == 0
    assert shard_of_hash(0xFFFF_FFFF_FFFF_FFFF, 12) == 3
    assert lane_of_hash(0xFFFF_FFFF_0000_0000, 7) == 0xFFFF_FFFF % 7


@pytest.mark.parametrize("route", [shard, lane, kafka_partition])
def test_routing_bounds(route: Callable[[str, int], int]) -> None:
    """The count is looked at before the key, and nothing else is."""
    for n in (0, -1, 1 << 31, 1 << 64):
        assert fault("PARTITION_COUNT", route, "", n).value == str(n)
    fault("KEY_EMPTY", route, "", 1)
    assert fault("STRING_UTF8", route, "\ud800", 1).field == "key"
    assert route("k" * 5000, 1) == 0
    assert 0 <= route("k y", (1 << 31) - 1) < 1 << 31


def murmur2(data: bytes) -> int:
    """MurmurHash2 as chapter 5 has it, a byte at a time."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(data)
    while len(data) >= 4:
        k = data[0] | data[1] << 8 | data[2] << 16 | data[3] << 24
        k = k * m & mask
        k = (k ^ (k >> 24)) * m & mask
        h = (h * m & mask) ^ k
        data = data[4:]
    if len(data) == 3:
        h ^= data[2] << 16
    if len(data) >= 2:
        h ^= data[1] << 8
    if data:
        h = (h ^ data[0]) * m & mask
    h = (h ^ (h >> 13)) * m & mask
    return h ^ (h >> 15)


@given(any_text, counts)
def test_partition_same_as_murmur2(key: str, n: int) -> None:
    """The partition is that of Kafka's default for keyed records."""
    assert kafka_partition(key, n) == (murmur2(key.encode()) & 0x7FFFFFFF) % n


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_partition_same_as_kafka(key: str, number: int) -> None:
    """The numbers are those of the tests of Kafka's own client."""
    positive = number & 0x7FFFFFFF
    assert kafka_partition(key, (1 << 31) - 1) == positive % ((1 << 31) - 1)
    assert kafka_partition(key, 12) == positive % 12
