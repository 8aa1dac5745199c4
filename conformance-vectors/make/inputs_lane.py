"""Lanes: HASH-011 and HASH-012."""

from group import Group
from routing import COUNTS, HASHES, KEYS, count_faults, key_or_hash_shapes


def fill(g: Group) -> None:
    for slug, number in HASHES.items():
        for n in COUNTS:
            expected = {"lane": str((number >> 32) % n)}
            g.add(
                f"hash-{slug}-of-{n}", {"hash": f"{number:016x}", "n": str(n)}, "HASH-011", expected
            )
    for slug, key in KEYS.items():
        g.add(f"key-{slug}", {"key": key, "n": "12"}, "HASH-011 HASH-001")
        g.add(f"key-{slug}-of-the-largest-count", {"key": key, "n": str(2**31 - 1)}, "HASH-011")
    count_faults(g, {"key": "order-17"}, {"key": ""})
    key_or_hash_shapes(g)
    g.add("key-empty", {"key": "", "n": "12"}, "HASH-012", "KEY_EMPTY")
    g.add("count-minus-one", {"hash": "ef46db3751d8e999", "n": "-1"}, "HASH-012", "PARTITION_COUNT")
