"""Asks a changed core the vectors, in a process of its own."""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import select
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "runtime/python/src/idemspec"
PORT = ROOT / "conformance/python"
GENERATED = ROOT / "golden/python/gen"
VECTORS = ROOT / "conformance-vectors"

CPU_SECONDS = 10
MEMORY_BYTES = 2 << 30
NO_CODE = 3
NO_IMPORT = "(it cannot be imported)"
ENDLESS = "(it does not end, or takes all memory)"


@dataclass(frozen=True)
class Change:
    """A core with one module that is another one, which is compiled where it is needed."""

    name: str
    module: str
    code: Callable[[], CodeType]


@dataclass(frozen=True)
class Vector:
    """A case as the port reads it, and the answer that it must give."""

    id: str
    group: str
    line: bytes
    answer: dict[str, object]


def vectors() -> list[Vector]:
    found = []
    for group in json.loads((VECTORS / "manifest.json").read_text())["groups"]:
        for case in json.loads((VECTORS / group["file"]).read_text()):
            line = json.dumps({"type": "case", "seq": 1, "op": case["op"], "input": case["input"]})
            key = "output" if case["result"] == "valid" else "error"
            found.append(Vector(case["id"], group["group"], line.encode(), {key: case[key]}))
    return found


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the core, the port and generated code from what was compiled before."""

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
    """The core, the port and the generated code of keys, as they are."""
    paths = {f"idemspec.{path.stem}": path for path in CORE.glob("*.py")}
    paths["idemspec"] = paths.pop("idemspec.__init__")
    paths |= {path.stem: path for path in PORT.glob("*.py")}
    for path in GENERATED.glob("**/*_idem.py"):
        paths[".".join(path.relative_to(GENERATED).with_suffix("").parts)] = path
    return {name: compile(path.read_text(), str(path), "exec") for name, path in paths.items()}


@dataclass
class _Running:
    """A process, and what it has said so far."""

    change: Change
    pid: int
    said: bytes = b""


@dataclass
class Judge:
    """Runs changed cores, so many at a time, and says which vectors tell each from the core."""

    jobs: int
    every: bool = False
    """Not only the first vector that fails, but all of them."""
    vectors: list[Vector] = field(default_factory=vectors)

    def __post_init__(self) -> None:
        self.code = compiled()
        self.by_id = {vector.id: vector for vector in self.vectors}
        self.killers: dict[str, Counter[str]] = {}
        # What no change is about is imported once, here, rather than in each process.
        sys.path.append(str(GENERATED))
        for path in sorted(GENERATED.glob("**/*_pb2.py")):
            importlib.import_module(".".join(path.relative_to(GENERATED).with_suffix("").parts))
        gc.collect()
        gc.freeze()

    def run(self, changes: Iterable[Change]) -> Iterator[tuple[Change, list[str]]]:
        """Each change with the vectors that fail, or why none was asked; [] if it survives."""
        running: dict[int, _Running] = {}
        waiting = iter(changes)
        while True:
            while len(running) < self.jobs and (change := next(waiting, None)):
                self._start(change, running)
            if not running:
                return
            for pipe in select.select(list(running), [], [])[0]:
                said = os.read(pipe, 1 << 16)
                running[pipe].said += said
                if not said:
                    yield self._ended(pipe, running.pop(pipe))

    def _ended(self, pipe: int, process: _Running) -> tuple[Change, list[str]]:
        os.close(pipe)
        _, status = os.waitpid(process.pid, 0)
        if os.waitstatus_to_exitcode(status) == NO_CODE:
            raise ValueError(f"{process.change.name}: its code does not compile")
        failed = process.said.decode().split("\n")[:-1]
        if status:
            failed.append(ENDLESS)
        killers = self.killers.setdefault(process.change.module, Counter())
        killers.update(failed)
        killers.update(self.by_id[id].group for id in failed if id in self.by_id)
        return process.change, failed

    def _start(self, change: Change, running: dict[int, _Running]) -> None:
        reader, writer = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            os.close(writer)
            running[reader] = _Running(change, pid)
            return
        status = NO_CODE
        try:
            os.close(reader)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            code = change.code()
            status = 1
            for failed in self._failed(change.module, code):
                os.write(writer, f"{failed}\n".encode())
                if not self.every:
                    break
            status = 0
        finally:
            os._exit(status)

    def _failed(self, module: str, code: CodeType) -> Iterator[str]:
        for name in self.code:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, Changed({**self.code, f"idemspec.{module}": code}))
        try:
            answer = importlib.import_module("main").answer
        except MemoryError:
            raise
        except Exception:
            yield NO_IMPORT
            return
        # What failed for other changes of the module fails first here too.
        often = self.killers.get(module, Counter())
        for vector in sorted(self.vectors, key=lambda v: (-often[v.id], -often[v.group])):
            try:
                given = json.loads(answer(vector.line))
                fails = any(given.get(key) != value for key, value in vector.answer.items())
            except MemoryError:
                raise
            except Exception:
                fails = True
            if fails:
                yield vector.id
