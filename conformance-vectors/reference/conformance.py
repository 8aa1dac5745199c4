"""Chapter 12: the shapes of inputs and outputs, and the operations."""

import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from . import (
    canonical_text,
    classification,
    dedup,
    hash,  # noqa: A004
    headers,
    key,
    retry,
    state_machine,
)
from .errors import Fault

# Integers have no bound of their own (CONF-021); Python's int() has one of 4300 digits.
sys.set_int_max_str_digits(0)

# --- Shapes (CONF-020, CONF-021)


def invalid(detail: str) -> Fault:
    return Fault("INPUT_INVALID", detail)


def members(value: Any, required: str, optional: str = "") -> dict[str, Any]:
    """An object with the members named, all of the required ones, and no others."""
    if type(value) is not dict:
        raise invalid("not an object")
    for name in required.split():
        if name not in value:
            raise invalid(f"{name} is missing")
    for name in value:
        if name not in required.split() and name not in optional.split():
            raise invalid(f"{name} is not known")
    return value


def one_of(value: Any, names: Iterable[str]) -> tuple[str, Any]:
    """An object with exactly one of the members named."""
    if type(value) is not dict or len(value) != 1:
        raise invalid("not an object with one member")
    ((name, inner),) = value.items()
    if name not in names:
        raise invalid(f"{name} is not known")
    return name, inner


def text(value: Any) -> str:
    if type(value) is not str:
        raise invalid("not a string")
    return value


def utf8(value: Any) -> bytes:
    """Text as the bytes that it stands for (GEN-004)."""
    try:
        return text(value).encode("utf-8", "strict")
    except UnicodeEncodeError:
        raise Fault("STRING_UTF8", "half a surrogate pair") from None


def boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise invalid("not a boolean")
    return value


def true(value: Any) -> bool:
    if value is not True:
        raise invalid("not true")
    return True


def integer(value: Any, lowest: int | None = None, highest: int | None = None) -> int:
    """A canonical integer; where an op's shape bounds it, within these bounds."""
    if not re.fullmatch(r"0|-?[1-9][0-9]*", text(value)):
        raise invalid("not a canonical integer")
    number = int(value)
    if lowest is not None and number < lowest or highest is not None and number > highest:
        raise invalid("an integer out of its bounds")
    return number


def octets(value: Any) -> bytes:
    if not re.fullmatch(r"(?:[0-9a-f]{2})*", text(value)):
        raise invalid("not lower-case hex of even length")
    return bytes.fromhex(value)


def array(value: Any) -> list[Any]:
    if type(value) is not list:
        raise invalid("not an array")
    return value


def choice(value: Any, choices: Iterable[str]) -> str:
    if text(value) not in choices:
        raise invalid(f"none of {', '.join(choices)}")
    return value


COUNT = (0, 2**63 - 1)

# --- Chapter 2. Each reader checks the shape and returns what computes the text, since an input of
# no known shape comes before any other fault, even one further to the left.

Compute = Callable[[], str]


def read_decimal(value: Any) -> Compute:
    given = members(value, "", "text hex max_scale")
    if ("text" in given) == ("hex" in given):
        raise invalid("text or hex")
    max_scale = integer(given["max_scale"], 0, 255) if "max_scale" in given else None
    number = utf8(given["text"]) if "text" in given else octets(given["hex"])
    return lambda: canonical_text.decimal(number, max_scale)


def read_money(value: Any) -> Compute:
    given = members(value, "currency_code units nanos")
    currency = utf8(given["currency_code"])
    units, nanos = integer(given["units"]), integer(given["nanos"])
    return lambda: canonical_text.money(currency, units, nanos)


def read_timestamp(value: Any) -> Compute:
    given = members(value, "fraction_digits", "rfc3339 seconds nanos epoch unit")
    digits = integer(given["fraction_digits"], 0, 9)
    form = set(given) - {"fraction_digits"}
    if form == {"rfc3339"}:
        written = text(given["rfc3339"])
        return lambda: canonical_text.timestamp_of_text(written, digits)
    if form == {"seconds", "nanos"}:
        seconds, nanos = integer(given["seconds"]), integer(given["nanos"])
        return lambda: canonical_text.timestamp(seconds, nanos, digits)
    if form == {"epoch", "unit"}:
        epoch = integer(given["epoch"])
        unit = choice(given["unit"], canonical_text.UNITS)
        return lambda: canonical_text.timestamp_of_epoch(epoch, unit, digits)
    raise invalid("rfc3339, or seconds and nanos, or epoch and unit")


