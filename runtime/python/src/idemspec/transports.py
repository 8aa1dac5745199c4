"""How each transport names headers and writes their values (HDR-040 to HDR-045)."""

from __future__ import annotations

import re
from enum import Enum

from .header_table import HEADERS, Header

HeaderValue = str | bytes | int | None
"""What clients give: text, raw bytes, an integer (AMQP), or null."""


class Transport(Enum):
    """What carries a message and its headers."""

    KAFKA = "kafka"
    AMQP = "amqp"
    HTTP = "http"
    CLOUDEVENTS = "cloudevents"


_HTTP_NAMES = {
    "idempotency_key": "Idempotency-Key",
    "traceparent": "traceparent",
    "tracestate": "tracestate",
    "idem_spec": "Idem-Spec",
}
_CLOUDEVENTS_NAMES = {
    "event_id": "id",
    "event_type": "type",
    "occurred_at": "time",
    "biz_key": "partitionkey",
}


def _name(transport: Transport, name: str) -> str:
    if transport is Transport.HTTP:
        words = "-".join(word.capitalize() for word in name.split("_"))
        return _HTTP_NAMES.get(name, f"Idem-{words}")
    if transport is Transport.CLOUDEVENTS:
        return _CLOUDEVENTS_NAMES.get(name, name.replace("_", ""))
    return name


WIRE_NAMES = {
    transport: {header.name: _name(transport, header.name) for header in HEADERS}
    for transport in Transport
}
"""The name of each header on each transport."""

_KNOWN = {
    transport: {_name(transport, header.name): header for header in HEADERS}
    for transport in Transport
}
_KNOWN_IN_LOWER_CASE = {name.lower(): header for name, header in _KNOWN[Transport.HTTP].items()}

_sf_string = re.compile(rb'"((?:[ !#-\[\]-~]|\\["\\])*)"').fullmatch
_escaped = re.compile(rb'\\(["\\])')
_not_in_http = re.compile("[^ -~]")


def known_header(transport: Transport, name: str) -> Header | None:
    """The header of a name on a transport, or None where it is unknown."""
    if transport is Transport.HTTP:
        # Not for all of Unicode: U+212A, the kelvin sign, is a "k" in lower case.
        return _KNOWN_IN_LOWER_CASE.get(name.lower()) if name.isascii() else None
    return _KNOWN[transport].get(name)


def raw_bytes(transport: Transport, value: str | bytes | int) -> bytes:
    """The bytes of a value: an integer's base 10 text; over HTTP without the blanks around it.

    Half a surrogate pair becomes bytes that are ill-formed too.
    """
    if isinstance(value, int):
        value = str(value)
    if isinstance(value, str):
        value = value.encode(errors="surrogatepass")
    return value.strip(b" \t") if transport is Transport.HTTP else value


def identity(transport: Transport, header: Header, raw: bytes) -> bytes:
    """The bytes that a value stands for: over HTTP, a quoted key is the key (HDR-043).

    What begins with `"` and is no quoted string gets a mark before it that is in no key, in no
    quoted string and before no other value; so it is a fault, and equal to itself alone.
    """
    quoted = transport is Transport.HTTP and header.name == "idempotency_key"
    if not quoted or not raw.startswith(b'"'):
        return raw
    parsed = _sf_string(raw)
    return _escaped.sub(rb"\1", parsed[1]) if parsed else b" \n" + raw


def can_carry(transport: Transport, value: str) -> bool:
    """Whether a value may stand in a header: over HTTP, in 20 to 7E alone."""
    return transport is not Transport.HTTP or not _not_in_http.search(value)


def written(transport: Transport, name: str, value: str) -> str:
    """A header's text as a writer of the transport writes it (HDR-043, HDR-044)."""
    if transport is Transport.HTTP:
        if name == "idempotency_key":
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        if name == "reject_reason":
            return _not_in_http.sub("?", value)
    return value
