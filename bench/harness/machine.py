"""The machine, the versions and the processes of a run."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
OUT = BENCH / "out"


def text(*command: str) -> str:
    """What a command says, on either output, or how it fails to start."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (done.stdout + done.stderr).strip()


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def describe() -> list[str]:
    """A line for each thing that figures depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = text("git", "rev-parse", "--short", "HEAD")
    return [
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} "
        f"{platform.release().partition('-')[0]}",
        text("go", "version"),
        text("java", "-version").splitlines()[0],
        f"Python {platform.python_version()}",
        f"Node {text('node', '--version')}",
        f"commit {commit}",
    ]


@dataclass
class Ran:
    """A process that ran: its seconds on the wall and of processors, and its standard output."""

    wall: float
    cpu: float
    stdout: bytes


def run(
    command: list[str],
    stdin: bytes | None = None,
    cwd: Path = ROOT,
    codes: tuple[int, ...] = (0,),
) -> Ran:
    """Runs a process to its end, which is one of codes. No other child may run beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, check=False)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        end = (done.stdout + done.stderr).decode(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{end}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(wall, cpu, done.stdout)