def read_duration(value: Any) -> Compute:
    given = members(value, "seconds nanos fraction_digits")
    seconds, nanos = integer(given["seconds"]), integer(given["nanos"])
    digits = integer(given["fraction_digits"], 0, 9)
    return lambda: canonical_text.duration(seconds, nanos, digits)


def read_date(value: Any) -> Compute:
    given = members(value, "year month day")
    year, month, day = (integer(given[name]) for name in ("year", "month", "day"))
    return lambda: canonical_text.date(year, month, day)


def read_uuid(value: Any) -> Compute:
    given = members(value, "text")
    written = text(given["text"])
    return lambda: canonical_text.uuid(written)


# --- Chapter 4


def read_int(value: Any) -> Compute:
    given = members(value, "type value")
    type_name = choice(given["type"], canonical_text.INTEGER_TYPES)
    number = integer(given["value"])
    return lambda: canonical_text.integer(type_name, number)


def read_utf16(value: Any) -> Callable[[], bytes]:
    units = []
    for unit in array(value):
        if not re.fullmatch(r"[0-9a-f]{4}", text(unit)):
            raise invalid("a code unit is four hex digits")
        units.append(int(unit, 16))
    return lambda: canonical_text.utf8_of_utf16(units)


VALUES = (
    "string hex_utf8 utf16 bytes bool enum int absent missing"
    " decimal money timestamp duration date uuid sha256"
).split()


def read_value(name: str, value: Any) -> Callable[[], bytes]:
    """CONF-030: the canonical text, before it is escaped."""
    if name == "string":
        given = text(value)
        return lambda: utf8(given)
    if name == "hex_utf8":
        raw = octets(value)
        return lambda: canonical_text.utf8(raw)
    if name == "utf16":
        return read_utf16(value)
    compute: Compute
    if name == "bytes":
        raw = octets(value)
        compute = lambda: canonical_text.octets(raw)  # noqa: E731
    elif name == "bool":
        truth = boolean(value)
        compute = lambda: canonical_text.boolean(truth)  # noqa: E731
    elif name == "enum":
        number = integer(value)
        compute = lambda: canonical_text.enum(number)  # noqa: E731
    else:
        compute = {
            "int": read_int,
            "decimal": read_decimal,
            "money": read_money,
            "timestamp": read_timestamp,
            "duration": read_duration,
            "date": read_date,
            "uuid": read_uuid,
        }[name](value)
    return lambda: compute().encode()


def read_component(value: Any) -> Compute:
    """CONF-030 by KEY-001 to KEY-005."""
    name, inner = one_of(value, VALUES)
    digest = name == "sha256"
    if digest:
        name, inner = one_of(inner, [other for other in VALUES if other != "sha256"])
    if name == "absent":
        true(inner)
        return lambda: key.ABSENT
    if name == "missing":
        true(inner)
        return _raise_missing
    compute = read_value(name, inner)
    if digest:
        return lambda: key.digest(compute())
    if name == "timestamp":
        return lambda: compute().decode()
    return lambda: key.escape(compute())


def _raise_missing() -> str:
    raise key.missing()


def read_segments(value: Any) -> list[Compute]:
    """CONF-032."""
    segments: list[Compute] = []
    for segment in array(value):
        name, inner = one_of(segment, ("literal", "component"))
        if name == "component":
            segments.append(read_component(inner))
        elif re.fullmatch(r"[A-Za-z0-9._-]+", text(inner)):
            segments.append(partial(text, inner))
        else:
            raise invalid("a literal is one or more of A-Z a-z 0-9 . _ -")
    if not segments:
        raise invalid("no segments")
    return segments


def render(segments: list[Compute]) -> str:
    """KEY-011: from left to right."""
    return key.render([compute() for compute in segments])


def component_texts(value: Any) -> list[str]:
    """The texts of a list of segments, for the `steps` of a vector."""
    return [compute() for compute in read_segments(value)]


def op_key(value: Any) -> dict[str, Any]:
    given = members(value, "segments")
    return {"key": render(read_segments(given["segments"]))}


def op_fingerprint(value: Any) -> dict[str, Any]:
    given = members(value, "template segments")
    template = utf8(given["template"])
    segments = read_segments(given["segments"])
    return {"fingerprint": hash.fingerprint(template, render(segments).encode())}


# --- Chapter 5


def op_hash(value: Any) -> dict[str, Any]:
    return {"xxh64": hash.hex16(hash.xxh64(octets(members(value, "hex")["hex"])))}


