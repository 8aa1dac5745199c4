"""Members of a group that are killed, stopped for a while, leave and join, while the store loses
connections and a route rests: what there is to be found when it is quiet again.

It takes IDEM_SOAK_SECONDS (6) of that, from IDEM_SOAK_SEED (another one each time)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import confluent_kafka
import psycopg
from confluent_kafka import TopicPartition
from idemspec import Context, Policy, producer_headers
from idemspec_runtime.kafka import new_event_id, producer
from kafka_topics import topic, until
from services import unique

HERE = Path(__file__).parent
SECONDS = float(os.environ.get("IDEM_SOAK_SECONDS", "6"))
SEED = int(os.environ.get("IDEM_SOAK_SEED", time.time_ns() % 1_000_000))
PARTITIONS = 6
ROUTES = ["quick"] * 8 + ["plain"] * 5 + ["rests", "tx", "tx", "batch", "batch-tx"] * 2
ROUTES += ["block", "block-tx", "park", "park-tx"] * 2
HAPPENS = ["kill", "kill", "stop", "stop", "leave", "join", "rest", "disconnect"]
LAPSE = """UPDATE idem_record SET lease_until = updated_at WHERE (scope, key) IN
    (SELECT scope, key FROM idem_record WHERE state = 1 FOR UPDATE SKIP LOCKED)"""
LANES = 40
PER_TURN = 60
POLICY = Policy(max_retry=100, backoff_schedule=(20, 50, 200), backoff_jitter=0)


class Traffic:
    """Messages, some of them twice at once or later, or with another payload's fingerprint."""

    def __init__(self, brokers: str, origin: str, random: random.Random) -> None:
        self.plans: dict[str, dict[str, int]] = {}
        self.lanes: defaultdict[str, list[str]] = defaultdict(list)
        self._origin, self._random = origin, random
        self._client = producer({"bootstrap.servers": brokers})
        self._later: list[tuple[str, str, str]] = []

    def turn(self) -> None:
        for _ in range(PER_TURN):
            name = self._random.choice(ROUTES)
            key, lane = f"{name}:{len(self.plans)}", f"{name}:lane-{self._random.randrange(LANES)}"
            chance = self._random.random()
            fails = self._random.randrange(1, 4) if chance < 0.03 else 0
            self.plans[key] = {"never": 1} if chance > 0.995 else {"fails": fails}
            if name.startswith(("block", "park")):
                self.lanes[lane].append(key)
            fingerprint = f"{len(self.plans):08x}-{0:016x}"
            self._send(key, lane, fingerprint)
            chance = self._random.random()
            if chance < 0.03:
                self._send(key, lane, fingerprint)
            elif chance < 0.06:
                self._later.append((key, lane, fingerprint))
            elif chance < 0.07:
                self._later.append((key, lane, f"{0:08x}-{1:016x}"))
        self._random.shuffle(self._later)
        while len(self._later) > PER_TURN:
            self._send(*self._later.pop())
        self._client.poll(0)

    def end(self) -> None:
        while self._later:
            self._send(*self._later.pop())
        assert self._client.flush(30) == 0

    def _send(self, key: str, lane: str, fingerprint: str) -> None:
        headers = producer_headers(
            Context(event_id=new_event_id(), topic=self._origin),
            idempotency_key=key,
            event_type=key.split(":")[0],
            biz_key=lane,
            fingerprint=fingerprint,
            policy=POLICY,
        )
        value = json.dumps(self.plans[key]).encode()
        self._client.produce(self._origin, key=lane, value=value, headers=list(headers))


class Members:
    def __init__(self, directory: Path, random: random.Random, *args: str) -> None:
        self._args = [*args, str(directory)]
        self._random = random
        self._down = directory / "down"
        self._running: list[subprocess.Popen[bytes]] = []
        self._stopped: dict[subprocess.Popen[bytes], float] = {}
        self.happened: Counter[str] = Counter()
        self.ended: list[int] = []
        """How those ended that nobody killed."""

    def keep(self, least: int) -> None:
        for member in [m for m in self._running if m.poll() is not None]:
            self._running.remove(member)
            if member.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):  # as it began
                self.ended.append(member.returncode)
        environment = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
        command = [sys.executable, str(HERE / "soaking.py"), *self._args]
        while len(self._running) < least:
            self._running.append(subprocess.Popen(command, env=environment))

    def disturb(self, connection: psycopg.Connection[Any]) -> None:
        what = self._random.choice(HAPPENS)
        member = self._random.choice(self._running)
        self.happened[what] += 1
        if what == "kill":
            member.kill()
        elif what == "stop":
            member.send_signal(signal.SIGSTOP)
            self._stopped[member] = time.monotonic() + self._random.choice((0.5, 8, 8))
        elif what == "leave":
            member.terminate()
        elif what == "join":
            self.keep(min(len(self._running) + 1, 4))
        elif what == "rest":
            self._down.touch()
        else:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                "pg_backend_pid() AND datname = current_database() AND random() < 0.6"
            )

    def calm(self, connection: psycopg.Connection[Any], *, all_of_it: bool = False) -> None:
        now = time.monotonic()
        connection.execute(LAPSE)  # whoever gets a partition takes over what still runs
        for member, until_ in list(self._stopped.items()):
            if all_of_it or now >= until_:
                member.send_signal(signal.SIGCONT)
                del self._stopped[member]
        if all_of_it or self._random.random() < 0.2:
            self._down.unlink(missing_ok=True)

    def end(self) -> None:
        for member in self._running:
            member.terminate()
        for member in self._running:
            member.wait(60)
        self.keep(0)

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._running:
            member.kill()
            member.wait()


