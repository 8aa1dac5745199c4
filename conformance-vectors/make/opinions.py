"""Who is asked about a case: ports over the protocol, and third parties for what they know.

An opinion is the answer in the form of a vector: {"output": ...} or {"error": ...}; None where it
has none. All that is known of a third party is told here and nowhere else.
"""

import datetime
import decimal
import hashlib
import json
import re
import subprocess
import threading
import urllib.parse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import xxhash
from group import Case

Answer = dict[str, Any]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


# --- Ports


def ask_port(name: str, command: list[str], cases: list[Case]) -> list[Answer | None]:
    """The answers of a port, read while the cases are still being written."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout

    def send(message: dict[str, Any]) -> None:
        assert process.stdin
        process.stdin.write(json.dumps(message).encode() + b"\n")

    def write() -> None:
        try:
            for seq, case in enumerate(cases, 1):
                send({"type": "case", "seq": seq, "op": case.op, "input": case.input})
            send({"type": "end"})
            process.stdin.close()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass  # the missing answers say it

    send({"type": "hello", "protocol": "idem-conformance/1"})
    process.stdin.flush()
    hello = process.stdout.readline()
    if not hello or json.loads(hello).get("type") != "hello":
        raise SystemExit(f"{name}: no hello, but {hello!r}")
    writer = threading.Thread(target=write)
    writer.start()
    answers: list[Answer | None] = []
    for seq, case in enumerate(cases, 1):
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"{name}: no answer to {case.id}: {json.dumps(case.input)[:200]}")
        reply = json.loads(line)
        if reply.get("seq") != seq:
            raise SystemExit(f"{name}: answer {reply.get('seq')} to question {seq}, {case.id}")
        if reply.get("unsupported"):
            answers.append(None)
        elif "error" in reply:
            answers.append({"error": reply["error"]})
        else:
            answers.append({"output": reply["output"]})
    writer.join()
    process.wait()
    return answers


def reference(cases: list[Case]) -> list[Answer | None]:
    from reference import conformance

    answers: list[Answer | None] = []
    for case in cases:
        # As it comes over the wire, so that no input shares an object with another one.
        answer = conformance.answer(case.op, json.loads(json.dumps(case.input)))
        answer.pop("detail", None)
        answers.append(None if "unsupported" in answer else answer)
    return answers


def author(cases: list[Case]) -> list[Answer | None]:
    """What was written down beside the input."""
    return [
        None
        if case.want is None
        else {"error": case.want}
        if isinstance(case.want, str)
        else {"output": case.want}
        for case in cases
    ]


# --- libxxhash


def libxxhash(case: Case, expected: Answer) -> Answer | None:
    output, value = expected.get("output"), case.input
    if output is None:
        return None
    if case.op == "hash":
        return {"output": {"xxh64": xxhash.xxh64_hexdigest(bytes.fromhex(value["hex"]))}}
    if case.op in ("shard", "lane") and "key" in value:
        number = xxhash.xxh64_intdigest(value["key"].encode())
        upper = number >> 32 if case.op == "lane" else number
        return {"output": {case.op: str(upper % int(value["n"]))}}
    if case.op == "backoff":
        text = f"{value['key']}#{value['retry_count']}"
        jitter = xxhash.xxh64_intdigest(text.encode()) % (
            int(value["policy"]["backoff_jitter"]) + 1
        )
        base = int(output["base_ms"])
        return {
            "output": {
                "delay_ms": str(base + jitter),
                "base_ms": str(base),
                "jitter_ms": str(jitter),
            }
        }
    if case.op == "fingerprint":
        low = xxhash.xxh64_intdigest(value["template"].encode()) & 0xFFFFFFFF
        from reference import conformance

        rendered = conformance.op_key({"segments": value["segments"]})["key"]
        return {"output": {"fingerprint": f"{low:08x}-{xxhash.xxh64_hexdigest(rendered.encode())}"}}
    return None


# --- The standard library of Python. It accepts more than the spec does, so it is asked about what
# the reference accepts; and it confirms of some texts that they are faulty.


def cpython(case: Case, expected: Answer) -> Answer | None:
    value, valid = case.input, "output" in expected
    if case.op == "decimal" and valid:
        text = value.get("text") or bytes.fromhex(value["hex"]).decode()
        return {"output": {"text": _plain(text)}}
    if case.op == "money" and valid:
        amount = decimal.Decimal(int(value["units"])) + decimal.Decimal(int(value["nanos"])).scaleb(
            -9
        )
        return {"output": {"text": value["currency_code"] + _plain(str(amount))}}
    if case.op == "date" and valid:
        date = datetime.date(int(value["year"]), int(value["month"]), int(value["day"]))
        return {"output": {"text": date.isoformat()}}
    if case.op == "date" and expected["error"] == "DATE_RANGE":
        try:
            datetime.date(int(value["year"]), int(value["month"]), int(value["day"]))
        except (ValueError, OverflowError):
            return {"error": "DATE_RANGE"}
        return {"output": "a date"}
    if case.op == "timestamp" and valid:
        return _timestamp(value)
    if case.op == "component":
        return _component(case, value, valid)
    if case.op == "key" and valid:
        return _key(value)
    return None


def _plain(text: str) -> str:
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = 30_000, 999_999, -999_999
        number = decimal.Decimal(text)
        if number == 0:
            return "0"
        plain = format(number, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _timestamp(value: dict[str, Any]) -> Answer | None:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    digits = int(value["fraction_digits"])
    fraction = ""
    if "rfc3339" in value:
        text = value["rfc3339"]
        if text.startswith("0000"):
            return None
        match = re.fullmatch(r"(.{19})(?:\.(\d+))?(.*)", text)
        assert match
        moment = datetime.datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00"))
        try:
            moment = moment.astimezone(datetime.timezone.utc)
        except OverflowError:
            return None
        fraction = (match[2] or "").ljust(9, "0")
    else:
        if "epoch" in value:
            per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[value["unit"]]
            seconds, rest = divmod(int(value["epoch"]), per_second)
            nanos = rest * (10**9 // per_second)
        else:
            seconds, nanos = int(value["seconds"]), int(value["nanos"])
        moment = epoch + datetime.timedelta(seconds=seconds)
        fraction = f"{nanos:09}"
    text = moment.replace(tzinfo=None).isoformat(timespec="seconds")
    return {"output": {"text": f"{text}.{fraction[:digits]}Z" if digits else f"{text}Z"}}


def _component(case: Case, value: dict[str, Any], valid: bool) -> Answer | None:
    ((name, inner),) = value.items() if len(value) == 1 else ((None, None),)
    try:
        if name == "string":
            raw = inner.encode()
        elif name == "hex_utf8":
            raw = bytes.fromhex(inner)
            raw.decode()
        elif name == "utf16":
            raw = bytes.fromhex("".join(inner)).decode("utf-16-be").encode()
        elif name == "sha256" and valid and "string" in inner:
            return {"output": {"text": hashlib.sha256(inner["string"].encode()).hexdigest()[:32]}}
        else:
            return None
    except UnicodeDecodeError:
        return {"error": "STRING_UTF8"}
    except (ValueError, TypeError, AttributeError):
        return None
    return {"output": {"text": _quote(raw)}} if valid else None


def _quote(raw: bytes) -> str:
    return urllib.parse.quote(raw, safe="").replace("~", "%7E")


def _key(value: dict[str, Any]) -> Answer | None:
    parts = []
    for segment in value["segments"]:
        if "literal" in segment:
            parts.append(segment["literal"])
        elif "string" in segment["component"]:
            parts.append(_quote(segment["component"]["string"].encode()))
        else:
            return None
    return {"output": {"key": ":".join(parts)}}


THIRD_PARTIES = {"libxxhash": libxxhash, "cpython": cpython}


def third_party(
    opinion: Any, cases: list[Case], expected: Iterable[Answer | None]
) -> list[Answer | None]:
    return [
        opinion(case, answer) if answer else None
        for case, answer in zip(cases, expected, strict=True)
    ]
