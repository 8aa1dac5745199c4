"""The port as a process: lines in, lines out (CONF-001 to CONF-006)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

PORT = str(Path(__file__).parents[1] / "port")
HELLO = '{"type":"hello","protocol":"idem-conformance/1"}\n'
END = '{"type":"end"}\n'
DECIMAL = '{"type":"case","seq":7,"op":"decimal","input":{"text":"1.50"}}\n'


def run(text: str | bytes) -> tuple[int, list[Any], str]:
    """Exit code, answers and log of a port that is given all lines at once."""
    data = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run([PORT], input=data, capture_output=True, timeout=60)
    return (
        done.returncode,
        [json.loads(line) for line in done.stdout.splitlines()],
        done.stderr.decode(),
    )


def test_a_conversation() -> None:
    """The port says hello, answers each case once with its seq, and ends with 0."""
    unknown = '{"type":"case","seq":8,"op":"no_such_op","input":{}}\n'
    faulty = '{"type":"case","seq":0,"op":"uuid","input":{"text":"x"}}\n'
    code, answers, log = run(HELLO + DECIMAL + unknown + faulty + END + DECIMAL)
    hello, *results = answers
    assert code == 0
    assert hello["protocol"] == "idem-conformance/1"
    assert (hello["name"], hello["version"]) == ("idem-python", "1.0.0")
    assert results[0] == {"type": "result", "seq": 7, "output": {"text": "1.5"}}
    assert results[1] == {"type": "result", "seq": 8, "unsupported": True}
    assert (results[2]["seq"], results[2]["error"]) == (0, "UUID_SYNTAX")
    assert "output" not in results[2]
    assert len(results) == 3


@pytest.mark.parametrize("text", ["", HELLO, HELLO + DECIMAL, HELLO + DECIMAL.rstrip("\n")])
def test_end_of_input(text: str) -> None:
    """The end of input without `end` is exit 0, and a last line without a line feed counts."""
    code, answers, _ = run(text)
    assert (code, len(answers)) == (0, text.count('"type"')), text


@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "[]",
        '"case"',
        "{",
        "null",
        "{}",
        '{"type":"other"}',
        '{"type":["case"]}',
        '{"type":"case","op":"uuid","input":{"text":"x"}}',
        '{"type":"case","seq":"1","op":"uuid","input":{"text":"x"}}',
        '{"type":"case","seq":true,"op":"uuid","input":{"text":"x"}}',
        "\ufeff{}",
        "[" * 100_000,
    ],
)
def test_lines_that_are_none(line: str) -> None:
    """A line that is none of the protocol is exit 2 and a word on standard error."""
    code, _, log = run(f"{HELLO}{line}\n{END}")
    assert code == 2
    assert "conformance/python/port: a " in log


def test_bytes_that_are_no_text() -> None:
    """A line that is no UTF-8 is no JSON object."""
    assert run(HELLO.encode() + b'{"type":"\xff"}\n')[0] == 2


def test_answers_are_flushed() -> None:
    """An answer comes without further input."""
    with subprocess.Popen([PORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as port:
        assert port.stdin and port.stdout
        for line in (HELLO, DECIMAL, DECIMAL):
            port.stdin.write(line.encode())
            port.stdin.flush()
            assert json.loads(port.stdout.readline())
        port.stdin.close()
        assert port.wait() == 0


def test_lines_longer_than_a_chunk() -> None:
    """A line of a million bytes, and one that ends between two reads, are lines."""
    zeros = "0" * 1_000_000
    long = DECIMAL.replace("1.50", f"{zeros}1.50")
    code, answers, _ = run(HELLO + long * 2 + DECIMAL * 5000 + END)
    assert (code, len(answers)) == (0, 5003)
    assert all(answer["output"] == {"text": "1.5"} for answer in answers[1:])


def test_a_line_may_be_long() -> None:
    """Its pieces are joined once: joined one by one, this line would take minutes."""
    zeros = "0" * (64 << 20)
    long = f'{{"type":"case","seq":1,"op":"decimal","input":{{"text":"{zeros}1"}}}}\n'
    code, answers, _ = run(HELLO + long + DECIMAL)
    assert code == 0
    assert [reply["output"]["text"] for reply in answers[1:]] == ["1", "1.5"]
