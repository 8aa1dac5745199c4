"""UUIDs: TXT-060."""

from group import BESIDE_DIGITS, Group

PLAIN = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"


def fill(g: Group) -> None:
    def text(slug, written, want=None):
        g.add(
            slug, {"text": written}, "TXT-060", {"text": written.lower()} if want is None else want
        )

    text("lower-case", PLAIN)
    text("upper-case", PLAIN.upper())
    text("mixed-case", "F81d4fAe-7DEC-11d0-a765-00A0c91e6bF6")
    text("all-digits", "12345678-9012-3456-7890-123456789012")
    text("nil", "00000000-0000-0000-0000-000000000000")
    text("max", "ffffffff-ffff-ffff-ffff-ffffffffffff")
    text("max-upper-case", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")
    text("every-hex-digit", "01234567-89ab-cdef-FEDC-BA9876543210")
    text("every-hex-digit-otherwise", "89ABCDEF-0123-4567-89AB-CDEF01234567")
    for version in (1, 4, 7, 0, 15):
        text(f"version-{version}", f"018f3c5e-8a2b-{version:x}c3d-9e4f-5a6b7c8d9e0f")
    for variant, digit in (("ncs", "0"), ("microsoft", "c"), ("reserved", "e")):
        text(f"variant-{variant}", f"018f3c5e-8a2b-7c3d-{digit}e4f-5a6b7c8d9e0f")

    for slug, written in {
        "empty": "",
        "braces": "{" + PLAIN + "}",
        "parentheses": "(" + PLAIN + ")",
        "urn": "urn:uuid:" + PLAIN,
        "urn-upper-case": "URN:UUID:" + PLAIN,
        "quotes": '"' + PLAIN + '"',
        "bare-digits": PLAIN.replace("-", ""),
        "bare-digits-of-36": "0123456789abcdef0123456789abcdef0123",
        "colons": PLAIN.replace("-", ":"),
        "underscores": PLAIN.replace("-", "_"),
        "dots": PLAIN.replace("-", "."),
        "en-dashes": PLAIN.replace("-", "\u2013"),
        "unicode-hyphens": PLAIN.replace("-", "\u2010"),
        "full-width-hyphens": PLAIN.replace("-", "\uff0d"),
        "leading-blank": " " + PLAIN,
        "trailing-blank": PLAIN + " ",
        "leading-tab": "\t" + PLAIN,
        "trailing-line-feed": PLAIN + "\n",
        "trailing-carriage-return": PLAIN + "\r",
        "trailing-nul": PLAIN + "\x00",
        "blank-inside": "f81d4fae-7dec-11d0-a765 00a0c91e6bf6",
        "hex-prefix": "0x" + PLAIN,
        "one-digit-less": PLAIN[:-1],
        "one-digit-more": PLAIN + "0",
        "first-field-short": "81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "first-field-long": "0f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "digit-moved-to-the-second-field": "f81d4fa-e7dec-11d0-a765-00a0c91e6bf6",
        "fields-of-java-without-zeros": "1-2-3-4-5",
        "hyphen-at-the-start": "-f81d4fae7dec-11d0-a765-00a0c91e6bf6",
        "hyphen-at-the-end": "f81d4fae-7dec-11d0-a76500a0c91e6bf6-",
        "hyphens-all-shifted": "f81d4fa-e7de-c11d-0a76-500a0c91e6bf6",
        "hyphen-doubled": "f81d4fae--7dec-11d0-a765-0a0c91e6bf6",
        "hyphen-missing-first": "f81d4fae07dec-11d0-a765-00a0c91e6bf6",
        "hyphen-missing-second": "f81d4fae-7dec011d0-a765-00a0c91e6bf6",
        "hyphen-missing-third": "f81d4fae-7dec-11d00a765-00a0c91e6bf6",
        "hyphen-missing-fourth": "f81d4fae-7dec-11d0-a765000a0c91e6bf6",
        "letter-g": PLAIN[:-1] + "g",
        "letter-g-upper-case": "G81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "at-sign-below-a": "@81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "backtick-below-a": "`81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "slash-below-0": "/81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "colon-above-9": ":81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "minus-as-a-digit": "-81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "plus-as-a-digit": "+81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "full-width-digit": "\uff1081d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "arabic-digit": "\u066181d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "full-width-letter": "\uff2681d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "two-byte-letter-for-two-digits": "\u00e9" + PLAIN[2:],
        "nil-word": "nil",
        "two-uuids": PLAIN + PLAIN,
        "byte-order-mark": "\ufeff" + PLAIN,
        "base64": "+B1Prn3sEdCnZQCgyR5r9g==",
    }.items():
        text(slug, written, "UUID_SYNTAX")
    beside = {**BESIDE_DIGITS, "at-sign-below-a": "@", "letter-g-upper-case": "G",
              "backtick-below-a": "`", "letter-g": "g"}  # fmt: skip
    for slug, mark in beside.items():
        text(f"{slug}-in-the-second-field", PLAIN[:9] + mark + PLAIN[10:], "UUID_SYNTAX")
        if slug != "letter-g":
            text(f"{slug}-in-the-last-field", PLAIN[:-1] + mark, "UUID_SYNTAX")
    text("letter-g-in-the-first-field", "g" + PLAIN[1:], "UUID_SYNTAX")
    for position, name in ((8, "first"), (13, "second"), (18, "third"), (23, "fourth")):
        text(f"hyphen-left-out-{name}", PLAIN[:position] + PLAIN[position + 1 :], "UUID_SYNTAX")

    g.faults(
        "CONF-021",
        {
            "input-without-text": {},
            "input-hex": {"hex": "00"},
            "input-text-null": {"text": None},
            "input-text-a-number": {"text": 1},
            "input-unknown-member": {"text": PLAIN, "version": "4"},
        },
    )
