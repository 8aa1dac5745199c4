"""`idem lint` beside `buf lint` on the same files, as whole processes."""

from __future__ import annotations

import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import machine
import schema
from figures import Comparison, Contender, Section, Target, ratio

WALL, CPU = "time on the wall", "time of processors"
BUF_YAML = "version: v2\nlint:\n  use: [STANDARD]\n"
FINDINGS = 100  # how buf lint ends where it has some, as it has of Google's files


# What idem lint has to say of the plugin's schema, which has every option for its own sake.
MENDED = (
    (":{payment_id}:{amount}:{occurred_at}", ":{payment_id}"),
    ('to: "PAID"\n    }', 'to: "PAID"\n      on_superseded: ON_SUPERSEDED_DEAD_LETTER\n    }'),
)


def write(root: Path) -> int:
    """Writes the files and returns how many there are."""
    for name in schema.write(root):
        text = (root / name).read_text()
        for old, new in MENDED:
            text = text.replace(old, new)
        (root / name).write_text(text)
    options = Path("idem/v1/options.proto")
    (root / options).parent.mkdir(parents=True)
    shutil.copy(machine.ROOT / "proto" / options, root / options)
    http = find_spec("google.api.http_pb2")
    if http is None or http.origin is None:
        raise RuntimeError("googleapis-common-protos is not installed: scripts/tools installs it")
    google = Path(http.origin).parents[1]
    for file in google.rglob("*.proto"):
        copied = Path("google") / file.relative_to(google)
        if copied.parts[1] != "protobuf":
            (root / copied).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / copied)
    (root / "buf.yaml").write_text(BUF_YAML)
    return len(list(root.rglob("*.proto")))


def lint(quick: bool) -> Section:
    """The two take turns."""
    rounds = 4 if quick else 20
    commands = {
        "idem lint": ([str(machine.OUT / "idem"), "lint", "."], (0,)),
        "buf lint": (["buf", "lint"], (0, FINDINGS)),
    }
    wall = [Contender(name, []) for name in commands]
    cpu = [Contender(name, []) for name in commands]
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        files = write(root)
        for _ in range(rounds):
            for i, (command, codes) in enumerate(commands.values()):
                ran = machine.run(command, cwd=root, codes=codes)
                wall[i].rounds.append(ran.wall * 1e3)
                cpu[i].rounds.append(ran.cpu * 1e3)
    return Section(
        "Lint",
        "idem lint .; buf lint",
        f"{rounds} rounds of whole processes on {files} files: googleapis-common-protos, and "
        f"{schema.FILES * schema.MESSAGES} messages like the shop's PaymentSucceeded, each with "
        "all options. Both compile all of them; buf has its STANDARD rules.",
        [Comparison(WALL, "ms", wall), Comparison(CPU, "ms", cpu)],
    )


def targets(section: Section) -> list[Target]:
    found = []
    for comparison in section.comparisons:
        value = ratio(comparison.contenders[0], comparison.contenders[1])
        text = f"Lint: at most a quarter of buf lint, {comparison.title}"
        found.append(Target(text, f"{value:.2f}×", value <= 0.25))
    return found