def read_hash(value: Any) -> tuple[Callable[[], int], int]:
    """The hash of `key`, or `hash` itself; and n."""
    given = members(value, "n", "key hash")
    if ("key" in given) == ("hash" in given):
        raise invalid("key or hash")
    n = integer(given["n"])
    if "hash" in given:
        if not re.fullmatch(r"[0-9a-f]{16}", text(given["hash"])):
            raise invalid("a hash is 16 hex digits")
        number = int(given["hash"], 16)
        return lambda: number, n
    name = utf8(given["key"])

    def compute() -> int:
        hash.check_key(name)
        return hash.xxh64(name)

    return compute, n


def op_shard(value: Any) -> dict[str, Any]:
    compute, n = read_hash(value)
    hash.check_count(n)
    return {"shard": str(hash.shard(compute(), n))}


def op_lane(value: Any) -> dict[str, Any]:
    compute, n = read_hash(value)
    hash.check_count(n)
    return {"lane": str(hash.lane(compute(), n))}


def op_kafka_partition(value: Any) -> dict[str, Any]:
    given = members(value, "key n")
    name, n = utf8(given["key"]), integer(given["n"])
    hash.check_count(n)
    hash.check_key(name)
    return {"partition": str(hash.kafka_partition(name, n))}


# --- Chapter 7


def read_schedule(given: dict[str, Any]) -> list[int]:
    return [integer(entry) for entry in array(given.get("backoff_schedule", []))]


def op_policy(value: Any) -> dict[str, Any]:
    given = members(value, "header schema limit")
    five = " ".join(retry.BOUNDS)
    header = members(given["header"], "", five + " backoff_schedule")
    schema = members(given["schema"], "", five + " backoff_schedule")
    limit = members(given["limit"], "", five)

    def numbers(of: dict[str, Any]) -> dict[str, int]:
        return {name: integer(of[name]) for name in retry.BOUNDS if name in of}

    values, schedule = retry.policy_in_force(
        numbers(header),
        numbers(schema),
        numbers(limit),
        read_schedule(header),
        read_schedule(schema),
    )
    output: dict[str, Any] = {name: str(number) for name, number in values.items()}
    if schedule:
        output["backoff_schedule"] = [str(entry) for entry in schedule]
    return output


def read_policy(value: Any) -> retry.Policy:
    """CONF-033."""
    given = members(value, "backoff_base backoff_max backoff_jitter", "backoff_schedule")
    return retry.Policy(
        integer(given["backoff_base"]),
        integer(given["backoff_max"]),
        integer(given["backoff_jitter"]),
        read_schedule(given),
    )


def read_milliseconds(given: dict[str, Any], name: str) -> int | None:
    return integer(given[name], 0) if name in given else None


def op_backoff(value: Any) -> dict[str, Any]:
    given = members(value, "key retry_count policy", "retry_after_ms")
    name = utf8(given["key"])
    n = integer(given["retry_count"])
    policy = read_policy(given["policy"])
    delay = retry.backoff(policy, name, n, read_milliseconds(given, "retry_after_ms"))
    return {
        "delay_ms": str(delay.delay_ms),
        "base_ms": str(delay.base_ms),
        "jitter_ms": str(delay.jitter_ms),
    }


def op_decide(value: Any) -> dict[str, Any]:
    """CONF-034."""
    given = members(
        value,
        "outcome key retry_count max_retry hold_count max_hold policy",
        "reason retry_after_ms wait_ms",
    )
    outcome = choice(given["outcome"], retry.OUTCOMES)
    wait = read_milliseconds(given, "wait_ms")
    if outcome in retry.DEFERRED and wait is None:
        raise invalid("wait_ms is missing")
    decision = retry.decide(
        outcome,
        utf8(given["key"]),
        read_policy(given["policy"]),
        integer(given["retry_count"]),
        integer(given["max_retry"]),
        integer(given["hold_count"]),
        integer(given["max_hold"]),
        text(given["reason"]) if "reason" in given else None,
        read_milliseconds(given, "retry_after_ms"),
        wait,
    )
    output: dict[str, Any] = {"action": decision.action}
    if decision.action == "ACK":
        return output
    output["retry_count"] = str(decision.retry_count)
    output["hold_count"] = str(decision.hold_count)
    if decision.delay_ms is not None:
        output["delay_ms"] = str(decision.delay_ms)
    if decision.reject_reason is not None:
        output["reject_reason"] = decision.reject_reason
    return output


# --- Chapter 8