class Offsets:
    """What the group has committed, which never goes back."""

    def __init__(self, reader: confluent_kafka.Consumer, *topics: str) -> None:
        self._reader = reader
        self._places = [TopicPartition(t, n) for t in topics for n in range(PARTITIONS)]
        self._before = [0] * len(self._places)
        self.back: list[str] = []

    def look(self) -> list[int]:
        now = [max(at.offset, 0) for at in self._reader.committed(self._places, timeout=10)]
        for place, was, at in zip(self._places, self._before, now, strict=True):
            if at < was:
                self.back.append(f"{place.topic}/{place.partition}: from {was} back to {at}")
        self._before = now
        return now

    def at_end(self) -> bool:
        ends = [self._reader.get_watermark_offsets(place, timeout=10)[1] for place in self._places]
        return self.look() == ends


def effects(connection: psycopg.Connection[Any], directory: Path) -> dict[str, list[int]]:
    """When those of each key were, by a number that is only to be compared within a lane."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for key, n in connection.execute("SELECT key, n FROM effect"):
        found[key].append(n)
    for file in directory.glob("effects-*"):
        for line in file.read_text().splitlines():
            key, n = line.split()
            found[key].append(int(n))
    return found


def judged(
    traffic: Traffic, done: dict[str, list[int]], states: dict[str, int], dead: dict[str, set[str]]
) -> list[str]:
    """What is wrong. Those of other fingerprints are dead letters of their own."""
    faults = [f"{key}: nobody has sent it" for key in done.keys() - traffic.plans.keys()]
    for key, plan in traffic.plans.items():
        n, given_up = len(done.get(key, ())), dead.get(key, set()) - {"KEY_REUSED"}
        is_tx = key.split(":")[0].endswith("tx")
        if not n and not given_up:
            faults.append(f"{key}: lost, in state {states.get(key)}")
        if n > 1 and is_tx:
            faults.append(f"{key}: {n} effects")
        if n and given_up and (is_tx or given_up != {"CRASH_LOOP"}):
            faults.append(f"{key}: done, and a dead letter: {given_up}")
        if plan.get("never") and given_up != {"NON_RETRYABLE"}:
            faults.append(f"{key}: should be NON_RETRYABLE, and is {given_up}, {n} effects")
        if states.get(key) not in (2, 4):
            faults.append(f"{key}: its record is in state {states.get(key)}")
    for lane, keys in traffic.lanes.items():
        firsts = [(min(done[key]), key) for key in keys if key in done]
        for (at, key), (next_at, next_key) in zip(firsts, firsts[1:], strict=False):
            if next_at < at:
                faults.append(f"{lane}: {next_key} was done before {key}")
    return faults


def test_whatever_becomes_of_members_each_effect_is_there_once_and_in_order(
    brokers: str, tables: str, tmp_path: Path
) -> None:
    chance, group = random.Random(SEED), unique("group")
    settings = {"bootstrap.servers": brokers, "group.id": group}
    with (
        topic(brokers, group, partitions=PARTITIONS) as origin,
        psycopg.connect(tables, autocommit=True) as connection,
        closing(confluent_kafka.Consumer(settings)) as reader,
        Members(tmp_path, chance, tables, brokers, origin, group) as members,
    ):
        connection.execute("CREATE TABLE effect (n bigserial, key text)")
        traffic = Traffic(brokers, origin, chance)
        offsets = Offsets(reader, origin, f"{origin}.retry.{group}")
        members.keep(3)
        traffic.turn()
        until(lambda: sum(offsets.look()) > 0)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            traffic.turn()
            if chance.random() < 0.4:
                members.disturb(connection)
            members.calm(connection)
            members.keep(2)
            offsets.look()
            time.sleep(0.2)
        traffic.end()
        members.calm(connection, all_of_it=True)

        def quiet() -> bool:
            members.keep(2)
            (rows,) = connection.execute("SELECT count(*) FROM msg_retry").fetchone() or (1,)
            return not rows and offsets.at_end()

        until(lambda: quiet() and quiet(), 120)
        members.end()
        states: dict[str, int] = dict(
            connection.execute("SELECT key, state FROM idem_record").fetchall()
        )
        dead: defaultdict[str, set[str]] = defaultdict(set)
        for key, outcome in connection.execute("SELECT idempotency_key, outcome FROM dead_letter"):
            dead[key].add(outcome)
        (lanes,) = connection.execute("SELECT count(*) FROM idem_lane").fetchone() or (1,)
        faults = judged(traffic, effects(connection, tmp_path), states, dead) + offsets.back
    what = f"IDEM_SOAK_SEED={SEED} IDEM_SOAK_SECONDS={SECONDS}: {dict(members.happened)}"
    assert not faults, f"{what}\n" + "\n".join(faults[:20])
    assert not lanes and not members.ended, what
