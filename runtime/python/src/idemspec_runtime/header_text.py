"""Headers as one text in a database, the same in every language (CONS-031).

[["event_type","payments.failed"],["note",null],["blob",{"base64":"/wA="}],["n",{"integer":"7"}]]
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode

from idemspec.transports import HeaderValue

Headers = list[tuple[str, HeaderValue]]

_must_escape = re.compile(r'["\\\x00-\x1f]')
_is_integer = re.compile(r"-?[0-9]+").fullmatch
_surrogate = re.compile("[\ud800-\udfff]")


def encode_headers(headers: Headers) -> str:
    """The JSON of headers. A name that is no UTF-8 has its bytes as surrogates, as Python does
    it."""
    pairs = (f"[{_text(_name(name))},{_value(value)}]" for name, value in headers)
    return f"[{','.join(pairs)}]"


def _name(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _value(value: HeaderValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, int):
        return f'{{"integer":"{value}"}}'
    return _text(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def _text(raw: bytes) -> str:
    """A string, or base64 where a column of text cannot hold the bytes."""
    if b"\0" not in raw:
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            pass
        else:
            return f'"{_must_escape.sub(_escape, text)}"'
    return f'{{"base64":"{b64encode(raw).decode()}"}}'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return "\\" + char if char in '"\\' else f"\\u{ord(char):04x}"


def decode_headers(text: str) -> Headers:
    """The headers of a text; ValueError where it is none of that shape."""
    pairs = json.loads(text)
    if not isinstance(pairs, list):
        raise ValueError("decode headers: the text is no array")
    headers: Headers = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("decode headers: an entry is no pair")
        name, value = _decoded(pair[0]), _decoded(pair[1])
        if isinstance(name, bytes):
            name = name.decode("utf-8", "surrogateescape")
        if not isinstance(name, str):
            raise ValueError("decode headers: a name is text, or base64")
        headers.append((name, value))
    return headers


def _decoded(value: object) -> HeaderValue:
    if value is None:
        return None
    if isinstance(value, str) and not _surrogate.search(value):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((kind, inner),) = value.items()
        if kind == "base64" and isinstance(inner, str):
            return b64decode(inner, validate=True)
        if kind == "integer" and isinstance(inner, str) and _is_integer(inner):
            return int(inner)
    raise ValueError("decode headers: a value is null, text, base64 or an integer")
