import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Color(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COLOR_UNSPECIFIED: _ClassVar[Color]
    COLOR_RED: _ClassVar[Color]

class Light(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIGHT_UNSPECIFIED: _ClassVar[Light]
    LIGHT_GREEN: _ClassVar[Light]
    LIGHT_YELLOW: _ClassVar[Light]
    LIGHT_RED: _ClassVar[Light]

class Fault(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_UNSPECIFIED: _ClassVar[Fault]
    FAULT_DARK: _ClassVar[Fault]
COLOR_UNSPECIFIED: Color
COLOR_RED: Color
LIGHT_UNSPECIFIED: Light
LIGHT_GREEN: Light
LIGHT_YELLOW: Light
LIGHT_RED: Light
FAULT_UNSPECIFIED: Fault
FAULT_DARK: Fault

class Opaque(_message.Message):
    __slots__ = ("text", "implicit", "number", "data", "flag", "color", "sub", "wrapped", "at", "chosen", "other")
    class Sub(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMPLICIT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    SUB_FIELD_NUMBER: _ClassVar[int]
    WRAPPED_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    text: str
    implicit: str
    number: int
    data: bytes
    flag: bool
    color: Color
    sub: Opaque.Sub
    wrapped: _wrappers_pb2.Int64Value
    at: _timestamp_pb2.Timestamp
    chosen: str
    other: int
    def __init__(self, text: _Optional[str] = ..., implicit: _Optional[str] = ..., number: _Optional[int] = ..., data: _Optional[bytes] = ..., flag: _Optional[bool] = ..., color: _Optional[_Union[Color, str]] = ..., sub: _Optional[_Union[Opaque.Sub, _Mapping]] = ..., wrapped: _Optional[_Union[_wrappers_pb2.Int64Value, _Mapping]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., chosen: _Optional[str] = ..., other: _Optional[int] = ...) -> None: ...

class OpaqueNames(_message.Message):
    __slots__ = ("id", "has_id", "get_id", "build", "_x", "x_x", "idem_key")
    ID_FIELD_NUMBER: _ClassVar[int]
    HAS_ID_FIELD_NUMBER: _ClassVar[int]
    GET_ID_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    _X_FIELD_NUMBER: _ClassVar[int]
    X_X_FIELD_NUMBER: _ClassVar[int]
    IDEM_KEY_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    id: str
    has_id: str
    get_id: str
    build: str
    _x: str
    x_x: str
    idem_key: str
    def __init__(self, id: _Optional[str] = ..., has_id: _Optional[str] = ..., get_id: _Optional[str] = ..., build: _Optional[str] = ..., _x: _Optional[str] = ..., x_x: _Optional[str] = ..., idem_key: _Optional[str] = ..., **kwargs) -> None: ...

class Hybrid(_message.Message):
    __slots__ = ("id", "has_id", "implicit", "chosen", "sub")
    ID_FIELD_NUMBER: _ClassVar[int]
    HAS_ID_FIELD_NUMBER: _ClassVar[int]
    IMPLICIT_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_FIELD_NUMBER: _ClassVar[int]
    SUB_FIELD_NUMBER: _ClassVar[int]
    id: str
    has_id: str
    implicit: str
    chosen: str
    sub: Opaque.Sub
    def __init__(self, id: _Optional[str] = ..., has_id: _Optional[str] = ..., implicit: _Optional[str] = ..., chosen: _Optional[str] = ..., sub: _Optional[_Union[Opaque.Sub, _Mapping]] = ...) -> None: ...

class Open(_message.Message):
    __slots__ = ("id", "data", "chosen")
    ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_FIELD_NUMBER: _ClassVar[int]
    id: str
    data: bytes
    chosen: str
    def __init__(self, id: _Optional[str] = ..., data: _Optional[bytes] = ..., chosen: _Optional[str] = ...) -> None: ...

class Nested(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...
