"""Asks a changed core the vectors, in a process of its own."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "runtime/python/src/idemspec"
PORT = ROOT / "conformance/python"
GOLDEN = ROOT / "golden/python"
VECTORS = ROOT / "conformance-vectors"

CPU_SECONDS = 20
MEMORY_BYTES = 2 << 30
ENDLESS = "does not end, or takes all memory"


@dataclass(frozen=True)
class Vector:
    """A case as the port reads it, and the answer that it must give."""

    id: str
    group: str
    line: bytes
    answer: dict[str, object]


def vectors() -> list[Vector]:
    found = []
    for path in sorted(VECTORS.glob("*.json")):
        cases = json.loads(path.read_text())
        if not (isinstance(cases, list) or "vectors" in cases):
            continue
        for case in cases if isinstance(cases, list) else cases["vectors"]:
            line = json.dumps({"type": "case", "seq": 1, "op": case["op"], "input": case["input"]})
            key = "output" if case["result"] == "valid" else "error"
            found.append(Vector(case["id"], path.stem, line.encode(), {key: case[key]}))
    return found


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the core from code that was compiled before, one module of it changed."""

    def __init__(self, code: dict[str, CodeType]) -> None:
        self.code = code

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.code:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name == "idemspec")

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self.code[module.__name__].co_filename
        exec(self.code[module.__name__], module.__dict__)


def compiled() -> dict[str, CodeType]:
    """The core and the port, as they are."""
    code = {}
    for path in CORE.glob("*.py"):
        name = "idemspec" if path.stem == "__init__" else f"idemspec.{path.stem}"
        code[name] = compile(path.read_text(), str(path), "exec")
    for path in PORT.glob("*.py"):
        code[path.stem] = compile(path.read_text(), str(path), "exec")
    return code


class Judge:
    """Runs changed cores, several at a time, and says which vector tells each from the core."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.vectors = vectors()
        self.code = compiled()
        self.killers: dict[str, Counter[str]] = {}
        for path in (PORT, *GOLDEN.glob("src"), GOLDEN):
            sys.path.append(str(path))
        try:  # once, here, rather than in each process
            import google.protobuf.descriptor_pb2  # noqa: F401
            import google.protobuf.message  # noqa: F401
        except ImportError:
            pass

    def run(self, changes: Iterable[tuple[str, str, CodeType]]) -> Iterator[tuple[str, str | None]]:
        """For each (name, module, code): the name, and the first vector that fails, or None."""
        running: dict[int, tuple[str, str, int]] = {}
        waiting = iter(changes)
        while True:
            while len(running) < self.jobs and (change := next(waiting, None)):
                name, module, code = change
                pid, pipe = self._start(module, code)
                running[pid] = (name, module, pipe)
            if not running:
                return
            pid, status = os.wait()
            name, module, pipe = running.pop(pid)
            with os.fdopen(pipe, "rb") as answer:
                killer = answer.read().decode() or None
            if killer is None and status != 0:
                killer = ENDLESS
            if killer is not None:
                group = killer.partition(" ")[0]
                self.killers.setdefault(module, Counter())[group] += 1
                killer = killer.partition(" ")[2] or killer
            yield name, killer

    def _start(self, module: str, code: CodeType) -> tuple[int, int]:
        often = self.killers.get(module, Counter())
        ordered = sorted(self.vectors, key=lambda vector: -often[vector.group])
        reader, writer = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writer)
            return pid, reader
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        status = 1
        try:
            killer = self._judge(f"idemspec.{module}", code, ordered)
            os.write(writer, (killer or "").encode())
            status = 0
        except MemoryError:
            os.write(writer, f"- {ENDLESS}".encode())
        finally:
            os._exit(status)

    def _judge(self, module: str, code: CodeType, ordered: list[Vector]) -> str | None:
        sys.meta_path.insert(0, Changed({**self.code, module: code}))
        try:
            answer = __import__("main").answer
        except Exception:
            return "- import of the core"
        for vector in ordered:
            try:
                given = json.loads(answer(vector.line))
            except MemoryError:
                raise
            except Exception:
                return f"{vector.group} {vector.id}"
            if any(given.get(key) != value for key, value in vector.answer.items()):
                return f"{vector.group} {vector.id}"
        return None
