from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Color(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COLOR_UNSPECIFIED: _ClassVar[Color]
    COLOR_RED: _ClassVar[Color]
    COLOR_INFRARED: _ClassVar[Color]
    COLOR_LAST: _ClassVar[Color]

class Shade(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SHADE_UNSPECIFIED: _ClassVar[Shade]
    SHADE_GREY: _ClassVar[Shade]
    SHADE_GRAY: _ClassVar[Shade]
COLOR_UNSPECIFIED: Color
COLOR_RED: Color
COLOR_INFRARED: Color
COLOR_LAST: Color
SHADE_UNSPECIFIED: Shade
SHADE_GREY: Shade
SHADE_GRAY: Shade

class ScalarsImplicit(_message.Message):
    __slots__ = ("int32_value", "int64_value", "uint32_value", "uint64_value", "sint32_value", "sint64_value", "fixed32_value", "fixed64_value", "sfixed32_value", "sfixed64_value", "bool_value", "string_value", "bytes_value", "color_value")
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    int32_value: int
    int64_value: int
    uint32_value: int
    uint64_value: int
    sint32_value: int
    sint64_value: int
    fixed32_value: int
    fixed64_value: int
    sfixed32_value: int
    sfixed64_value: int
    bool_value: bool
    string_value: str
    bytes_value: bytes
    color_value: Color
    def __init__(self, int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., sint32_value: _Optional[int] = ..., sint64_value: _Optional[int] = ..., fixed32_value: _Optional[int] = ..., fixed64_value: _Optional[int] = ..., sfixed32_value: _Optional[int] = ..., sfixed64_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., color_value: _Optional[_Union[Color, str]] = ...) -> None: ...

class ScalarsImplicitAllow(_message.Message):
    __slots__ = ("int32_value", "int64_value", "uint32_value", "uint64_value", "sint32_value", "sint64_value", "fixed32_value", "fixed64_value", "sfixed32_value", "sfixed64_value", "bool_value", "string_value", "bytes_value", "color_value")
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    int32_value: int
    int64_value: int
    uint32_value: int
    uint64_value: int
    sint32_value: int
    sint64_value: int
    fixed32_value: int
    fixed64_value: int
    sfixed32_value: int
    sfixed64_value: int
    bool_value: bool
    string_value: str
    bytes_value: bytes
    color_value: Color
    def __init__(self, int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., sint32_value: _Optional[int] = ..., sint64_value: _Optional[int] = ..., fixed32_value: _Optional[int] = ..., fixed64_value: _Optional[int] = ..., sfixed32_value: _Optional[int] = ..., sfixed64_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., color_value: _Optional[_Union[Color, str]] = ...) -> None: ...

class ScalarsExplicit(_message.Message):
    __slots__ = ("int32_value", "int64_value", "uint32_value", "uint64_value", "sint32_value", "sint64_value", "fixed32_value", "fixed64_value", "sfixed32_value", "sfixed64_value", "bool_value", "string_value", "bytes_value", "color_value")
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    int32_value: int
    int64_value: int
    uint32_value: int
    uint64_value: int
    sint32_value: int
    sint64_value: int
    fixed32_value: int
    fixed64_value: int
    sfixed32_value: int
    sfixed64_value: int
    bool_value: bool
    string_value: str
    bytes_value: bytes
    color_value: Color
    def __init__(self, int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., sint32_value: _Optional[int] = ..., sint64_value: _Optional[int] = ..., fixed32_value: _Optional[int] = ..., fixed64_value: _Optional[int] = ..., sfixed32_value: _Optional[int] = ..., sfixed64_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., color_value: _Optional[_Union[Color, str]] = ...) -> None: ...

class ScalarsExplicitAllow(_message.Message):
    __slots__ = ("int32_value", "int64_value", "uint32_value", "uint64_value", "sint32_value", "sint64_value", "fixed32_value", "fixed64_value", "sfixed32_value", "sfixed64_value", "bool_value", "string_value", "bytes_value", "color_value")
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    int32_value: int
    int64_value: int
    uint32_value: int
    uint64_value: int
    sint32_value: int
    sint64_value: int
    fixed32_value: int
    fixed64_value: int
    sfixed32_value: int
    sfixed64_value: int
    bool_value: bool
    string_value: str
    bytes_value: bytes
    color_value: Color
    def __init__(self, int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., sint32_value: _Optional[int] = ..., sint64_value: _Optional[int] = ..., fixed32_value: _Optional[int] = ..., fixed64_value: _Optional[int] = ..., sfixed32_value: _Optional[int] = ..., sfixed64_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., color_value: _Optional[_Union[Color, str]] = ...) -> None: ...

class ScalarsOneof(_message.Message):
    __slots__ = ("int32_value", "int64_value", "uint32_value", "uint64_value", "sint32_value", "sint64_value", "fixed32_value", "fixed64_value", "sfixed32_value", "sfixed64_value", "bool_value", "string_value", "bytes_value", "color_value")
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VALUE_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    int32_value: int
    int64_value: int
    uint32_value: int
    uint64_value: int
    sint32_value: int
    sint64_value: int
    fixed32_value: int
    fixed64_value: int
    sfixed32_value: int
    sfixed64_value: int
    bool_value: bool
    string_value: str
    bytes_value: bytes
    color_value: Color
    def __init__(self, int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., sint32_value: _Optional[int] = ..., sint64_value: _Optional[int] = ..., fixed32_value: _Optional[int] = ..., fixed64_value: _Optional[int] = ..., sfixed32_value: _Optional[int] = ..., sfixed64_value: _Optional[int] = ..., bool_value: _Optional[bool] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., color_value: _Optional[_Union[Color, str]] = ...) -> None: ...

class OneofError(_message.Message):
    __slots__ = ("a", "b")
    A_FIELD_NUMBER: _ClassVar[int]
    B_FIELD_NUMBER: _ClassVar[int]
    a: str
    b: int
    def __init__(self, a: _Optional[str] = ..., b: _Optional[int] = ...) -> None: ...

class OneString(_message.Message):
    __slots__ = ("s",)
    S_FIELD_NUMBER: _ClassVar[int]
    s: str
    def __init__(self, s: _Optional[str] = ...) -> None: ...

class OneStringAllow(_message.Message):
    __slots__ = ("s",)
    S_FIELD_NUMBER: _ClassVar[int]
    s: str
    def __init__(self, s: _Optional[str] = ...) -> None: ...

class OneBytes(_message.Message):
    __slots__ = ("b",)
    B_FIELD_NUMBER: _ClassVar[int]
    b: bytes
    def __init__(self, b: _Optional[bytes] = ...) -> None: ...

class OneInteger(_message.Message):
    __slots__ = ("i",)
    I_FIELD_NUMBER: _ClassVar[int]
    i: int
    def __init__(self, i: _Optional[int] = ...) -> None: ...

class OneShade(_message.Message):
    __slots__ = ("shade",)
    SHADE_FIELD_NUMBER: _ClassVar[int]
    shade: Shade
    def __init__(self, shade: _Optional[_Union[Shade, str]] = ...) -> None: ...
