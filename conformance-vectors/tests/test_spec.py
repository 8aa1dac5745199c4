"""The reference against the tables and examples of the chapters, read from their Markdown."""

import json
import re
from pathlib import Path

import pytest

from reference import (
    canonical_text,
    classification,
    conformance,
    dedup,
    errors,
    hash,
    headers,
    message,
    retry,
    state_machine,
)

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = ROOT / "spec"


def chapter(number: int) -> str:
    (path,) = SPEC.glob(f"{number:02}-*.md")
    return path.read_text(encoding="utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table whose heading begins with that cell."""
    lines = text.splitlines()
    (start,) = [i for i, line in enumerate(lines) if line.replace(" ", "").startswith(heading)]
    found = []
    for line in lines[start + 2 :]:
        if not line.strip().startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return found


def test_the_codes_are_those_of_chapter_13():
    """ERR-001."""
    table = {row[0].strip("`") for row in rows(chapter(13), "|code|where|")}
    assert table == errors.CODES


def test_the_headers_are_those_of_chapter_6():
    """HDR-002."""
    table = rows(chapter(6), "|#|header|kind|")
    assert [row[1].strip("`") for row in table] == [header.name for header in headers.TABLE]
    for row, header in zip(table, headers.TABLE, strict=True):
        assert ("context" in row[2]) == header.context, header.name
        if header.bounds:
            assert row[4] == f"{header.bounds[0]} to {header.bounds[1]}", header.name


def test_the_envelope_has_the_names_of_the_table():
    """HDR-046."""
    proto = (ROOT / "proto/idem/v1/envelope.proto").read_text(encoding="utf-8")
    body = proto[proto.index("message Envelope") :]
    fields = re.findall(r"^  (?:optional|repeated)? ?[\w.]+ (\w+) = \d+", body, re.MULTILINE)
    names = {header.name for header in headers.TABLE}
    assert names <= set(fields), names - set(fields)


def test_the_policy_is_that_of_chapter_7():
    """RETRY-001, RETRY-004."""
    for row in rows(chapter(7), "|value|default|bounds|"):
        name = row[0].strip("`")
        if name != "backoff_schedule":
            assert row[1] == str(retry.DEFAULTS[name])
            assert row[2] == "{} to {}".format(*retry.BOUNDS[name])


def test_every_outcome_of_chapter_7_is_known():
    """RETRY-020."""
    named = [
        word
        for row in rows(chapter(7), "|outcome|action|")
        for word in re.findall(r"[A-Z_]{2,}", row[0])
    ]
    assert sorted(named) == sorted(retry.OUTCOMES)


def test_http_classes():
    """CLASS-010."""
    exact, ranges = {}, []
    for row in rows(chapter(8), "|status|class|"):
        name = row[1].split()[0]
        for part in re.split(r", ", row[0]):
            span = re.search(r"(\d+) to (\d+)", part)
            if span:
                ranges.append((int(span[1]), int(span[2]), name))
            else:
                exact[int(part)] = name
    for status in range(100, 600):
        (inside,) = [name for low, high, name in ranges if low <= status <= high]
        assert classification.http(status) == exact.get(status, inside), status


def test_grpc_classes():
    """CLASS-020."""
    for row in _table_of("## gRPC status"):
        for number in re.findall(r"(\d+) [A-Z]", row[0]):
            assert classification.grpc(int(number)) == row[1], number


def test_sqlstate_classes():
    """CLASS-030."""
    for row in _table_of("## SQLSTATE"):
        plain = re.sub(r"\(.*?\)", "", row[0])
        for code in re.findall(r"\b[0-9A-Z]{5}\b", plain):
            assert classification.sqlstate(code) == row[1], code
        if plain.startswith("class"):
            for code in re.findall(r"\b[0-9A-Z]{2}\b", plain):
                assert classification.sqlstate(code + "ZZZ") == row[1], code


def _table_of(section: str) -> list[list[str]]:
    text = chapter(8)
    return rows(text[text.index(section) :].split("\n## ")[0], "|code|class|")


def test_canonical_texts_of_the_first_table():
    """Chapter 2 opens with these."""
    table = {row[0]: row[1].strip("`") for row in rows(chapter(2), "|value|text|")}
    assert table["decimal `100.00`"] == canonical_text.decimal(b"100.00")
    assert table["decimal `+.5e-1`"] == canonical_text.decimal(b"+.5e-1")
    money = canonical_text.money(b"USD", 10, 500_000_000)
    assert table["Money USD 10, 500000000"] == money
    moment = canonical_text.timestamp(-1, 500_000_000, 3)
    assert table["Timestamp -1 s, 500000000 ns, 3 digits"] == moment
    wait = canonical_text.duration(-1, -500_000_000, 3)
    assert table["Duration -1 s, -500000000 ns, 3 digits"] == wait
    assert table["Date 2025-1-1"] == canonical_text.date(2025, 1, 1)
    uuid = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"
    assert table[f"UUID `{uuid}`"] == canonical_text.uuid(uuid)


def test_hashes_of_chapter_5():
    """HASH-002, HASH-010."""
    text = chapter(5)
    assert f"`{hash.hex16(hash.xxh64(b''))}`" in text
    assert f"`{hash.hex16(hash.xxh64(b'order-8317'))}`" in text
    for row in rows(text, "|input|shardof12|"):
        value = re.search(r"`(.*)`", row[0])[1]
        number = int(value, 16) if row[0].startswith("hash") else hash.xxh64(value.encode())
        assert hash.shard(number, 12) == int(row[1])


def test_delay_of_chapter_7():
    """RETRY-013."""
    example = "Key `order-8317`, n = 1, base 1 s, cap 60 s, jitter 20 ms: 2000 + 17 = 2017 ms."
    assert example in chapter(7)
    delay = retry.backoff(retry.Policy(1, 60, 20), b"order-8317", 1)
    assert (delay.base_ms, delay.jitter_ms, delay.delay_ms) == (2000, 17, 2017)


def test_admission_of_chapter_9():
    """DEDUP-001."""
    record = dedup.Record("PROCESSING", 3, 2, "w1", 0, 0, lease_until=1000)
    admission = dedup.admit(record, dedup.Delivery(0, 0, "w2", 1200, 500, 9))
    assert "PROCEED, fence 4, attempts 3, lease until 1700, recovered" in chapter(9)
    assert (admission.verdict, admission.fence, admission.attempts) == ("PROCEED", 4, 3)
    assert (admission.lease_until, admission.recovered) == (1700, True)


def test_verdicts_of_chapter_10():
    """STATE-004."""
    text = chapter(10)
    edges = set()
    for chain in re.search(r"transitions  (.*)", text)[1].split(","):
        states = [state.strip() for state in chain.split("->")]
        edges |= set(zip(states, states[1:], strict=False))
    origin, to = re.search(r"message +(\w+) -> (\w+)", text).groups()
    block = text[text.index("current      verdict") :].split("```")[0].splitlines()[1:]
    assert len(block) == 6
    for line in block:
        current, verdict = line.split()[:2]
        assert state_machine.verdict(edges, current.strip('"'), origin, to) == verdict, line


def test_operations_of_chapter_12():
    """GEN-001: an op for each of the table, and none beside them."""
    named = [
        name
        for row in rows(chapter(12), "|op|input|output|")
        for name in re.findall(r"`(\w+)`", row[0])
    ]
    assert sorted(named) == sorted(conformance.OPERATIONS)


def test_headers_of_the_overview():
    """Chapter 1, of the payment that it shows; CONF-043: its type is in the descriptors."""
    shown = re.search(r"```\n(idempotency_key: .*?)```", chapter(1), re.DOTALL)[1]
    shown = dict(line.split("  ")[0].split(": ", 1) for line in shown.splitlines())
    descriptor = message.find("idem.conformance.v1.PaymentSucceeded")
    settings = message.options(descriptor, message.MESSAGE_OPTIONS)
    vectors = json.loads((ROOT / "conformance-vectors" / "message.json").read_bytes())
    (asked,) = [vector["input"] for vector in vectors if vector["id"] == "message-payment"]
    payload = bytes.fromhex(asked["payload"])
    sent = message.produce(settings, message.parse(descriptor, payload), {})
    fingerprint = shown.pop("fingerprint").split()[0]
    written = dict(sent.headers)
    assert re.fullmatch("TTTTTTTT-V{16}", fingerprint)
    low = hash.xxh64(b"{amount}:{currency}") % 2**32
    assert written.pop("fingerprint").startswith(f"{low:08x}-")
    assert written == shown


@pytest.mark.parametrize("length", [*range(0, 300), 1000, 4096])
def test_the_hash_is_libxxhash(length):
    """HASH-001, by the library that everybody uses."""
    import xxhash

    octets = bytes((i * 131 + 7) % 256 for i in range(length))
    assert hash.xxh64(octets) == xxhash.xxh64_intdigest(octets)
