"""Classification: CLASS-001 to CLASS-050."""

from group import Group, slugged

CLASSES = {"O": "OK", "R": "RETRYABLE", "T": "THROTTLED", "N": "NON_RETRYABLE"}

HTTP = """
O 200 201 202 204 206 226 299
R 408 409 421 423 425 500 502 504 507 511 509 520 522 524 529 599 100 101 103 199
T 429 503
N 501 505 506 508 510 300 301 302 304 307 308 399 400 401 402 403 404 405 406 407 410 411 412 413 414
N 415 416 417 418 422 424 426 428 431 451 499
"""
GRPC = """
O 0
R 1 2 4 10 13 14 17 18 100 2147483647
T 8
N 3 5 6 7 9 11 12 15 16
"""
SQLSTATE = """
O 00000
R 25006 25P02 25P03 40001 40P01 40003 55006 55P03 57014 57P01 57P02 57P03 57P05
R 08000 08001 08003 08006 40000 53000 53100 53200 53300 55000 57000 58000 58030 XX000 XX001 XX002
R 00001 00ZZZ 01000 02000 03000 09000 0B000 0L000 0Z000 20000 24000 27000 2D000 2F000 34000 38000 39000 3B000 54000
R 54001 72000 F0000 HV000 P0001 HY000 HYT00 S0001 99999 ZZZZZ 2200
N 40002 0A000 21000 22000 22001 22003 22012 22P02 23000 23502 23503 23505 23514 23P01 25000 25001 25P01 26000
N 28000 28P01 2B000 2BP01 3D000 3F000 42000 42501 42601 42P01 42703 44000 0AZZZ
"""


def fill(g: Group) -> None:
    def table(kind, spec, rows):
        for row in rows.split("\n"):
            letter, _, codes = row.partition(" ")
            for code in codes.split():
                g.add(f"{kind}-{code.lower()}", {kind: code}, spec, {"class": CLASSES[letter]})

    table("http", "CLASS-010", HTTP)
    for status in (99, 0, -1, 600, 999, 1200, 2**32 + 200, 10**29):
        g.add(f"http-{slugged(status)}", {"http": str(status)}, "CLASS-010", "INPUT_INVALID")

    table("grpc", "CLASS-020", GRPC)
    for code in (-1, 2**31, 2**32, 10**29, -(2**31)):
        g.add(f"grpc-{slugged(code)}", {"grpc": str(code)}, "CLASS-041", "INPUT_INVALID")

    table("sqlstate", "CLASS-030", SQLSTATE.replace(" 2200\n", "\n"))
    g.add(
        "sqlstate-code-before-class", {"sqlstate": "25P04"}, "CLASS-030", {"class": "NON_RETRYABLE"}
    )
    for slug, code in {
        "empty": "",
        "four-characters": "2350",
        "six-characters": "235050",
        "lower-case": "40p01",
        "blank-before": " 40001",
        "blank-after": "40001 ",
        "blank-inside": "40 01",
        "line-feed-after": "40001\n",
        "hyphen": "40-01",
        "arabic-digit": "4000\u0661",
        "full-width-letter": "\uff38X000",
        "two-byte-letter": "4000\u00e9",
        "bracket-above-z": "4000[",
        "at-sign-below-a": "4000@",
        "colon-above-9": "4000:",
        "slash-below-0": "4000/",
        "number-of-a-vendor": "ORA-00001",
    }.items():
        g.add(f"sqlstate-{slug}", {"sqlstate": code}, "CLASS-030", "INPUT_INVALID")

    # Every code that Kafka has given out, the next ones, and the ends of int16.
    for code in range(-1, 136):
        g.add(f"kafka-{slugged(code)}", {"kafka": str(code)}, "CLASS-040")
    for code in (-2, 200, 1000, 32_767, -32_768):
        g.add(
            f"kafka-{slugged(code)}",
            {"kafka": str(code)},
            "CLASS-001 CLASS-040",
            {"class": "RETRYABLE"},
        )
    for code in (32_768, -32_769, 65_536, 65_535, 65_537, 2**32 + 1, 10**29):
        g.add(f"kafka-{slugged(code)}", {"kafka": str(code)}, "CLASS-041", "INPUT_INVALID")

    for word in "timeout refused reset closed eof unreachable dns_timeout canceled".split():
        g.add(f"net-{word.replace('_', '-')}", {"net": word}, "CLASS-050", {"class": "RETRYABLE"})
    for word in "tls_certificate tls_hostname dns_not_found url_invalid".split():
        g.add(
            f"net-{word.replace('_', '-')}", {"net": word}, "CLASS-050", {"class": "NON_RETRYABLE"}
        )
    for slug, word in {
        "unknown": "broken",
        "one-letter": "x",
        "underscore": "_",
        "prefix-of-a-final-one": "tls",
        "longer-than-a-final-one": "tls_hostname_mismatch",
        "64-letters": "a" * 64,
        "first-and-last-letter": "a_z",
    }.items():
        g.add(f"net-{slug}", {"net": word}, "CLASS-001 CLASS-050", {"class": "RETRYABLE"})
    for slug, word in {
        "empty": "",
        "upper-case": "TIMEOUT",
        "capital": "Timeout",
        "blank": "dns timeout",
        "hyphen": "dns-timeout",
        "digit": "tls1",
        "dot": "dns.timeout",
        "line-feed-after": "timeout\n",
        "65-letters": "a" * 65,
        "dotless-i": "t\u0131meout",
        "two-byte-letter": "\u00e9",
        "backtick-below-a": "`",
        "brace-above-z": "{",
        "caret-below-underscore": "^",
    }.items():
        g.add(f"net-{slug}", {"net": word}, "CLASS-041 CLASS-050", "INPUT_INVALID")

    g.faults(
        "CONF-021",
        {
            "input-empty": {},
            "input-two-members": {"http": "200", "grpc": "0"},
            "input-unknown-member": {"amqp": "404"},
            "input-http-number": {"http": 200},
            "input-http-padded": {"http": "0200"},
            "input-http-name": {"http": "OK"},
            "input-grpc-name": {"grpc": "UNAVAILABLE"},
            "input-grpc-minus-zero": {"grpc": "-0"},
            "input-sqlstate-number": {"sqlstate": 40001},
            "input-sqlstate-null": {"sqlstate": None},
            "input-kafka-plus": {"kafka": "+1"},
            "input-kafka-null": {"kafka": None},
            "input-net-null": {"net": None},
            "input-net-boolean": {"net": True},
        },
    )
