"""The protocol: JSON lines in, JSON lines out, in order (CONF-001 to CONF-006)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from idemspec import SPEC_VERSION, IdemError
from operations import OPERATIONS

PROTOCOL = "idem-conformance/1"
CHUNK_BYTES = 1 << 16

encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class Broken(Exception):
    """A line that is none of the protocol."""


def main() -> int:
    try:
        for lines in chunks(0):
            answers: list[str] = []
            for line in lines:
                reply = answer(line)
                if reply is None:
                    write(answers)
                    return 0
                answers.append(reply)
            write(answers)
    except Broken as broken:
        print(f"conformance/python/port: {broken}", file=sys.stderr)
        return 2
    return 0


def chunks(descriptor: int) -> Iterator[list[bytes]]:
    """The whole lines of each piece of input that is there at once."""
    # A line may be long, so its pieces are joined once.
    rest: list[bytes] = []
    while piece := os.read(descriptor, CHUNK_BYTES):
        head, newline, tail = piece.rpartition(b"\n")
        if not newline:
            rest.append(piece)
            continue
        yield b"".join([*rest, head]).split(b"\n")
        rest = [tail]
    if last := b"".join(rest):
        yield [last]


def write(answers: list[str]) -> None:
    sys.stdout.write("".join(answers))
    sys.stdout.flush()


def answer(line: bytes) -> str | None:
    """The answer to one line, or None to the last."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise Broken(f"a line that is no JSON: {error}") from None
    if type(message) is not dict:
        raise Broken("a line that is no JSON object")
    kind = message.get("type")
    if kind == "case":
        seq = message.get("seq")
        if type(seq) is not int:
            raise Broken("a case without a seq")
        return f'{{"type":"result","seq":{seq},{result(message)}}}\n'
    if kind == "hello":
        hello = {"type": "hello", "protocol": PROTOCOL, "name": "idem-python"}
        return encode({**hello, "version": SPEC_VERSION}) + "\n"
    if kind == "end":
        return None
    raise Broken(f"a message of no known type: {kind!r}")


def result(case: dict[str, object]) -> str:
    """The members that answer a case."""
    name = case.get("op")
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        return '"unsupported":true'
    try:
        return f'"output":{encode(operation(case.get("input")))}'
    except IdemError as error:
        return f'"error":"{error.code}","detail":{encode(str(error))}'


if __name__ == "__main__":
    sys.exit(main())
