"""Java's opinion: BigDecimal, java.time, Kafka's client and an XXH64, asked through Oracle.java.

The jars come from Maven Central into .tools/oracle, once.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from group import Case

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / ".tools" / "oracle"
JARS = (
    "org.apache.kafka:kafka-clients:4.1.1",
    "org.slf4j:slf4j-api:1.7.36",
    "org.slf4j:slf4j-nop:1.7.36",
    "com.dynatrace.hash4j:hash4j:0.31.0",
)
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


def available() -> bool:
    return bool(shutil.which("javac") and shutil.which("mvn"))


def _classpath() -> str:
    TOOLS.mkdir(parents=True, exist_ok=True)
    paths = []
    for jar in JARS:
        _, name, version = jar.split(":")
        path = TOOLS / f"{name}-{version}.jar"
        if not path.exists():
            subprocess.run(
                [
                    "mvn",
                    "-B",
                    "-ntp",
                    "-q",
                    _COPY,
                    f"-Dartifact={jar}",
                    f"-DoutputDirectory={TOOLS}",
                ],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                env={**os.environ, "MAVEN_OPTS": "-Dstyle.color=never -Djansi.noreset=true"},
            )
        paths.append(str(path))
    return ":".join(paths)


def question(case: Case, expected: dict[str, Any]) -> str | None:
    """A line for Oracle.java: the op and its arguments, texts in hex."""
    value, valid = case.input, "output" in expected
    if case.op == "decimal" and valid:
        return f"decimal {value['text'].encode().hex() if 'text' in value else value['hex']}"
    if case.op == "hash" and valid:
        return f"xxh64 {value['hex'] or '-'}"
    if case.op == "kafka_partition" and valid:
        return f"partition {value['key'].encode().hex()} {value['n']}"
    if case.op == "timestamp" and valid and "seconds" in value:
        return f"instant {value['seconds']} {value['nanos']} {value['fraction_digits']}"
    if case.op == "timestamp" and valid and "rfc3339" in value:
        return f"rfc3339 {value['rfc3339'].encode().hex()} {value['fraction_digits']}"
    if case.op == "date" and valid:
        return f"date {value['year']} {value['month']} {value['day']}"
    if case.op == "classify" and valid and "kafka" in value:
        return f"kafka-error {value['kafka']}"
    return None


def opinion(case: Case, line: str, expected: dict[str, Any]) -> dict[str, Any] | None:
    if line == "-":
        return None
    if case.op == "hash":
        return {"output": {"xxh64": line}}
    if case.op == "kafka_partition":
        return {"output": {"partition": line}}
    if case.op == "classify":
        # What Kafka's own client retries must be retried; of the rest the spec decides.
        final = expected["output"]["class"] in ("NON_RETRYABLE", "OK")
        return {"output": "retriable in Kafka's client"} if final else expected
    return {"output": {"text": line}}


def opinions(cases: list[Case], expected: list[Any]) -> list[dict[str, Any] | None]:
    asked = [
        question(case, answer) if answer else None
        for case, answer in zip(cases, expected, strict=True)
    ]
    lines = [line for line in asked if line]
    if not lines:
        return [None] * len(cases)
    run = subprocess.run(
        [
            "java",
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            _classpath(),
            str(HERE / "Oracle.java"),
        ],
        input="\n".join(lines) + "\n",
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    replies = iter(run.stdout.splitlines())
    return [
        opinion(case, next(replies), answer) if line else None
        for case, line, answer in zip(cases, asked, expected, strict=True)
    ]
