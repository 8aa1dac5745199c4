"""The Go runtime as a process, asked a line of JSON at a time (runtime/go/internal/pair)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from idemspec_runtime.records import Lease

ROOT = Path(__file__).parents[3]
MILLISECOND = 1_000_000


@cache
def program() -> str:
    if shutil.which("go") is None:
        pytest.skip("no Go: https://go.dev/dl")
    binary = str(Path(mkdtemp(prefix="idem-pair-")) / "pair")
    subprocess.run(
        ["go", "build", "-o", binary, "./runtime/go/internal/pair"], cwd=ROOT, check=True
    )
    return binary


class Go:
    """The other side of a pair."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "Error" not in answer, answer["Error"]
        return answer

    def claim(self, scope: str, key: str, owner: str = "go", **more: Any) -> dict[str, Any]:
        asked = {"Scope": scope, "Key": key, "Owner": owner, "MaxAttempts": 9}
        asked["Lease"] = 30_000 * MILLISECOND
        grant: dict[str, Any] = self.ask(Claim=[asked | more])["Grants"][0]
        return grant

    def complete(self, lease: dict[str, Any] | Lease, result: str = "") -> bool:
        done: bool = self.ask(Complete=[{"Lease": go_lease(lease), "Result": result}])["Done"][0]
        return done

    def renew(self, lease: dict[str, Any] | Lease, ms: int) -> bool:
        asked = {"Lease": go_lease(lease), "For": ms * MILLISECOND}
        renewed: bool = self.ask(Renew=[asked])["Done"][0]
        return renewed

    def fail(self, lease: dict[str, Any] | Lease, state: int = 3, **more: Any) -> int:
        """1 written, 2 fenced."""
        asked = {"Lease": go_lease(lease), "State": state} | more
        settled: int = self.ask(Settle=[asked])["Settled"][0]
        return settled

    def read(self, scope: str, key: str) -> dict[str, Any] | None:
        record: dict[str, Any] | None = self.ask(Read={"Scope": scope, "Keys": [key]})["Records"][0]
        return record

    def relay(self, rows: int) -> int:
        """By the relay of the outbox."""
        published: int = self.ask(Relay=rows)["Published"]
        return published

    def publish(self, rows: int) -> int:
        """By the scheduler of msg_retry."""
        published: int = self.ask(Publish=rows)["Published"]
        return published


def go_lease(lease: dict[str, Any] | Lease) -> dict[str, Any]:
    if isinstance(lease, dict):
        return lease
    names = {"Scope": lease.scope, "Key": lease.key, "Fence": lease.fence, "Owner": lease.owner}
    return names | {"Previous": lease.previous, "PreviousFence": lease.previous_fence}


def lease_of(grant: dict[str, Any]) -> Lease:
    held = grant["Lease"]
    return Lease(held["Scope"], held["Key"], held["Fence"], held["Owner"])


@contextmanager
def go(*args: str) -> Iterator[Go]:
    command = [program(), *args]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        other = Go(process)
        other.ask(Read={"Scope": "-", "Keys": []})  # by now it has made the tables
        yield other
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=10) == 0
