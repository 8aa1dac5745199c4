"""What a fault looks like: one exception type, with a code of chapter 13 to switch on."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "DECIMAL_SYNTAX",
    "DECIMAL_RANGE",
    "DECIMAL_SCALE",
    "MONEY_CURRENCY",
    "MONEY_RANGE",
    "TIMESTAMP_SYNTAX",
    "TIMESTAMP_RANGE",
    "DURATION_RANGE",
    "DATE_RANGE",
    "UUID_SYNTAX",
    "STRING_UTF8",
    "INT_RANGE",
    "KEY_COMPONENT_MISSING",
    "KEY_TOO_LONG",
    "KEY_EMPTY",
    "KEY_SYNTAX",
    "PARTITION_COUNT",
    "HEADER_CONFLICT",
    "HEADER_UTF8",
    "HEADER_SYNTAX",
    "HEADER_RANGE",
    "SPEC_VERSION",
    "POLICY_RANGE",
    "STATE_CYCLE",
    "STATE_UNKNOWN",
    "TRANSITION_UNDECLARED",
    "PAYLOAD_INVALID",
    "INPUT_INVALID",
]

VALUE_BYTES = 64


class Redacted(str):
    """A field's path whose values never appear in an error (`debug_redact`)."""

    __slots__ = ()


class IdemError(ValueError):
    """A value that the specification refuses.

    `code` is one of chapter 13. `field` is the path of the field, or the name of the header or the
    argument, and may be empty. `value` is the refused value, cut to 64 bytes, or None where there
    is none to show or `field` is `Redacted`. `offset` counts bytes into the value, or is None.
    """

    def __init__(
        self,
        code: Code,
        problem: str,
        field: str = "",
        value: object = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(code, problem, field, value, offset)
        if isinstance(field, Redacted):
            # args too: they are what repr(), a pickle and a crash report show.
            value = None
            self.args = (code, problem, field, None, offset)
        self.code = code
        self.problem = problem
        self.field = field
        self.value = None if value is None else cut(value)
        self.offset = offset

    def __str__(self) -> str:
        shown = None if self.value is None else f'"{self.value}"'
        subject = " ".join(part for part in (self.field, shown) if part) or "the value"
        place = "" if self.offset is None else f" at byte {self.offset}"
        return f"{subject} {self.problem} ({self.code}{place})"


def cut(value: object) -> str:
    """A value as text of at most 64 bytes of UTF-8, ending at a character's edge."""
    if isinstance(value, bytes):
        value = value[:VALUE_BYTES].decode("utf-8", "backslashreplace")
    text = str(value)[:VALUE_BYTES].encode("utf-8", "backslashreplace")
    return text[:VALUE_BYTES].decode("utf-8", "ignore")
