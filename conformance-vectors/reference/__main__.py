"""Answers the conformance protocol (chapter 12) on standard input and output."""

import json
import sys
from typing import Any

from .conformance import answer

PROTOCOL = "idem-conformance/1"


def main() -> int:
    write = sys.stdout.buffer.write
    for line in sys.stdin.buffer:
        try:
            question = json.loads(line.decode("utf-8", "strict"))
        except ValueError:
            question = None
        if not isinstance(question, dict):
            print(f"port: not a JSON object: {line[:80]!r}", file=sys.stderr)
            return 2
        kind = question.get("type")
        if kind == "end":
            return 0
        if kind == "hello":
            reply: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL}
            reply |= {"name": "idem-reference", "version": "1.0.0"}
        elif kind == "case":
            reply = {"type": "result", "seq": question.get("seq")}
            reply.update(answer(question.get("op", ""), question.get("input")))
        else:
            print(f"port: a line of no known type: {kind!r}", file=sys.stderr)
            return 2
        write(json.dumps(reply, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
