"""What the groups shard, lane and kafka_partition have in common."""

from group import Group

HASHES = {
    "zero": 0,
    "one": 1,
    "bit-31": 2**31,
    "low-half": 2**32 - 1,
    "bit-32": 2**32,
    "bit-53-and-one": 2**53 + 1,
    "upper-half": 0xFFFFFFFF00000000,
    "largest-int64": 2**63 - 1,
    "smallest-int64": 2**63,
    "next-to-smallest-int64": 2**63 + 1,
    "ones": 2**64 - 1,
    "halves-differ": 0x0123456789ABCDEF,
}
COUNTS = (1, 2, 7, 1024, 2**31 - 1)

KEYS = {
    "plain": "order-17",
    "of-one-byte": "a",
    "of-two-bytes": "ab",
    "of-three-bytes": "abc",
    "of-four-bytes": "abcd",
    "of-two-byte-letters": "caf\u00e9",
    "emoji": "\U0001f600",
    "han": "\u8a02\u55ae-17",
    "nul": "\x00",
    "blank": " ",
    "of-a-whole-stripe": "0123456789abcdef0123456789abcdef",
    "payment": "payments.payment_success:v1:p%2F17",
    "long": "k" * 2000,
}


def count_faults(g: Group, good: dict, empty: dict) -> None:
    """HASH-012, and what comes first of its two halves."""
    for slug, n in (
        ("zero", 0),
        ("above-int32", 2**31),
        ("wraps-int32", 2**32 + 12),
        ("wraps-int64", 2**64 + 12),
        ("smallest-int32", -(2**31)),
        ("thirty-digits", 10**29),
        ("thirty-digits-negative", -(10**29)),
    ):
        g.add(f"count-{slug}", {**good, "n": str(n)}, "HASH-012", "PARTITION_COUNT")
    g.add("count-before-key", {**empty, "n": "0"}, "HASH-012", "PARTITION_COUNT")


def key_or_hash_shapes(g: Group) -> None:
    zeros = "0" * 16
    g.faults(
        "CONF-021",
        {
            "input-key-and-hash": {"key": "a", "hash": zeros, "n": "12"},
            "input-neither": {"n": "12"},
            "input-without-count": {"key": "a"},
            "input-unknown-member": {"key": "a", "n": "12", "seed": "0"},
            "input-key-null": {"key": None, "n": "12"},
            "input-key-number": {"key": 17, "n": "12"},
            "input-count-number": {"key": "a", "n": 12},
            "input-count-leading-zero": {"key": "a", "n": "012"},
            "input-count-plus": {"key": "a", "n": "+12"},
            "input-count-empty": {"key": "a", "n": ""},
            "input-hash-short": {"hash": zeros[1:], "n": "12"},
            "input-hash-long": {"hash": "0" + zeros, "n": "12"},
            "input-hash-upper-case": {"hash": "F" * 16, "n": "12"},
            "input-hash-no-hex": {"hash": "g" * 16, "n": "12"},
            "input-hash-prefix": {"hash": "0x" + zeros[2:], "n": "12"},
            "input-before-count": {"key": "", "n": "00"},
        },
    )