def op_classify(value: Any) -> dict[str, Any]:
    name, inner = one_of(value, ("http", "grpc", "sqlstate", "kafka", "net"))
    if name == "http":
        return {"class": classification.http(integer(inner))}
    if name == "grpc":
        return {"class": classification.grpc(integer(inner))}
    if name == "kafka":
        return {"class": classification.kafka(integer(inner))}
    if name == "sqlstate":
        return {"class": classification.sqlstate(text(inner))}
    return {"class": classification.net(text(inner))}


# --- Chapter 9


def read_fingerprint(given: dict[str, Any]) -> str | None:
    if "fingerprint" not in given:
        return None
    if not re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{16}", text(given["fingerprint"])):
        raise invalid("not a fingerprint")
    return given["fingerprint"]


def read_record(value: Any) -> dedup.Record | None:
    """CONF-036."""
    if value is None:
        return None
    required = "state fence attempts owner redrive_count position"
    optional = "fingerprint"
    state = value.get("state") if type(value) is dict else None
    if state == "PROCESSING":
        required += " lease_until_ms"
    elif state == "SUCCESS":
        optional += " result"
    given = members(value, required, optional)
    return dedup.Record(
        state=choice(given["state"], ("PROCESSING", "SUCCESS", "FAILED", "DEAD")),
        fence=integer(given["fence"], *COUNT),
        attempts=integer(given["attempts"], *COUNT),
        owner=text(given["owner"]),
        redrive_count=integer(given["redrive_count"], *COUNT),
        position=integer(given["position"], *COUNT),
        lease_until=integer(given.get("lease_until_ms", "0"), *COUNT),
        fingerprint=read_fingerprint(given),
        result=octets(given.get("result", "")),
    )


def op_admit(value: Any) -> dict[str, Any]:
    given = members(
        value, "record delivery now_ms lease_ms max_attempts owner", optional="fingerprint"
    )
    record = read_record(given["record"])
    delivery = members(given["delivery"], "redrive_count position")
    admission = dedup.admit(
        record,
        dedup.Delivery(
            redrive_count=integer(delivery["redrive_count"], *COUNT),
            position=integer(delivery["position"], *COUNT),
            owner=text(given["owner"]),
            now=integer(given["now_ms"], *COUNT),
            lease=integer(given["lease_ms"], 1, 2**63 - 1),
            max_attempts=integer(given["max_attempts"], 1, 2**63 - 1),
            fingerprint=read_fingerprint(given),
        ),
    )
    output: dict[str, Any] = {"admission": admission.verdict}
    if admission.verdict == "PROCEED":
        output["fence"] = str(admission.fence)
        output["attempts"] = str(admission.attempts)
        output["lease_until_ms"] = str(admission.lease_until)
        output["recovered"] = admission.recovered
    elif admission.verdict == "DUPLICATE":
        output["result"] = admission.result.hex()
    elif admission.verdict == "IN_PROGRESS":
        output["wait_ms"] = str(admission.wait)
    return output


# --- Chapter 10


def op_transition(value: Any) -> dict[str, Any]:
    given = members(value, "transitions current from to")
    edges = set()
    for edge in array(given["transitions"]):
        ends = members(edge, "from to")
        edges.add((text(ends["from"]), text(ends["to"])))
    current, origin, to = text(given["current"]), text(given["from"]), text(given["to"])
    return {"verdict": state_machine.verdict(edges, current, origin, to)}


# --- Chapter 6


def read_pairs(transport: str, value: Any) -> list[tuple[str, headers.Given]]:
    """CONF-038."""
    pairs: list[tuple[str, headers.Given]] = []
    for pair in array(value):
        if len(array(pair)) != 2:
            raise invalid("a header is a name and a value")
        name, given = text(pair[0]), pair[1]
        if given is None:
            pairs.append((name, None))
            continue
        form, inner = one_of(given, ("utf8", "hex", "int"))
        if form == "utf8":
            pairs.append((name, utf8(inner)))
        elif form == "hex":
            pairs.append((name, octets(inner)))
        elif transport == "amqp":
            pairs.append((name, integer(inner)))
        else:
            raise invalid("an integer, and not on AMQP")
    return pairs


def op_headers(value: Any) -> dict[str, Any]:
    given = members(value, "transport headers")
    transport = choice(given["transport"], headers.TRANSPORTS)
    read = headers.read(transport, read_pairs(transport, given["headers"]))
    return {
        "envelope": read.envelope,
        "unknown": [given["headers"][position] for position in read.unknown],
        "warnings": read.warnings,
    }


_DECISIONS = {
    "RETRY": ("delay_ms retry_count hold_count reject_reason", ""),
    "HOLD": ("delay_ms retry_count hold_count reject_reason", ""),
    "DEFER": ("delay_ms retry_count hold_count", ""),
    "DEAD_LETTER": ("reject_reason", "retry_count hold_count"),
    "REDRIVE": ("redrive_count", "drop_fingerprint"),
}


