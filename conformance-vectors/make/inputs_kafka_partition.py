"""Kafka's partitions: HASH-020 and HASH-012."""

from group import Group
from routing import KEYS, count_faults


def fill(g: Group) -> None:
    def add(slug, key, n, want=None, note=""):
        expected = {"partition": str(want)} if want is not None else None
        g.add(slug, {"key": key, "n": str(n)}, "HASH-020", expected, note)

    for slug, key in KEYS.items():
        for n in (12, 2**31 - 1):
            add(f"key-{slug}-of-{n}", key, n)
    # The keys of Kafka's own test of murmur2; modulo 2^31-1 the hash can nearly be read off.
    for key in (
        "21",
        "foobar",
        "a-little-bit-long-string",
        "a-little-bit-longer-string",
        "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
    ):  # noqa: E501
        add(f"text-{key[:26].strip('-')}", key, 2**31 - 1)
    # Every length of the tail, with and without whole words.
    for length in range(1, 18):
        add(f"length-{length}", "abcdefghijklmnopq"[:length], 1000)
    # Bytes above 7F in each place of the tail, where a signed byte shows.
    for prefix in ("", "a", "ab", "abc", "abcd", "abcde", "abcdef"):
        add(f"high-bytes-after-{len(prefix)}", prefix + "\u00ff", 1000)
        add(f"high-bytes-before-{len(prefix)}", "\u00ff" + prefix, 997) if prefix else None
    for n in (1, 2, 3, 10, 100, 1023, 65_536):
        add(f"count-{n}", "order-17", n)
    # Hashes with the top bit set: masked, not made absolute, not shifted.
    for number in range(1, 25):
        add(f"order-{number}", f"order-{number}", 7)
    add("count-of-one-takes-all", "anything", 1, 0)
    add("differs-from-the-shard", "order-128", 12, note="the shard of this key is 0")

    count_faults(g, {"key": "order-17"}, {"key": ""})
    g.add("count-minus-one", {"key": "order-17", "n": "-1"}, "HASH-012", "PARTITION_COUNT")
    g.add("key-empty", {"key": "", "n": "12"}, "HASH-012", "KEY_EMPTY")
    g.faults(
        "CONF-021",
        {
            "input-hash": {"hash": "0" * 16, "n": "12"},
            "input-without-key": {"n": "12"},
            "input-without-count": {"key": "a"},
            "input-unknown-member": {"key": "a", "n": "12", "topic": "t"},
            "input-key-null": {"key": None, "n": "12"},
            "input-count-number": {"key": "a", "n": 12},
            "input-count-leading-zero": {"key": "a", "n": "012"},
            "input-before-count": {"key": "", "n": "-0"},
        },
    )
