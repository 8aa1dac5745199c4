"""The operation `message`, over generated code (CONF-040 to CONF-043)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import shapes
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from idemspec import Context, IdemError
from idemspec.header_table import HEADERS
from shapes import Members, Object

GENERATED = Path(__file__).parents[2] / "golden" / "python" / "gen"

_MESSAGE = Members("type payload", "context")
_CONTEXT = Members("", "event_id topic produced_at traceparent tracestate")
_PRODUCED_AT = next(header for header in HEADERS if header.name == "produced_at")
_SHOWN = ("idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint")


def message(given: object) -> Object:
    given = _MESSAGE.of(given)
    name, payload = shapes.text(given["type"]), shapes.hexadecimal(given["payload"])
    context = _context(given.get("context", {}))
    if name not in annotated():
        shapes.invalid("annotated message", name)
    of, idem = annotated()[name]
    headers = idem.headers(_parsed(of, payload), context)
    values = dict(headers)
    output: Object = {shown: values[shown] for shown in _SHOWN if shown in values}
    output["event_type"] = idem.EVENT_TYPE
    output["headers"] = [[header, {"utf8": value}] for header, value in headers]
    return output


def _context(given: object) -> Context:
    values = {name: shapes.text(value) for name, value in _CONTEXT.of(given).items()}
    if "produced_at" in values and _PRODUCED_AT.check(values["produced_at"]):
        shapes.invalid("time of a header", values["produced_at"])
    return Context(**values)


def _parsed(of: type[Message], payload: bytes) -> Message:
    try:
        parsed = of.FromString(payload)
    except DecodeError as error:
        raise IdemError("PAYLOAD_INVALID", f"does not parse: {error}", "payload") from None
    if not parsed.IsInitialized():
        raise IdemError("PAYLOAD_INVALID", "lacks a required field", "payload")
    return parsed


@cache
def annotated() -> dict[str, tuple[type[Message], Any]]:
    """protoc's class and idem's of each annotated message, by the message's full name."""
    sys.path.insert(0, str(GENERATED))
    return dict(_annotated())


def _annotated() -> Iterator[tuple[str, tuple[type[Message], Any]]]:
    for path in sorted(GENERATED.glob("**/*_idem.py")):
        module = ".".join(path.relative_to(GENERATED).with_suffix("").parts)
        idem = importlib.import_module(module)
        file = importlib.import_module(f"{module.removesuffix('_idem')}_pb2").DESCRIPTOR
        for descriptor in _nested(file.message_types_by_name.values()):
            local = descriptor.full_name.removeprefix(f"{file.package}.")
            of = getattr(idem, f"{local.replace('.', '')}Idem", None)
            if of is not None:
                yield descriptor.full_name, (GetMessageClass(descriptor), of)


def _nested(descriptors: Iterable[Any]) -> Iterator[Any]:
    for descriptor in descriptors:
        yield descriptor
        yield from _nested(descriptor.nested_types)