def read_decision(value: Any) -> dict[str, Any]:
    """CONF-039."""
    action = value.get("action") if type(value) is dict else None
    required, optional = _DECISIONS[choice(action, _DECISIONS)]
    given = members(value, "action " + required, optional)
    decision: dict[str, Any] = {"action": action}
    for name in ("delay_ms", "retry_count", "hold_count", "redrive_count"):
        if name in given:
            decision[name] = integer(given[name], *COUNT)
    if "reject_reason" in given:
        utf8(given["reject_reason"])
        decision["reject_reason"] = given["reject_reason"]
    if "drop_fingerprint" in given:
        decision["drop_fingerprint"] = true(given["drop_fingerprint"])
    return decision


def write_value(raw: bytes) -> dict[str, str]:
    try:
        return {"utf8": raw.decode("utf-8", "strict")}
    except UnicodeDecodeError:
        return {"hex": raw.hex()}


def op_next_headers(value: Any) -> dict[str, Any]:
    given = members(value, "transport headers decision scope topic now_ms")
    transport = choice(given["transport"], headers.TRANSPORTS)
    pairs = read_pairs(transport, given["headers"])
    delivery = headers.NextDelivery(
        scope=text(given["scope"]),
        topic=text(given["topic"]),
        now_ms=integer(given["now_ms"], *COUNT),
        **read_decision(given["decision"]),
    )
    written, unknown = headers.next_headers(transport, pairs, delivery)
    output = [[name, write_value(raw)] for name, raw in written]
    output += [given["headers"][position] for position in unknown]
    return {"headers": output}


# --- Messages


def op_message(value: Any) -> dict[str, Any]:
    """CONF-040 to CONF-042."""
    from . import message  # the one module that needs protobuf

    given = members(value, "type payload", "context")
    type_name, payload = text(given["type"]), octets(given["payload"])
    names = "event_id topic produced_at traceparent tracestate"
    context = members(given.get("context", {}), "", names)
    for inner in context.values():
        utf8(inner)
    if "produced_at" in context:
        context = {**context, "produced_at": read_produced_at(context["produced_at"])}
    context = {name: inner for name, inner in context.items() if inner}  # HDR-022
    descriptor = message.find(type_name)
    settings = descriptor and message.options(descriptor, message.MESSAGE_OPTIONS)
    if settings is None:
        raise invalid(f"{type_name} is not known or not annotated")
    sent = message.produce(settings, message.parse(descriptor, payload), context)
    output: dict[str, Any] = {
        "event_type": sent.event_type,
        "idempotency_key": sent.idempotency_key,
        "headers": [[name, {"utf8": written}] for name, written in sent.headers],
    }
    for name in ("idempotency_key_previous", "biz_key", "fingerprint"):
        if getattr(sent, name) is not None:
            output[name] = getattr(sent, name)
    return output


def read_produced_at(written: str) -> str:
    """A time in the form of HDR-003, as HDR-020 writes it."""
    try:
        headers.check(
            "kafka",
            headers.BY_NAME["produced_at"],
            [headers.Value(written.encode(), written.encode())],
        )
    except Fault:
        raise invalid("produced_at is not in the form of HDR-003") from None
    return canonical_text.timestamp_of_text(written, 3)


# --- The operations


def _texts(read: Callable[[Any], Compute]) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {"text": read(value)()}


OPERATIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "decimal": _texts(read_decimal),
    "money": _texts(read_money),
    "timestamp": _texts(read_timestamp),
    "duration": _texts(read_duration),
    "date": _texts(read_date),
    "uuid": _texts(read_uuid),
    "component": _texts(read_component),
    "key": op_key,
    "fingerprint": op_fingerprint,
    "hash": op_hash,
    "shard": op_shard,
    "lane": op_lane,
    "kafka_partition": op_kafka_partition,
    "policy": op_policy,
    "backoff": op_backoff,
    "decide": op_decide,
    "admit": op_admit,
    "transition": op_transition,
    "headers": op_headers,
    "next_headers": op_next_headers,
    "classify": op_classify,
    "message": op_message,
}


def answer(op: str, value: Any) -> dict[str, Any]:
    """What a port says about a case: an output, an error and its detail, or unsupported."""
    compute = OPERATIONS.get(op)
    if compute is None:
        return {"unsupported": True}
    try:
        return {"output": compute(value)}
    except Fault as fault:
        return {"error": fault.code, "detail": fault.detail}
