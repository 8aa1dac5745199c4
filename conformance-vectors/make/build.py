#!/usr/bin/env python3
"""Makes the vectors: asks all who have an opinion about an input, and writes what they agree on.

    make/build.py                   write the groups that changed
    make/build.py --check           write nothing; fail where a committed file differs
    make/build.py --group decimal   some groups alone (repeatable)
    make/build.py --port NAME=PATH  ask one more port (repeatable)

A difference stops the build and is settled by the spec, never by a vote.
"""

import argparse
import hashlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent
ROOT = VECTORS.parent
sys.path[:0] = [str(HERE), str(VECTORS)]

import opinions  # noqa: E402
import platform_java  # noqa: E402
import schemas  # noqa: E402
from group import Case, Group  # noqa: E402

from reference import conformance  # noqa: E402
from reference.errors import Fault  # noqa: E402

SPEC_VERSION = "1.0.0"
# In the order in which a port is written.
GROUPS = (
    "decimal money timestamp duration date uuid component key hash shard lane kafka_partition"
    " fingerprint policy backoff decide transition admit classify headers next_headers message"
).split()
PORT = ROOT / "conformance" / "go" / "port"


def collect(name: str) -> Group:
    """The inputs of a group: its module, then what was reported of other libraries."""
    group = Group(name)
    importlib.import_module(f"inputs_{name}").fill(group)
    with open(HERE / "reports.jsonl", encoding="utf-8") as lines:
        for line in lines:
            report = json.loads(line)
            if report["op"] == name:
                group.cases.append(Case(**report))
    return group


def check_inputs(cases: list[Case]) -> list[str]:
    """An id names one case, and a case has one id."""
    problems, ids, inputs = [], set(), {}
    for case in cases:
        if case.id in ids:
            problems.append(f"{case.id}: twice")
        ids.add(case.id)
        same = inputs.setdefault((case.op, json.dumps(case.input, sort_keys=True)), case.id)
        if same != case.id:
            problems.append(f"{case.id}: the input of {same}")
    return problems


def settle(
    cases: list[Case], ports: dict[str, list[str]], java: bool
) -> tuple[list[Any], list[str]]:
    """The answers of the reference, and every difference from them."""
    expected = opinions.reference(cases)
    heard: dict[str, list[Any]] = {"reference": expected, "author": opinions.author(cases)}
    for name, command in ports.items():
        heard[name] = opinions.ask_port(name, command, cases)
    for name, opinion in opinions.THIRD_PARTIES.items():
        heard[name] = opinions.third_party(opinion, cases, expected)
    if java:
        heard["jdk"] = platform_java.opinions(cases, expected)

    problems = []
    for position, case in enumerate(cases):
        answers = {name: answers[position] for name, answers in heard.items() if answers[position]}
        silent = {"reference", "go"} - set(answers)
        if silent:
            problems.append(f"{case.id}: no answer of {', '.join(sorted(silent))}")
        elif any(answer != answers["reference"] for answer in answers.values()):
            lines = [f"{case.id}  {case.op} {json.dumps(case.input)[:400]}"]
            lines += [
                f"    {name:10} {json.dumps(answer)[:300]}" for name, answer in answers.items()
            ]
            problems.append("\n".join(lines))
    counts = {name: sum(map(bool, answers)) for name, answers in heard.items()}
    words = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    print(f"{cases[0].op:16} {len(cases):4}: {words}", file=sys.stderr)
    return expected, problems


def vector(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """CONF-050."""
    made: dict[str, Any] = {
        "id": case.id,
        "op": case.op,
        "spec": sorted(set(case.spec), key=case.spec.index),
        "input": case.input,
        "result": "valid" if "output" in answer else "invalid",
        **answer,
    }
    if case.note:
        made["note"] = case.note
    if case.op in ("key", "fingerprint") and "output" in answer:
        made["steps"] = conformance.component_texts(case.input["segments"])
    return made


def render(vectors: list[dict[str, Any]]) -> bytes:
    """A JSON array with one vector a line."""
    lines = (json.dumps(made, ensure_ascii=True) for made in vectors)
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def manifest(files: dict[str, bytes]) -> bytes:
    groups = []
    for name in GROUPS:
        octets = files.get(name)
        if octets is None:
            continue
        groups.append(
            {
                "group": name,
                "file": f"{name}.json",
                "op": name,
                "count": len(json.loads(octets)),
                "sha256": hashlib.sha256(octets).hexdigest(),
                "required": name != "message",
            }
        )
    return (json.dumps({"spec": SPEC_VERSION, "groups": groups}, indent=2) + "\n").encode()


def validate(written: dict[str, bytes]) -> list[str]:
    """What the schemas say about the files that are to be written."""
    problems = []
    for name, octets in written.items():
        schema = schemas.manifest() if name == "manifest.json" else schemas.vectors()
        validator = jsonschema.Draft202012Validator(schema)
        for error in validator.iter_errors(json.loads(octets)):
            problems.append(f"{name}: {error.json_path}: {error.message[:300]}")
    return problems


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes the vectors.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--group", action="append", choices=GROUPS, help="this group alone")
    parser.add_argument("--port", action="append", default=[], metavar="NAME=PATH", help="one more")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    ports = {"go": [str(PORT)]}
    for port in arguments.port:
        name, _, path = port.partition("=")
        ports[name] = [path]
    java = platform_java.available()
    if not java:
        print("no JDK with Maven: the vectors are made without Java's opinion", file=sys.stderr)

    everything = [case for name in GROUPS for case in collect(name).cases]
    problems = check_inputs(everything)
    files: dict[str, bytes] = {}
    for name in arguments.group or GROUPS:
        cases = [case for case in everything if case.op == name]
        expected, differences = settle(cases, ports, java)
        problems += differences
        if not differences:
            files[name] = render([vector(*pair) for pair in zip(cases, expected, strict=True)])
    if problems:
        print("\n".join(problems), file=sys.stderr)
        print(f"{len(problems)} problems; nothing was written", file=sys.stderr)
        return 1

    written = {f"{name}.json": octets for name, octets in files.items()}
    for name in GROUPS:
        path = VECTORS / f"{name}.json"
        if name not in files and path.exists():
            files[name] = path.read_bytes()
    written["manifest.json"] = manifest(files)
    problems = validate(written)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    for name, schema in schemas.FILES.items():
        written[f"schema/{name}"] = (json.dumps(schema(), indent=1) + "\n").encode()
    stale = []
    for name, octets in written.items():
        path = VECTORS / name
        if not path.exists() or path.read_bytes() != octets:
            stale.append(name)
            if not arguments.check:
                path.write_bytes(octets)
    if stale:
        print(("differs: " if arguments.check else "written: ") + " ".join(stale), file=sys.stderr)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        sys.exit(f"an input that no reader takes: {fault}")
