"""The reference as a port: CONF-001 to CONF-006, CONF-020 to CONF-022."""

import json
import subprocess
from pathlib import Path

import pytest

PORT = Path(__file__).resolve().parent.parent / "reference" / "port"
HELLO = '{"type":"hello","protocol":"idem-conformance/1"}'


def talk(*lines: str) -> tuple[list[dict], int, str]:
    text = "".join(line + "\n" for line in lines)
    run = subprocess.run([PORT], input=text.encode(), capture_output=True, timeout=30)
    replies = [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]
    return replies, run.returncode, run.stderr.decode()


def case(seq: int, op: str, value: object) -> str:
    return json.dumps({"type": "case", "seq": seq, "op": op, "input": value})


def test_hello_comes_back_first():
    """CONF-001, CONF-006: no arguments, and the protocol's name."""
    replies, code, _ = talk(HELLO, '{"type":"end"}')
    assert code == 0
    assert [reply["type"] for reply in replies] == ["hello"]
    assert replies[0]["protocol"] == "idem-conformance/1"


def test_cases_are_answered_in_their_order_with_their_seq():
    """CONF-001, also where several come before the first answer."""
    replies, code, _ = talk(
        HELLO,
        case(7, "decimal", {"text": "1.50"}),
        case(3, "decimal", {"text": "x"}),
        case(2**53 - 1, "nothing", {}),
        '{"type":"end"}',
    )
    assert code == 0
    assert [reply["seq"] for reply in replies[1:]] == [7, 3, 2**53 - 1]
    assert replies[1]["output"] == {"text": "1.5"}
    assert replies[2]["error"] == "DECIMAL_SYNTAX"


def test_an_unknown_op_is_unsupported():
    """CONF-004."""
    replies, _, _ = talk(HELLO, case(1, "nothing", {"any": ["thing"]}))
    assert replies[1] == {"type": "result", "seq": 1, "unsupported": True}


def test_output_and_error_exclude_each_other():
    """CONF-022."""
    replies, _, _ = talk(
        HELLO, case(1, "hash", {"hex": ""}), case(2, "hash", {}), case(3, "shard", {})
    )
    for reply in replies[1:]:
        assert ("output" in reply) != ("error" in reply)


def test_the_end_of_input_is_an_end():
    """CONF-002."""
    _, code, _ = talk(HELLO, case(1, "hash", {"hex": ""}))
    assert code == 0


@pytest.mark.parametrize(
    "line", ["", "x", "[]", "1", '"text"', "null", '{"type":"case"', '{"type":"x"}']
)
def test_a_line_that_is_no_question_is_exit_2(line):
    """CONF-002, CONF-003: a word on standard error, and nothing on standard output."""
    replies, code, log = talk(HELLO, line, case(1, "hash", {"hex": ""}))
    assert code == 2
    assert log
    assert len(replies) == 1


def test_answers_are_flushed_when_nothing_more_is_there():
    """CONF-005."""
    with subprocess.Popen([PORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line in (HELLO, case(1, "uuid", {"text": ""})):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline()


def test_text_comes_back_as_utf8():
    """CONF-020: a decision's reason is passed on as it is."""
    reason = "caf\u00e9 \U0001f600 \u2028 \x00"
    policy = {"backoff_base": "1", "backoff_max": "1", "backoff_jitter": "0"}
    value = {"outcome": "CONFLICT", "key": "k", "retry_count": "0", "max_retry": "0"}
    value |= {"hold_count": "0", "max_hold": "0", "policy": policy, "reason": reason}
    replies, _, _ = talk(HELLO, case(1, "decide", value))
    assert replies[1]["output"]["reject_reason"] == reason
