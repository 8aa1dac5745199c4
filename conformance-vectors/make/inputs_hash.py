"""XXH64: HASH-001 and HASH-002."""

from group import Group


def pattern(length: int) -> bytes:
    """Bytes of which no two neighbours, words or stripes are equal."""
    return bytes((i * 131 + 7) % 256 for i in range(length))


def fill(g: Group) -> None:
    def octets(slug, raw, want=None, note="", spec="HASH-001"):
        g.add(slug, {"hex": raw.hex()}, spec, {"xxh64": want} if want else None, note)

    # Every length up to two stripes and a tail: each path through the tail, once.
    in_reports = {5, 8, 12, 16, 31, 32, 33, 63}
    for length in range(1, 101):
        if length not in in_reports:
            plural = "byte" if length == 1 else "bytes"
            octets(f"{length}-{plural}", pattern(length))
    for length in (129, 255, 257, 1000, 1023, 1024, 1025, 4096):
        octets(f"{length}-bytes", pattern(length))
    for slug, raw in {
        "four-bytes-high-bit": b"\x80\x00\x00\x80",
        "four-bytes-ff": b"\xff" * 4,
        "eight-bytes-ff": b"\xff" * 8,
        "thirty-two-bytes-ff": b"\xff" * 32,
        "thirty-two-zeros": bytes(32),
        "sixty-four-bytes-ff": b"\xff" * 64,
        "two-nuls": bytes(2),
        "eight-zeros": bytes(8),
        "byte-01": b"\x01",
        "byte-7f": b"\x7f",
        "byte-ff": b"\xff",
        "bytes-81-to-87": bytes(range(0x81, 0x88)),
        "every-byte": bytes(range(256)),
        "every-byte-backwards": bytes(range(255, -1, -1)),
        "ill-formed-utf8": b"\xc3\x28",
    }.items():
        octets(slug, raw)
    octets("letter-a", b"a", "d24ec4f1a98c6e5b")
    octets("letters-abc", b"abc", "44bc2cf5ad770999")
    octets("text-of-39-bytes", b"Nobody inspects the spammish repetition", "fbcea83c8a378bf1")
    octets("order-8317", b"order-8317\n", note="a line feed more than in the report")
    octets("utf8-text", "caf\u00e9".encode())
    octets("emoji", "\U0001f600".encode())
    octets("order-128", b"order-128", note="leading zeros", spec="HASH-002")
    octets("payment-key", b"payments.payment_success:v1:p%2F17")
    octets("jitter-text", b"order-8317#1", spec="HASH-001 RETRY-012")

    g.faults(
        "CONF-021",
        {
            "input-without-hex": {},
            "input-text": {"text": "a"},
            "input-unknown-member": {"hex": "61", "seed": "0"},
            "input-hex-odd": {"hex": "616"},
            "input-hex-upper-case": {"hex": "AB"},
            "input-hex-null": {"hex": None},
            "input-hex-number": {"hex": 61},
        },
    )
