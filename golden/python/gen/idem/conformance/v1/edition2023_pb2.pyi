import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Edition2023Closed(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EDITION2023_CLOSED_UNSPECIFIED: _ClassVar[Edition2023Closed]
    EDITION2023_CLOSED_ONE: _ClassVar[Edition2023Closed]

class Edition2023Open(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EDITION2023_OPEN_UNSPECIFIED: _ClassVar[Edition2023Open]
    EDITION2023_OPEN_ONE: _ClassVar[Edition2023Open]
EDITION2023_CLOSED_UNSPECIFIED: Edition2023Closed
EDITION2023_CLOSED_ONE: Edition2023Closed
EDITION2023_OPEN_UNSPECIFIED: Edition2023Open
EDITION2023_OPEN_ONE: Edition2023Open

class Edition2023Presence(_message.Message):
    __slots__ = ("implicit", "explicit", "required", "number", "counted")
    IMPLICIT_FIELD_NUMBER: _ClassVar[int]
    EXPLICIT_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    implicit: str
    explicit: str
    required: str
    number: int
    counted: int
    def __init__(self, implicit: _Optional[str] = ..., explicit: _Optional[str] = ..., required: _Optional[str] = ..., number: _Optional[int] = ..., counted: _Optional[int] = ...) -> None: ...

class Edition2023Text(_message.Message):
    __slots__ = ("unchecked", "unchecked_explicit", "checked")
    UNCHECKED_FIELD_NUMBER: _ClassVar[int]
    UNCHECKED_EXPLICIT_FIELD_NUMBER: _ClassVar[int]
    CHECKED_FIELD_NUMBER: _ClassVar[int]
    unchecked: str
    unchecked_explicit: str
    checked: str
    def __init__(self, unchecked: _Optional[str] = ..., unchecked_explicit: _Optional[str] = ..., checked: _Optional[str] = ...) -> None: ...

class Edition2023Rest(_message.Message):
    __slots__ = ("open", "closed", "delimited", "sub", "text", "at")
    class Sub(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    OPEN_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    DELIMITED_FIELD_NUMBER: _ClassVar[int]
    SUB_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    open: Edition2023Open
    closed: Edition2023Closed
    delimited: Edition2023Rest.Sub
    sub: Edition2023Rest.Sub
    text: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, open: _Optional[_Union[Edition2023Open, str]] = ..., closed: _Optional[_Union[Edition2023Closed, str]] = ..., delimited: _Optional[_Union[Edition2023Rest.Sub, _Mapping]] = ..., sub: _Optional[_Union[Edition2023Rest.Sub, _Mapping]] = ..., text: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
