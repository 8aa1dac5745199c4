"""Shards: HASH-010 and HASH-012."""

from group import Group
from routing import COUNTS, HASHES, KEYS, count_faults, key_or_hash_shapes


def fill(g: Group) -> None:
    for slug, number in HASHES.items():
        for n in COUNTS:
            expected = {"shard": str(number % n)}
            g.add(
                f"hash-{slug}-of-{n}", {"hash": f"{number:016x}", "n": str(n)}, "HASH-010", expected
            )
    for slug, key in KEYS.items():
        g.add(f"key-{slug}", {"key": key, "n": "12"}, "HASH-010 HASH-001")
        g.add(f"key-{slug}-of-the-largest-count", {"key": key, "n": str(2**31 - 1)}, "HASH-010")
    count_faults(g, {"key": "order-17"}, {"key": ""})
    key_or_hash_shapes(g)
