"""Whole processes: the plugin beside protoc-gen-go, and the runner with each port."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import machine
import schema
from figures import Comparison, Contender, Section
from google.protobuf.compiler import plugin_pb2


def plugin(quick: bool) -> Section:
    """The two plugins take turns on one schema."""
    pairs = 4 if quick else 15
    with tempfile.TemporaryDirectory(dir=machine.OUT) as directory:
        compiled = schema.compile_files(Path(directory), machine.ROOT / "proto")
    theirs = schema.request(compiled, "paths=source_relative")
    wall: list[Contender] = []
    cpu: list[Contender] = []
    facts = [f"a request of {len(theirs) / 1e6:.1f} MB: {schema.FILES} files of {schema.MESSAGES}"]
    contenders = {
        "idem, lang=go": ("protoc-gen-idem", "lang=go,paths=source_relative"),
        "protoc-gen-go": ("protoc-gen-go", "paths=source_relative"),
        "idem, lang=java": ("protoc-gen-idem", "lang=java"),
        "idem, lang=python": ("protoc-gen-idem", "lang=python"),
    }
    for name in contenders:
        wall.append(Contender(name, []))
        cpu.append(Contender(name, []))
    for number in range(pairs):
        for i, (name, (binary, parameter)) in enumerate(contenders.items()):
            request = schema.request(compiled, parameter)
            ran = machine.run([str(machine.OUT / binary)], request)
            wall[i].rounds.append(ran.wall * 1e3)
            cpu[i].rounds.append(ran.cpu * 1e3)
            if number == 0:
                response = plugin_pb2.CodeGeneratorResponse.FromString(ran.stdout)
                if response.error:
                    raise RuntimeError(f"{name}: {response.error[:2000]}")
                size = sum(len(file.content) for file in response.file)
                wall[i].extra = f"{len(response.file)} files, {size / 1e6:.1f} MB"
    return Section(
        "Plugin",
        "bench/out/protoc-gen-idem < request; bench/out/protoc-gen-go < request",
        f"{pairs} rounds of whole processes on a schema of {schema.FILES * schema.MESSAGES} "
        "messages like the shop's PaymentSucceeded, each with all options.",
        [
            Comparison("time on the wall", "ms", wall),
            Comparison("time of processors", "ms", cpu),
        ],
        facts,
    )


# So many times all vectors that the start of a port counts little.
REPEATS = {"go": 40, "java": 25, "python": 8, "javascript": 15}


def runner(quick: bool) -> Section:
    """Cases that the runner asks and judges in a second."""
    rounds = 1 if quick else 4
    asked = {port: Contender(f"{port} port", []) for port in REPEATS}
    cpu = {port: Contender(f"{port} port", []) for port in REPEATS}
    bulk = {port: Contender(f"{port} port", []) for port in REPEATS}
    for port in REPEATS:  # builds what it needs
        machine.run([str(machine.OUT / "idem"), "conformance", "run", "--", _port(port)])
    for _ in range(rounds):
        for port, repeat in REPEATS.items():
            repeat = max(1, repeat // 4) if quick else repeat
            command = [str(machine.OUT / "idem"), "conformance", "run", "--report", "json"]
            ran = machine.run([*command, "--repeat", str(repeat), "--", _port(port)])
            report = json.loads(ran.stdout)
            asked[port].rounds.append(report["asked"] / report["duration_ms"])
            asked[port].extra = f"{report['asked']} cases"
            cpu[port].rounds.append(report["asked"] / ran.cpu / 1e3)
            count = 20_000 if quick else 100_000
            command = [str(machine.OUT / "idem"), "conformance", "bulk"]
            ran = machine.run([*command, "--count", str(count), "--", _port(port)])
            bulk[port].rounds.append(count / ran.wall / 1e3)
            bulk[port].extra = f"{count} cases"
    return Section(
        "Runner",
        "idem conformance run --repeat N -- PORT; idem conformance bulk --count N -- PORT",
        f"{rounds} rounds, the start of the port included. On the wall the two share the cores "
        "with whatever else runs; the second table is what a second of one processor is good for.",
        [
            Comparison("vectors, thousands in a second", "k/s", list(asked.values())),
            Comparison("vectors, thousands in a second of a processor", "k/s", list(cpu.values())),
            Comparison("bulk stream, thousands in a second", "k/s", list(bulk.values())),
        ],
    )


def _port(name: str) -> str:
    return str(machine.ROOT / "conformance" / name / "port")
