"""What there is to test: every message with a key, and its class of generated code."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before all others: where a file has `import option`, whoever reads its options first finds none
# unless this module is there.
from idem.v1 import options_pb2  # isort: skip
from google.protobuf.message_factory import GetMessageClass

GEN = Path(__file__).parent.parent / "gen"

MESSAGE: Any = options_pb2.message
FIELD: Any = options_pb2.field
STATE_MACHINE: Any = options_pb2.state_machine
STATE: Any = options_pb2.state
ERROR: Any = options_pb2.error


@dataclass(frozen=True)
class Annotated:
    """A message of the schema and the class that was generated for it."""

    descriptor: Any
    options: Any
    idem: Any

    def new(self) -> Any:
        return GetMessageClass(self.descriptor)()

    def __str__(self) -> str:
        return str(self.descriptor.name)


@dataclass(frozen=True)
class AnnotatedEnum:
    """An enum of the schema and the class that was generated for it."""

    descriptor: Any
    idem: Any

    def __str__(self) -> str:
        return str(self.descriptor.name)


def modules() -> Iterable[tuple[Any, Any]]:
    """protoc's modules, and idem's beside them."""
    for path in sorted(GEN.glob("idem/conformance/**/*_pb2.py")):
        name = ".".join(path.relative_to(GEN).with_suffix("").parts)
        yield importlib.import_module(name), importlib.import_module(name[:-4] + "_idem")


def nested(descriptors: Iterable[Any]) -> Iterable[Any]:
    for descriptor in descriptors:
        yield descriptor
        yield from nested(descriptor.nested_types)


def class_of(module: Any, descriptor: Any) -> Any:
    name = descriptor.full_name.removeprefix(descriptor.file.package + ".")
    return getattr(module, name.replace(".", "") + "Idem", None)


def annotated() -> Iterable[Annotated]:
    for pb2, idem in modules():
        for descriptor in nested(pb2.DESCRIPTOR.message_types_by_name.values()):
            options = descriptor.GetOptions()
            if options.HasExtension(MESSAGE):
                yield Annotated(descriptor, options.Extensions[MESSAGE], class_of(idem, descriptor))


def enums() -> Iterable[AnnotatedEnum]:
    for pb2, idem in modules():
        of_messages = (
            enum
            for message in nested(pb2.DESCRIPTOR.message_types_by_name.values())
            for enum in message.enum_types
        )
        for enum in (*pb2.DESCRIPTOR.enum_types_by_name.values(), *of_messages):
            errors = any(value.GetOptions().HasExtension(ERROR) for value in enum.values)
            if errors or enum.GetOptions().HasExtension(STATE_MACHINE):
                yield AnnotatedEnum(enum, class_of(idem, enum))


MESSAGES = list(annotated())
ENUMS = list(enums())
