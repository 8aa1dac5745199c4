"""Keys and what else the cores compute: Go, Java and Python."""

from __future__ import annotations

import json
import os
from collections import defaultdict

import machine
from figures import Comparison, Contender, Section, median

NAMES = {
    "idem": "idem, generated",
    "limit": "limit: by hand",
    "wire-sha256": "deterministic marshal + SHA-256",
    "protojson-sha256": "protojson + SHA-256",
    "hashstructure": "mitchellh/hashstructure v2",
    "idem-string": "idem, as a new string",
    "jsonSha256": "Jackson + SHA-256",
    "json-md5": "MessageToDict + JSON + MD5",
    "dict-json-md5": "JSON + MD5 of a dict at hand",
}
TITLES = {
    "KeyOf1": "key of the shop's PaymentSucceeded",
    "KeyOf4": "key of four components",
    "Hash": "XXH64 of a key",
    "Shard": "shard of a key",
    "Fingerprint": "fingerprint of two components",
    "Backoff": "delay of a retry",
    "Decide": "decision on an outcome",
    "Admit": "admission of a delivery",
    "HeadersWrite": "headers of a producer",
    "HeadersParse": "headers read and checked",
    "HeadersNext": "headers of the next delivery",
    "PolicyResolve": "policy of headers, schema and limits",
    "Headers": "headers of a producer",
}


def comparisons(figures: dict[str, list[float]], extra: dict[str, str]) -> list[Comparison]:
    """Groups KeyOf4/idem and KeyOf4/limit; idem comes first."""
    groups: dict[str, list[Contender]] = defaultdict(list)
    for name, rounds in figures.items():
        group, _, who = name.partition("/")
        groups[group].append(Contender(NAMES[who] if who else "idem", rounds, extra.get(name, "")))
    made = []
    for group, contenders in groups.items():
        contenders.sort(key=lambda c: not c.name.startswith("idem"))
        made.append(Comparison(TITLES[group], "ns", contenders))
    return sorted(made, key=lambda c: list(TITLES.values()).index(c.title))


def go(quick: bool) -> Section:
    """Rounds of the whole benchmark, so that the two sides of a comparison follow each other."""
    rounds, each = (6, "20ms") if quick else (40, "20ms")
    command = f"bench/out/go.test -test.run ^$ -test.bench . -test.benchtime {each} -test.cpu 1"
    figures: dict[str, list[float]] = defaultdict(list)
    extra = {}
    for _ in range(rounds):
        ran = machine.run([*command.split(), "-test.benchmem"])
        for line in ran.stdout.decode().splitlines():
            fields = line.split()
            if line.startswith("Benchmark") and "cpu-ns/op" in fields:
                name = fields[0].removeprefix("Benchmark")
                value = {unit: fields[i] for i, unit in enumerate(fields[1:])}
                figures[name].append(float(value["cpu-ns/op"]))
                extra[name] = f"{value['allocs/op']} allocs, {value['B/op']} B"
    note = f"{rounds} rounds. A key here is its bytes in the caller's buffer and their hash."
    return Section("Go", command, note, comparisons(figures, extra))


def java(quick: bool) -> Section:
    """Rounds of one fork for each benchmark."""
    rounds, warm, measured = (1, "-wi 2 -w 1s", "-i 3 -r 100ms")
    if not quick:
        rounds, warm, measured = (5, "-wi 4 -w 1s", "-i 4 -r 100ms")
    result = machine.OUT / "jmh.json"
    # On a busy machine a compiler that works in the background is not done when warming up is.
    arguments = f"org.openjdk.jmh.Main -f 1 -jvmArgs -Xbatch {warm} {measured} -prof gc"
    arguments += " -prof io.github.idemspec.bench.CpuProfiler -rf json -rff bench/out/jmh.json"
    classpath = (machine.BENCH / "java/target/classpath").read_text().strip()
    classes = os.pathsep.join(["bench/java/target/classes", classpath])
    figures: dict[str, list[float]] = defaultdict(list)
    extra = {}
    for _ in range(rounds):
        machine.run(["java", "-cp", classes, *arguments.split()])
        for b in json.loads(result.read_text()):
            name = "/".join(b["benchmark"].split(".")[-2:])
            metrics = {key.lstrip("·"): metric for key, metric in b["secondaryMetrics"].items()}
            figures[name].append(median(metrics["cpu"]["rawData"][0]))
            extra[name] = f"{metrics['gc.alloc.rate.norm']['score']:.0f} B"
    note = f"{rounds} rounds of a fork each; a round's figure is the median of its iterations."
    return Section("Java", f"java -cp … {arguments}", note, comparisons(figures, extra))


def python(quick: bool) -> Section:
    """Contenders take turns inside of one process."""
    rounds, milliseconds = (15, 2) if quick else (100, 3)
    command = "python bench/python/measure_keys.py"
    command += f" --rounds {rounds} --milliseconds {milliseconds}"
    os.environ["PYTHONPATH"] = str(machine.BENCH / "python/gen")
    made = json.loads(machine.run(command.split()).stdout)
    note = f"{rounds} rounds; protobuf runs on {made['protobuf']}."
    return Section("Python", command, note, comparisons(made["figures"], {}))
