"""The operations of chapter 12, over the core; `message` is in messages.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import idemspec
import messages
import shapes
from idemspec.routing import check_count, lane_of_hash, shard_of_hash
from idemspec.scalars import INTEGER_TYPES
from shapes import MAX_INT63, Members, Object

Operation = Callable[[Any], Object]
Later = Callable[[], str]
"""A text still to be computed, once all shapes of an input are known."""


# Values

_DECIMAL = Members("text", "max_scale")
_DECIMAL_HEX = Members("hex", "max_scale")
_MONEY = Members("currency_code units nanos")
_RFC3339 = Members("rfc3339 fraction_digits")
_SECONDS = Members("seconds nanos fraction_digits")
_EPOCH = Members("epoch unit fraction_digits")
_DATE = Members("year month day")
_UUID = Members("text")
_INT = Members("type value")
_HEX_16 = re.compile("[0-9a-f]{16}")
_UTF16_UNIT = re.compile("[0-9a-f]{4}")


def _fraction_digits(given: Object) -> int:
    return shapes.integer_from(given["fraction_digits"], 0, 9)


def decimal(given: object) -> Later:
    if type(given) is dict and "hex" in given:
        given = _DECIMAL_HEX.of(given)
        value = idemspec.scannable(shapes.hexadecimal(given["hex"]))
    else:
        given = _DECIMAL.of(given)
        value = shapes.text(given["text"])
    scale = shapes.integer_from(given["max_scale"], 0, 255) if "max_scale" in given else None
    return partial(idemspec.decimal, value, scale)


def money(given: object) -> Later:
    given = _MONEY.of(given)
    units, nanos = shapes.integer(given["units"]), shapes.integer(given["nanos"])
    return partial(idemspec.money, shapes.text(given["currency_code"]), units, nanos)


def timestamp(given: object) -> Later:
    if type(given) is dict and "rfc3339" in given:
        given = _RFC3339.of(given)
        value = shapes.text(given["rfc3339"])
        return partial(idemspec.timestamp_of_text, value, _fraction_digits(given))
    if type(given) is dict and "epoch" in given:
        given = _EPOCH.of(given)
        epoch = shapes.integer(given["epoch"])
        unit = shapes.one_of(given["unit"], ("s", "ms", "us", "ns"))
        return partial(idemspec.timestamp_of_epoch, epoch, unit, _fraction_digits(given))
    return _seconds(idemspec.timestamp, given)


def duration(given: object) -> Later:
    return _seconds(idemspec.duration, given)


def _seconds(of: Callable[[int, int, int], str], given: object) -> Later:
    given = _SECONDS.of(given)
    seconds, nanos = shapes.integer(given["seconds"]), shapes.integer(given["nanos"])
    return partial(of, seconds, nanos, _fraction_digits(given))


def date(given: object) -> Later:
    given = _DATE.of(given)
    year, month, day = (shapes.integer(given[name]) for name in ("year", "month", "day"))
    return partial(idemspec.date, year, month, day)


def uuid(given: object) -> Later:
    return partial(idemspec.uuid, shapes.text(_UUID.of(given)["text"]))


# Components and keys


def _text(value: object) -> Later:
    return partial(idemspec.well_formed, shapes.text(value))


def _hex_utf8(value: object) -> Later:
    return partial(idemspec.well_formed, shapes.hexadecimal(value))


def _utf16(value: object) -> Later:
    units = [shapes.matching(u, _UTF16_UNIT, "code unit") for u in shapes.items(value)]
    # Pairs become one character; halves stay, and are ill-formed in a str too.
    decoded = bytes.fromhex("".join(units)).decode("utf-16-be", "surrogatepass")
    return partial(idemspec.well_formed, decoded)


def _bool(value: object) -> Later:
    return partial(idemspec.boolean, shapes.boolean(value))


def _enum(value: object) -> Later:
    return partial(idemspec.enum_number, shapes.integer(value))


def _int(value: object) -> Later:
    given = _INT.of(value)
    of = shapes.one_of(given["type"], INTEGER_TYPES)
    return partial(idemspec.integer, shapes.integer(given["value"]), of)


def _missing(value: object) -> Later:
    shapes.true(value)
    return partial(idemspec.missing, "component")


_STRINGS = {"string": _text, "hex_utf8": _hex_utf8, "utf16": _utf16}
_VALUES = {
    "bool": _bool,
    "enum": _enum,
    "int": _int,
    "missing": _missing,
    "decimal": decimal,
    "money": money,
    "timestamp": timestamp,
    "duration": duration,
    "date": date,
    "uuid": uuid,
}


_WHOLE: Object = {"limit": None}
_FOR_A_KEY: Object = {}


def component(given: object, limit: Object, digest: bool = False) -> Later:
    """A component, written as a whole or as far as a key can need it."""
    if type(given) is not dict or len(given) != 1:
        shapes.invalid("component of one member", given)
    ((name, value),) = given.items()
    if name == "absent":
        shapes.true(value)
        return partial(str, idemspec.ABSENT)
    if name == "sha256" and not digest:
        return component(value, _WHOLE, digest=True)
    later: Later
    if name == "bytes":
        later = partial(idemspec.hexadecimal, shapes.hexadecimal(value), **limit)
    elif name in _STRINGS:
        later = _STRINGS[name](value)
        if not digest:
            return lambda: idemspec.text(later(), "component", **limit)
    elif name in _VALUES:
        later = _VALUES[name](value)
    else:
        shapes.invalid("component", given)
    return (lambda: idemspec.digest(later(), "component")) if digest else later


_LITERAL = Members("literal")
_COMPONENT = Members("component")
_LITERAL_TEXT = re.compile("[A-Za-z0-9._-]+")


def _segment(given: object) -> str | Later:
    if type(given) is dict and "literal" in given:
        return shapes.matching(_LITERAL.of(given)["literal"], _LITERAL_TEXT, "literal")
    return component(_COMPONENT.of(given)["component"], _FOR_A_KEY)


def _segments(given: object) -> list[str | Later]:
    segments = [_segment(segment) for segment in shapes.items(given)]
    if not segments:
        shapes.invalid("list of at least one segment")
    return segments


_KEY = Members("segments")
_FINGERPRINT = Members("template segments")


def key(given: object) -> Object:
    return {"key": idemspec.render(_segments(_KEY.of(given)["segments"]))}


def fingerprint(given: object) -> Object:
    given = _FINGERPRINT.of(given)
    template, segments = shapes.text(given["template"]), _segments(given["segments"])
    tag = idemspec.template_tag(template)
    return {"fingerprint": idemspec.fingerprint(tag, idemspec.render(segments))}


# Hash and routing

_HASH = Members("hex")
_BY_KEY = Members("key n")
_BY_HASH = Members("hash n")


def hashed(given: object) -> Object:
    return {"xxh64": idemspec.hash_text(shapes.hexadecimal(_HASH.of(given)["hex"]))}


def _routed(
    name: str, by_key: Callable[[str, int], int], by_hash: Callable[[int, int], int]
) -> Operation:
    def routed(given: object) -> Object:
        if type(given) is dict and "hash" in given:
            given = _BY_HASH.of(given)
            number = int(shapes.matching(given["hash"], _HEX_16, "hash"), 16)
            n = shapes.integer(given["n"])
            check_count(n)
            return {name: str(by_hash(number, n))}
        given = _BY_KEY.of(given)
        return {name: str(by_key(shapes.text(given["key"]), shapes.integer(given["n"])))}

    return routed


def kafka_partition(given: object) -> Object:
    given = _BY_KEY.of(given)
    key, n = shapes.text(given["key"]), shapes.integer(given["n"])
    return {"partition": str(idemspec.kafka_partition(key, n))}


# Retry

_NAMES = "max_retry max_hold backoff_base backoff_max backoff_jitter"
_POLICY = Members("header schema limit")
_VALUES_OF_POLICY = Members("", f"{_NAMES} backoff_schedule")
_LIMITS = Members("", _NAMES)
_BACKOFF = Members("key retry_count policy", "retry_after_ms")
_BACKOFF_POLICY = Members("backoff_base backoff_max backoff_jitter", "backoff_schedule")
_DECIDE = Members(
    "outcome key retry_count max_retry hold_count max_hold policy",
    "reason retry_after_ms wait_ms",
)
_OUTCOMES = {outcome.value: outcome for outcome in idemspec.Outcome}


def _policy_values(given: Object) -> Any:
    return {
        name: tuple(map(shapes.integer, shapes.items(value)))
        if name == "backoff_schedule"
        else shapes.integer(value)
        for name, value in given.items()
    }


def policy(given: object) -> Object:
    given = _POLICY.of(given)
    header = _policy_values(_VALUES_OF_POLICY.of(given["header"]))
    schema = _policy_values(_VALUES_OF_POLICY.of(given["schema"]))
    limit = _policy_values(_LIMITS.of(given["limit"]))
    resolved = idemspec.resolve(header, schema, limit)
    output: Object = {name: str(getattr(resolved, name)) for name in _NAMES.split()}
    if resolved.backoff_schedule:
        output["backoff_schedule"] = [str(delay) for delay in resolved.backoff_schedule]
    return output


def backoff(given: object) -> Object:
    given = _BACKOFF.of(given)
    key, n = shapes.text(given["key"]), shapes.integer(given["retry_count"])
    values = _policy_values(_BACKOFF_POLICY.of(given["policy"]))
    after = shapes.count(given.get("retry_after_ms", "0"))
    found = idemspec.backoff(key, n, idemspec.Policy(**values), after)
    return {
        "delay_ms": str(found.delay_ms),
        "base_ms": str(found.base_ms),
        "jitter_ms": str(found.jitter_ms),
    }


def decide(given: object) -> Object:
    given = _DECIDE.of(given)
    outcome = _OUTCOMES[shapes.one_of(given["outcome"], _OUTCOMES)]
    key = shapes.text(given["key"])
    retry_count, hold_count = (
        shapes.integer(given["retry_count"]),
        shapes.integer(given["hold_count"]),
    )
    values = _policy_values(_BACKOFF_POLICY.of(given["policy"]))
    values["max_retry"] = shapes.integer(given["max_retry"])
    values["max_hold"] = shapes.integer(given["max_hold"])
    extra: Object = {}
    if "reason" in given:
        extra["reason"] = shapes.text(given["reason"])
    for name in ("retry_after_ms", "wait_ms"):
        if name in given:
            extra[name] = shapes.count(given[name])
    if "wait_ms" not in extra and outcome.value in ("IN_PROGRESS", "FENCED"):
        shapes.invalid("decision without wait_ms")
    decision = idemspec.decide(
        outcome, key, retry_count, hold_count, idemspec.Policy(**values), **extra
    )
    output: Object = {"action": decision.action.value}
    for name in ("delay_ms", "retry_count", "hold_count"):
        number = getattr(decision, name)
        if number is not None:
            output[name] = str(number)
    if decision.reject_reason is not None:
        output["reject_reason"] = decision.reject_reason
    return output


# Admission and states

_ADMIT = Members("record delivery now_ms lease_ms max_attempts owner", "fingerprint")
_RECORD_NAMES = "state fence attempts owner redrive_count position"
_RECORDS = {
    "PROCESSING": Members(f"{_RECORD_NAMES} lease_until_ms", "fingerprint"),
    "SUCCESS": Members(_RECORD_NAMES, "fingerprint result"),
    "FAILED": Members(_RECORD_NAMES, "fingerprint"),
    "DEAD": Members(_RECORD_NAMES, "fingerprint"),
}
_DELIVERY = Members("redrive_count position")
_FINGERPRINT_TEXT = re.compile("[0-9a-f]{8}-[0-9a-f]{16}")


def _number(value: object) -> int:
    return shapes.integer_from(value, 0, MAX_INT63)


def _fingerprint(given: Object) -> str | None:
    if "fingerprint" not in given:
        return None
    return shapes.matching(given["fingerprint"], _FINGERPRINT_TEXT, "fingerprint")


def _record(given: object) -> idemspec.Record | None:
    if given is None:
        return None
    if type(given) is not dict:
        shapes.invalid("record", given)
    state = shapes.one_of(given.get("state"), _RECORDS)
    given = _RECORDS[state].of(given)
    return idemspec.Record(
        idemspec.RecordState(state),
        _number(given["fence"]),
        _number(given["attempts"]),
        shapes.text(given["owner"]),
        _number(given["redrive_count"]),
        _number(given["position"]),
        _number(given.get("lease_until_ms", "0")),
        shapes.hexadecimal(given.get("result", "")),
        _fingerprint(given),
    )


def admit(given: object) -> Object:
    given = _ADMIT.of(given)
    record = _record(given["record"])
    at = _DELIVERY.of(given["delivery"])
    delivery = idemspec.Delivery(
        _number(at["redrive_count"]), _number(at["position"]), _fingerprint(given)
    )
    admission = idemspec.admit(
        record,
        delivery,
        now_ms=_number(given["now_ms"]),
        lease_ms=shapes.integer_from(given["lease_ms"], 1, MAX_INT63),
        max_attempts=shapes.integer_from(given["max_attempts"], 1, MAX_INT63),
        owner=shapes.text(given["owner"]),
    )
    output: Object = {"admission": admission.verdict.value}
    if admission.verdict is idemspec.AdmissionVerdict.PROCEED:
        output["fence"] = str(admission.fence)
        output["attempts"] = str(admission.attempts)
        output["lease_until_ms"] = str(admission.lease_until_ms)
        output["recovered"] = admission.recovered
    elif admission.verdict is idemspec.AdmissionVerdict.DUPLICATE:
        output["result"] = admission.result.hex()
    elif admission.verdict is idemspec.AdmissionVerdict.IN_PROGRESS:
        output["wait_ms"] = str(admission.wait_ms)
    return output


_TRANSITION = Members("transitions current from to")
_EDGE = Members("from to")


def transition(given: object) -> Object:
    given = _TRANSITION.of(given)
    edges = [_EDGE.of(edge) for edge in shapes.items(given["transitions"])]
    pairs = [(shapes.text(edge["from"]), shapes.text(edge["to"])) for edge in edges]
    states = [shapes.text(given[name]) for name in ("current", "from", "to")]
    return {"verdict": idemspec.StateMachine(pairs).verdict(*states).value}


# Headers

_HEADERS = Members("transport headers")
_NEXT_HEADERS = Members("transport headers decision scope topic now_ms")
_COUNTS = "delay_ms retry_count hold_count"
_DECISIONS = {
    "RETRY": Members(f"action {_COUNTS} reject_reason"),
    "HOLD": Members(f"action {_COUNTS} reject_reason"),
    "DEFER": Members(f"action {_COUNTS}"),
    "DEAD_LETTER": Members("action reject_reason", "retry_count hold_count"),
    "REDRIVE": Members("action redrive_count", "drop_fingerprint"),
}
_UTF8 = Members("utf8")
_HEX = Members("hex")
_AMQP_INT = Members("int")


def _transport(value: object) -> idemspec.Transport:
    return idemspec.Transport(shapes.one_of(value, ("kafka", "amqp", "http", "cloudevents")))


def _header_value(transport: idemspec.Transport, value: object) -> str | bytes | int | None:
    if value is None:
        return None
    if type(value) is dict and "utf8" in value:
        return shapes.text(_UTF8.of(value)["utf8"])
    if type(value) is dict and "int" in value and transport is idemspec.Transport.AMQP:
        return shapes.integer(_AMQP_INT.of(value)["int"])
    return shapes.hexadecimal(_HEX.of(value)["hex"])


def _pairs(transport: idemspec.Transport, given: object) -> list[Any]:
    pairs = []
    for pair in shapes.items(given):
        if type(pair) is not list or len(pair) != 2:
            shapes.invalid("pair of a name and a value", pair)
        pairs.append((shapes.text(pair[0]), _header_value(transport, pair[1])))
    return pairs


def _written(pairs: Iterable[tuple[str, str | bytes | int | None]]) -> list[Any]:
    return [[name, _written_value(value)] for name, value in pairs]


def _written_value(value: str | bytes | int | None) -> Object | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return {"utf8": value} if isinstance(value, str) else {"int": str(value)}


def headers(given: object) -> Object:
    given = _HEADERS.of(given)
    transport = _transport(given["transport"])
    parsed = idemspec.parse_headers(transport, _pairs(transport, given["headers"]))
    return {
        "envelope": parsed.envelope,
        "unknown": _written(parsed.unknown),
        "warnings": parsed.warnings,
    }


def next_headers(given: object) -> Object:
    given = _NEXT_HEADERS.of(given)
    transport = _transport(given["transport"])
    pairs = _pairs(transport, given["headers"])
    scope, topic = shapes.text(given["scope"]), shapes.text(given["topic"])
    now_ms = _number(given["now_ms"])
    if type(given["decision"]) is not dict:
        shapes.invalid("decision", given["decision"])
    action = shapes.one_of(given["decision"].get("action"), _DECISIONS)
    decision = _DECISIONS[action].of(given["decision"])
    if action == "REDRIVE":
        if "drop_fingerprint" in decision:
            shapes.true(decision["drop_fingerprint"])
        redriven = idemspec.redrive_headers(
            transport,
            pairs,
            record_redrive_count=_number(decision["redrive_count"]),
            scope=scope,
            topic=topic,
            drop_fingerprint="drop_fingerprint" in decision,
        )
        return {"headers": _written(redriven)}
    numbers = {name: _number(decision[name]) for name in _COUNTS.split() if name in decision}
    reason = shapes.text(decision["reject_reason"]) if "reject_reason" in decision else None
    following = idemspec.next_headers(
        transport,
        pairs,
        idemspec.Decision(idemspec.Action(action), reject_reason=reason, **numbers),
        scope=scope,
        topic=topic,
        now_ms=now_ms,
    )
    return {"headers": _written(following)}


# Classification

_CLASSIFIERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], idemspec.Outcome]]] = {
    "http": (shapes.integer, idemspec.classify_http),
    "grpc": (shapes.integer, idemspec.classify_grpc),
    "sqlstate": (shapes.text, idemspec.classify_sqlstate),
    "kafka": (shapes.integer, idemspec.classify_kafka),
    "net": (shapes.text, idemspec.classify_network),
}


def classify(given: object) -> Object:
    if type(given) is not dict or len(given) != 1:
        shapes.invalid("error of one member", given)
    ((name, value),) = given.items()
    shape, classifier = _CLASSIFIERS[shapes.one_of(name, _CLASSIFIERS)]
    return {"class": classifier(shape(value)).value}


def _value(of: Callable[[object], Later]) -> Operation:
    return lambda given: {"text": of(given)()}


OPERATIONS: dict[str, Operation] = {
    "decimal": _value(decimal),
    "money": _value(money),
    "timestamp": _value(timestamp),
    "duration": _value(duration),
    "date": _value(date),
    "uuid": _value(uuid),
    "component": _value(lambda given: component(given, _WHOLE)),
    "key": key,
    "fingerprint": fingerprint,
    "hash": hashed,
    "shard": _routed("shard", idemspec.shard, shard_of_hash),
    "lane": _routed("lane", idemspec.lane, lane_of_hash),
    "kafka_partition": kafka_partition,
    "policy": policy,
    "backoff": backoff,
    "decide": decide,
    "admit": admit,
    "transition": transition,
    "headers": headers,
    "next_headers": next_headers,
    "classify": classify,
    "message": messages.message,
}
