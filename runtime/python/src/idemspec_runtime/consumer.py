"""A consumer on confluent-kafka: handlers by decorators, fetch and commit."""

from __future__ import annotations

import gc
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from idemspec import Outcome

from . import movers, observe
from .audit import INTERVAL_SECONDS, KEPT, Audit
from .delivery import Delivery, Mode, Status
from .engine import Engine
from .engine.monitor import EngineConfig
from .engine.tasks import Part, Task, backoff
from .failures import Result
from .guard import Guard, GuardConfig
from .message import Fetched
from .postgres.sync import PostgresStore
from .producing import producer_config
from .routes import Route, RouteOptions, route_of
from .scheduler import Scheduler
from .shadow import Shadow
from .state import Table
from .timers import Every
from .topics import check_topic, origin_of, retry_topic

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("idemspec")

CLEAN_BATCH = 1000
CLEAN_SECONDS = 60.0
FETCH_SECONDS = 1.0
"""At least so often the client is asked: rebalances wait for it, and in the end the group goes on
without this process."""

H = TypeVar("H", bound=Callable[..., Any])


class Consumer:
    """A process's part of a consumer group: one for each store and group, with any number of topics
    and handlers.

        consumer = Consumer("payments", ["orders"], store, "localhost:9092")

        @consumer.tx("orders.created", decode=OrderCreated.FromString)
        def pay(message, connection): ...

        consumer.run()
    """

    def __init__(
        self,
        group: str,
        topics: Iterable[str],
        store: PostgresStore,
        brokers: str | Mapping[str, Any],
        *,
        scope: str | None = None,
        ignore: Iterable[str] = (),
        workers: int = 16,
        window: int = 8192,
        window_bytes: int = 64 << 20,
        batch: int = 500,
        commit_interval: timedelta = timedelta(seconds=1),
        rebalance_timeout: timedelta = timedelta(seconds=5),
        drain_timeout: timedelta = timedelta(seconds=20),
        guard: GuardConfig | None = None,
        scheduler: bool = True,
        cleaner: bool = True,
        audit: bool = True,
        shadow: bool = False,
        observer: observe.Observer | None = None,
    ) -> None:
        """`brokers` are addresses, or a configuration of librdkafka. `scope` is who shares dedup
        records with whom, the group unless it says otherwise; another one, such as "payments-2", is
        a deliberate replay. `ignore` are event types that are no business of this consumer; one
        that is neither handled nor ignored is dead-lettered. The retry topics,
        <topic>.retry.<scope>, are read too, and have to exist. `batch` is the most deliveries that
        one call to the store claims or settles. `scheduler` publishes rows of msg_retry beside it,
        and `cleaner` removes records that have expired; any number may run, and some consumer of
        each store has to. `audit` counts in the store what became of deliveries. `shadow` makes
        every route a shadow, in a group and a scope of their own, "<group>.shadow": nothing of the
        group that acts changes."""
        self.shadow = shadow
        self.group = f"{group}.shadow" if shadow else group
        self.scope = f"{scope or group}.shadow" if shadow else scope or group
        self.topics = list(topics)
        for name, value in (("workers", workers), ("window", window), ("batch", batch)):
            if value < 1:
                raise ValueError(f"{name} is {value}: give at least 1")
        if not self.topics:
            raise ValueError("topics is empty: name the topics to read")
        for topic in self.topics:
            check_topic(retry_topic(topic, self.scope))
        self._store = store
        counts = Audit() if audit and not shadow else None
        self._guard = Guard(store, self.scope, guard, observer, counts)
        self._config = EngineConfig(workers, window, window_bytes, batch)
        given = {"bootstrap.servers": brokers} if isinstance(brokers, str) else dict(brokers)
        self._connection = given
        self._ignored = set(ignore)
        self._commit_seconds = commit_interval.total_seconds()
        self._rebalance_seconds = rebalance_timeout.total_seconds()
        self._drain_seconds = drain_timeout.total_seconds()
        self._with_scheduler = scheduler and not shadow
        self._with_cleaner = cleaner and not shadow
        self._routes: dict[str, Route] = {}
        self._parts: dict[tuple[str, int], Part] = {}
        self.joined = threading.Event()
        """Set once the group has given it partitions, which may be none."""
        self._stopping = threading.Event()
        self._began = False
        self._engine: Engine

    # Handlers

    def idempotent(
        self,
        event: Any,
        *,
        decode: Callable[[bytes], Any] | None = None,
        **options: Unpack[RouteOptions],
    ) -> Callable[[H], H]:
        """A handler, `def` or `async def`, whose effect is outside: `handle(message)` is called at
        least once, and has `message.key` to pass on, so that whoever has the effect can have it
        once. It returns None, or bytes that are kept for duplicates. `event` is an event type, or a
        generated helper, whose policy counts too."""
        return self._decorator(Mode.IDEMPOTENT, event, decode, options)

    def tx(
        self,
        event: Any,
        *,
        decode: Callable[[bytes], Any] | None = None,
        **options: Unpack[RouteOptions],
    ) -> Callable[[H], H]:
        """A handler whose effect and SUCCESS are one transaction: `handle(message, connection)`
        writes with the psycopg connection it is given, into the store's database, and neither
        commits nor rolls back. One effect."""
        return self._decorator(Mode.TX, event, decode, options)

    def guarded(
        self,
        event: Any,
        table: Table,
        *,
        decode: Callable[[bytes], Any] | None = None,
        **options: Unpack[RouteOptions],
    ) -> Callable[[H], H]:
        """Moves the row that a message is about, along with the columns that the function gives,
        `columns(message)` a dict or None, and has no other effect. `event` is the generated helper
        of a message with a transition. One effect. (STATE-013)"""

        def decorate(columns: H) -> H:
            options["state"] = table
            handler = movers.guarded(self._mover(table, event, options), columns)
            self._add(route_of(Mode.TX, event, handler, decode, options))
            return columns

        return decorate

    def _decorator(
        self, mode: Mode, event: Any, decode: Any, options: RouteOptions
    ) -> Callable[[H], H]:
        def decorate(handler: H) -> H:
            guarded = self._guarded(mode, event, handler, options)
            self._add(route_of(mode, event, guarded, decode, options))
            return handler

        return decorate

    def _add(self, route: Route) -> None:
        name = route.event_type
        if name in self._routes:
            raise ValueError(f"route {name}: two handlers for one event type: give one")
        if name in self._ignored:
            raise ValueError(f"route {name}: it is in `ignore` too: take one of them away")
        if self.shadow:
            route.shadow = Shadow(route.event)
        self._routes[name] = route

    def _guarded(self, mode: Mode, event: Any, handler: Any, options: RouteOptions) -> Any:
        """The handler, behind the guard of a state machine where there is one."""
        table = options.get("state")
        if table is None:
            return handler
        mover = self._mover(table, event, options)
        return movers.behind(mover, self._store, mode, handler, bool(options.get("batch")))

    def _mover(self, table: Table, event: Any, options: RouteOptions) -> movers.Mover:
        superseded = options.get("dead_letter_superseded")
        return movers.Mover(table, event, options.get("state_id"), superseded)

    # Running

    def stop(self) -> None:
        """Ends `run`, from any thread or a signal's handler."""
        self._stopping.set()

    def run(self, *, signals: bool = True) -> None:
        """Consumes until `stop`, SIGINT or SIGTERM (where it runs in the main thread, and `signals`
        is not False); then it drains, and leaves the group. Where the broker or the store is down
        it waits, says so in the log, and goes on by itself. It raises where topics are missing, or
        handlers do not end, and where one of its own threads ends by an error, with that error. It
        runs once."""
        if not self._routes:
            raise ValueError("no handlers: decorate functions with consumer.tx or idempotent")
        if self._began:
            raise ValueError("run was called before: make another consumer")
        self._began = True
        with _signals(self.stop) if signals else nullcontext(), _rare_collections():
            self._run()

    def _run(self) -> None:
        routes = list(self._routes.values())
        self._engine = engine = Engine(self._guard, routes, self._config, self.stop)
        if not self._prepare():
            return
        rows_due, stop_scheduler = self._start_scheduler()
        upkeep = threading.Thread(
            target=engine.watched(self._upkeep), name="idem-upkeep", daemon=True
        )
        upkeep.start()
        try:
            engine.start(rows_due)
            self._consume()
        finally:
            self._stopping.set()
            stop_scheduler()
            upkeep.join()
            ended = engine.stop(self._drain_seconds)
            self._count()
        if engine.error is not None:
            raise engine.error
        if not ended:
            raise TimeoutError(
                "handlers go on although the consumer has ended: what they do is not acknowledged, "
                "and will be delivered again"
            )

    def health(self) -> dict[str, float]:
        """What is down, and for how many seconds."""
        return self._engine.outages.list() if self._began else {}

    def _prepare(self) -> bool:
        """Waits for a store and topics that are as they have to be; False at the end of `run`."""
        for what, check in (("check", self._store.check), ("topics", self._check_topics)):
            tries = 0
            while not self._stopping.is_set():
                try:
                    check()
                except (MissingTopics, ValueError):
                    raise
                except Exception as error:
                    self._engine.outages.begins(what, error)
                    self._stopping.wait(backoff(tries))
                    tries += 1
                else:
                    self._engine.outages.over(what)
                    break
        return not self._stopping.is_set()

    def _topics(self) -> list[str]:
        """What is read: the origins and, but for a shadow, their retry topics."""
        if self.shadow:
            return self.topics
        return [*self.topics, *(retry_topic(topic, self.scope) for topic in self.topics)]

    def _check_topics(self) -> None:
        admin = AdminClient(_for_admin(self._connection))
        there = admin.list_topics(timeout=10).topics
        if missing := [topic for topic in self._topics() if topic not in there]:
            commands = [f"idem topic create {topic} --group {self.scope}" for topic in self.topics]
            raise MissingTopics(
                f"no such topic: {', '.join(missing)}; create what is missing by\n\t"
                + "\n\t".join(commands)
            )

    def _start_scheduler(self) -> tuple[Callable[[], None], Callable[[], None]]:
        """What wakes it, and what stops it."""
        if not self._with_scheduler:
            return (lambda: None), (lambda: None)
        config = producer_config({"log_level": 3} | _for_admin(self._connection))
        outgoing = confluent_kafka.Producer(config)
        scheduler = Scheduler(self._store, outgoing, self._guard.observer, self._engine.outages)
        run = self._engine.watched(scheduler.run)
        thread = threading.Thread(target=run, name="idem-scheduler", daemon=True)
        thread.start()

        def stop() -> None:
            scheduler.stop()
            thread.join()

        return scheduler.wake, stop

    def _upkeep(self) -> None:
        """Removes what has expired, and counts, beside all else."""
        clean = Every(CLEAN_SECONDS, self._clean)
        while not self._stopping.is_set():
            if self._with_cleaner:
                clean()
            self._stopping.wait(INTERVAL_SECONDS)
            self._count()

    def _clean(self) -> None:
        """Until nothing is left."""
        try:
            while (n := self._store.clean(CLEAN_BATCH)) and not self._stopping.is_set():
                self._guard.measure(observe.RECORDS_CLEANED, n, store=self._store.name)
                if n < CLEAN_BATCH:
                    break
            if self._guard.audit is not None:
                self._store.clean_counts(KEPT, CLEAN_BATCH)
        except Exception as error:
            self._engine.outages.begins("clean", error)
        else:
            self._engine.outages.over("clean")

    def _count(self) -> None:
        audit = self._guard.audit
        counts = audit.take() if audit is not None else {}
        if audit is None or not counts:
            return
        try:
            self._store.count(counts)
        except Exception as error:
            audit.give_back(counts)
            self._engine.outages.begins("audit", error)
        else:
            self._engine.outages.over("audit")

    def _consume(self) -> None:
        client = confluent_kafka.Consumer(self._client_config())
        try:
            client.subscribe(
                self._topics(),
                on_assign=self._assigned,
                on_revoke=self._revoked,
                on_lost=self._lost,
            )
            committed = time.monotonic()
            gauges = observe.gauges(self._guard.observer, lambda to: self._measure(client, to))
            # However much waits: the group asks for partitions by what is fetched.
            at_least = Every(FETCH_SECONDS, lambda: self._fetch(client))
            while not self._stopping.is_set():
                at_least()
                if self._engine.hungry(0.02):
                    self._fetch(client)
                self._pause_and_resume(client)
                if time.monotonic() - committed >= self._commit_seconds:
                    committed = time.monotonic()
                    self._commit(client, self._parts.values(), wait=False)
                gauges()
            self._drain(client)
        finally:
            client.close()

    def _client_config(self) -> dict[str, Any]:
        return (
            {
                "auto.offset.reset": "earliest",  # (CONS-007)
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": 30_000,
            }
            | self._connection
            | {
                "group.id": self.group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "on_commit": self._committed,
            }
        )

    # Fetching

    def _fetch(self, client: confluent_kafka.Consumer) -> None:
        """Waits for a message, and takes what is there besides."""
        try:
            first = client.poll(0.1)
            if first is None:
                return
            before = self._part_of(first)
            messages = client.consume(self._config.batch, 0)
        except KafkaException as error:
            self._engine.outages.begins("fetch", error)
            return
        # The group may have rebalanced in between: the first one is of the generation before then.
        if before is self._part_of(first):
            messages.insert(0, first)
        tasks, now = [], time.monotonic()
        for message in messages:
            fault = message.error()
            if fault is not None:
                if fault.code() != KafkaError._PARTITION_EOF:
                    self._engine.outages.begins("fetch", KafkaException(fault))
                continue
            part = self._part_of(message)
            if part is not None:
                tasks.append(self._open(part, message, now))
        if tasks:
            self._engine.outages.over("fetch")
            self._engine.admit(tasks)

    def _part_of(self, message: confluent_kafka.Message) -> Part | None:
        return self._parts.get((message.topic() or "", message.partition() or 0))

    def _open(self, part: Part, message: confluent_kafka.Message, now: float) -> Task:
        fetched, fault = _fetched(part, message)
        d = self._guard.parse(fetched, now)
        if fault is not None:
            d.end(Result(Outcome.MALFORMED, f"BAD_HEADERS: {fault}"), fault)
        route = self._route_of(d)
        self._guard.route(d, route.rules)
        if route.shadow is not None and d.status is not Status.SKIPPED:
            opened = d.status is Status.OPENED
            self._guard.shadow(d, route.shadow.judge(d, route.decode) if opened else None)
        n = len(fetched.names)
        size = len(fetched.value or b"") + len(fetched.key or b"") + 64 * n + 64
        return Task(d, part, self._engine.lines[route.event_type], size)

    def _route_of(self, d: Delivery) -> Route:
        """What is of no route ends here; for what never runs any will do. (CONS-006)"""
        event_type = d.event_type
        route = self._routes.get(event_type)
        if route is not None:
            return route
        anyone = next(iter(self._routes.values()))
        if d.status is not Status.OPENED:
            return anyone
        if not event_type and len(self._routes) == 1:  # the only one it can be
            return anyone
        if event_type in self._ignored:
            d.status = Status.SKIPPED
            return anyone
        what = f"no route handles {event_type}, nor is it in `ignore`"
        if not event_type:
            what = "no event_type header, and several routes: set the header"
        d.end(Result(Outcome.NON_RETRYABLE, f"UNKNOWN_EVENT_TYPE: {what}"))
        return anyone

    def _pause_and_resume(self, client: confluent_kafka.Consumer) -> None:
        """Stops fetching partitions whose window has no room. (CONS-004)"""
        for part in list(self._parts.values()):
            full = self._engine.full(part)
            if full is part.paused or part.revoked:
                continue
            here = [TopicPartition(part.topic, part.partition)]
            try:
                client.pause(here) if full else client.resume(here)
            except KafkaException as error:  # it was lost meanwhile
                log.debug("pause or resume %s/%d: %s", part.topic, part.partition, error)
                continue
            part.paused = full

    def _measure(self, client: confluent_kafka.Consumer, to: observe.Observer) -> None:
        """How far behind the partitions of this process are."""
        for part in self._parts.values():
            labels = part.labels(self.scope)
            here = TopicPartition(part.topic, part.partition)
            try:
                _, end = client.get_watermark_offsets(here, cached=True)
                (at,) = client.position([here])
            except KafkaException:  # nothing is known of it yet, or it was lost meanwhile
                continue
            settled, oldest_ms = self._engine.progress(part)
            offset = at.offset if settled is None else settled
            if end < 0 or offset < 0:
                continue
            now, lag = time.monotonic(), max(end - offset, 0)
            to.measure(observe.CONSUMER_LAG, labels, lag)
            if part.lag is not None:
                before, when = part.lag
                growth = (lag - before) / max(now - when, 0.001)
                to.measure(observe.CONSUMER_LAG_GROWTH, labels, growth)
            part.lag = lag, now
            age = 0.0 if not oldest_ms else max(time.time() - oldest_ms / 1000, 0)
            to.measure(observe.CONSUMER_OLDEST, labels, age)
        to.measure(observe.IN_FLIGHT, {"group": self.scope}, self._engine.flight)

    # Offsets

    def _commit(
        self, client: confluent_kafka.Consumer, parts: Iterable[Part], *, wait: bool
    ) -> None:
        offsets = self._engine.offsets(parts)
        if not offsets:
            return
        asked = [TopicPartition(part.topic, part.partition, offset) for part, offset in offsets]
        try:
            if wait:
                client.commit(offsets=asked, asynchronous=False)
            else:
                client.commit(offsets=asked, asynchronous=True)
        except KafkaException as error:
            self._engine.outages.begins("commit", error)
            return
        for part, offset in offsets:
            part.committed = offset

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        """What came of a commit that was not waited for."""
        if error is None:
            self._engine.outages.over("commit")
        elif error.code() != KafkaError._NO_OFFSET:
            self._engine.outages.begins("commit", KafkaException(error))
            for at in partitions:
                part = self._parts.get((at.topic, at.partition))
                if part is not None:
                    part.committed = -1  # again the next time

    # The group

    def _assigned(self, client: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
        self._guard.measure(observe.REBALANCES, 1, group=self.scope)
        for at in partitions:
            part = Part(at.topic, at.partition, origin_of(at.topic, self.scope))
            self._parts[at.topic, at.partition] = part
            self._engine.add(part)
        self.joined.set()

    def _revoked(self, client: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
        """Nothing of what goes away begins any more; what has begun has some time to end, and what
        is settled is committed, before others get it."""
        parts = self._take(partitions)
        if not parts:
            return
        self._engine.revoke(parts)
        if not self._engine.idle(parts, self._rebalance_seconds):
            self._engine.cancel(parts)
            self._engine.idle(parts, 1.0)
        self._commit(client, parts, wait=True)
        self._engine.end(parts)

    def _lost(self, client: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
        """Others have the partitions already: nothing is committed. (CONS-002)"""
        parts = self._take(partitions)
        self._engine.revoke(parts)
        self._engine.cancel(parts)
        self._engine.end(parts)

    def _take(self, partitions: list[TopicPartition]) -> list[Part]:
        popped = (self._parts.pop((at.topic, at.partition), None) for at in partitions)
        parts = [part for part in popped if part is not None]
        for part in parts:
            for gauge in (
                observe.CONSUMER_LAG,
                observe.CONSUMER_LAG_GROWTH,
                observe.CONSUMER_OLDEST,
            ):
                self._guard.measure(gauge, math.nan, **part.labels(self.scope))  # no longer its own
        return parts

    def _drain(self, client: confluent_kafka.Consumer) -> None:
        """Lets what has begun end, and commits."""
        parts = list(self._parts.values())
        self._parts.clear()
        self._engine.revoke(parts)
        if not self._engine.idle(parts, self._drain_seconds):
            log.warning("handlers take longer than %.0f s to end", self._drain_seconds)
            self._engine.cancel(parts)
            self._engine.idle(parts, 1.0)
        self._commit(client, parts, wait=True)
        self._engine.end(parts)


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Has SIGINT and SIGTERM end the consumer, where Python lets a thread say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, lambda *_: stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


COLLECT_AFTER = 20_000


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Has the collector of cycles come less often, unless the program has set that itself: messages
    make none, and live for long enough to be looked at for nothing, which is a fifth of all that a
    message costs."""
    before = gc.get_threshold()
    if not 0 < before[0] <= 2000:  # the defaults of all versions of Python
        yield
        return
    gc.set_threshold(COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class MissingTopics(Exception):
    """Topics are not there, and the command that makes them."""


_CONSUMER_ONLY = ("group.", "auto.offset.", "partition.assignment", "session.", "max.poll", "fetch")


def _for_admin(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of a consumer's configuration is about the connection."""
    return {name: v for name, v in config.items() if not name.startswith(_CONSUMER_ONLY)}


def _fetched(part: Part, message: Any) -> tuple[Fetched, Exception | None]:
    """A message, and what is wrong with headers that the client cannot read."""
    fault = None
    try:
        headers = message.headers() or []
    except Exception as error:
        headers, fault = [], error
    kind, time_ms = message.timestamp()
    return (
        Fetched(
            part.topic,
            part.partition,
            message.offset(),
            message.key(),
            message.value(),
            headers,
            time_ms if kind != confluent_kafka.TIMESTAMP_NOT_AVAILABLE else 0,
        ),
        fault,
    )
