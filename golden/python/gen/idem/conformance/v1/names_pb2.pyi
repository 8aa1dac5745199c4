from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class mood(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MOOD_UNSPECIFIED: _ClassVar[mood]
    MOOD_None: _ClassVar[mood]
    MOOD_class: _ClassVar[mood]
MOOD_UNSPECIFIED: mood
MOOD_None: mood
MOOD_class: mood

class Names(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Keywords(_message.Message):
    __slots__ = ("self", "type", "func", "range", "package", "interface", "switch", "int", "default", "go", "map", "string", "message", "oneof", "option", "repeated", "new", "this", "null", "public", "void", "Object", "dst", "start", "err", "idem")
    CLASS_FIELD_NUMBER: _ClassVar[int]
    NONE_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    IMPORT_FIELD_NUMBER: _ClassVar[int]
    DEF_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_FIELD_NUMBER: _ClassVar[int]
    SELF_FIELD_NUMBER: _ClassVar[int]
    TRUE_FIELD_NUMBER: _ClassVar[int]
    ASYNC_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    FUNC_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    PACKAGE_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    SWITCH_FIELD_NUMBER: _ClassVar[int]
    INT_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FIELD_NUMBER: _ClassVar[int]
    RETURN_FIELD_NUMBER: _ClassVar[int]
    GO_FIELD_NUMBER: _ClassVar[int]
    MAP_FIELD_NUMBER: _ClassVar[int]
    STRING_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ONEOF_FIELD_NUMBER: _ClassVar[int]
    OPTION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    THIS_FIELD_NUMBER: _ClassVar[int]
    NULL_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_FIELD_NUMBER: _ClassVar[int]
    VOID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    DST_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    ERR_FIELD_NUMBER: _ClassVar[int]
    IDEM_FIELD_NUMBER: _ClassVar[int]
    self: str
    type: str
    func: str
    range: str
    package: str
    interface: str
    switch: str
    int: str
    default: str
    go: str
    map: str
    string: str
    message: str
    oneof: str
    option: str
    repeated: str
    new: str
    this: str
    null: str
    public: str
    void: str
    Object: str
    dst: str
    start: str
    err: str
    idem: str
    def __init__(self_, self: _Optional[str] = ..., type: _Optional[str] = ..., func: _Optional[str] = ..., range: _Optional[str] = ..., package: _Optional[str] = ..., interface: _Optional[str] = ..., switch: _Optional[str] = ..., int: _Optional[str] = ..., default: _Optional[str] = ..., go: _Optional[str] = ..., map: _Optional[str] = ..., string: _Optional[str] = ..., message: _Optional[str] = ..., oneof: _Optional[str] = ..., option: _Optional[str] = ..., repeated: _Optional[str] = ..., new: _Optional[str] = ..., this: _Optional[str] = ..., null: _Optional[str] = ..., public: _Optional[str] = ..., void: _Optional[str] = ..., Object: _Optional[str] = ..., dst: _Optional[str] = ..., start: _Optional[str] = ..., err: _Optional[str] = ..., idem: _Optional[str] = ..., **kwargs) -> None: ...

class Methods(_message.Message):
    __slots__ = ("reset", "marshal", "unmarshal", "proto_message", "extension_map", "_x", "cached_size", "foo", "get_foo", "has_foo")
    RESET_FIELD_NUMBER: _ClassVar[int]
    MARSHAL_FIELD_NUMBER: _ClassVar[int]
    UNMARSHAL_FIELD_NUMBER: _ClassVar[int]
    PROTO_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EXTENSION_MAP_FIELD_NUMBER: _ClassVar[int]
    _X_FIELD_NUMBER: _ClassVar[int]
    CLASS_FIELD_NUMBER: _ClassVar[int]
    CACHED_SIZE_FIELD_NUMBER: _ClassVar[int]
    FOO_FIELD_NUMBER: _ClassVar[int]
    GET_FOO_FIELD_NUMBER: _ClassVar[int]
    HAS_FOO_FIELD_NUMBER: _ClassVar[int]
    reset: str
    marshal: str
    unmarshal: str
    proto_message: str
    extension_map: str
    _x: str
    cached_size: str
    foo: str
    get_foo: str
    has_foo: str
    def __init__(self, reset: _Optional[str] = ..., marshal: _Optional[str] = ..., unmarshal: _Optional[str] = ..., proto_message: _Optional[str] = ..., extension_map: _Optional[str] = ..., _x: _Optional[str] = ..., cached_size: _Optional[str] = ..., foo: _Optional[str] = ..., get_foo: _Optional[str] = ..., has_foo: _Optional[str] = ..., **kwargs) -> None: ...

class Collisions(_message.Message):
    __slots__ = ("bar_count", "bar", "color", "color_value")
    class Colour(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        COLOUR_UNSPECIFIED: _ClassVar[Collisions.Colour]
        COLOUR_RED: _ClassVar[Collisions.Colour]
    COLOUR_UNSPECIFIED: Collisions.Colour
    COLOUR_RED: Collisions.Colour
    BAR_COUNT_FIELD_NUMBER: _ClassVar[int]
    BAR_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    COLOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    bar_count: str
    bar: _containers.RepeatedScalarFieldContainer[str]
    color: Collisions.Colour
    color_value: str
    def __init__(self, bar_count: _Optional[str] = ..., bar: _Optional[_Iterable[str]] = ..., color: _Optional[_Union[Collisions.Colour, str]] = ..., color_value: _Optional[str] = ...) -> None: ...

class Cases(_message.Message):
    __slots__ = ("UPPER", "camelCase", "PascalCase", "with__two", "with_2digits", "trailing_", "x1y2", "URLPath")
    UPPER_FIELD_NUMBER: _ClassVar[int]
    CAMELCASE_FIELD_NUMBER: _ClassVar[int]
    PASCALCASE_FIELD_NUMBER: _ClassVar[int]
    WITH__TWO_FIELD_NUMBER: _ClassVar[int]
    WITH_2DIGITS_FIELD_NUMBER: _ClassVar[int]
    TRAILING__FIELD_NUMBER: _ClassVar[int]
    X1Y2_FIELD_NUMBER: _ClassVar[int]
    URLPATH_FIELD_NUMBER: _ClassVar[int]
    UPPER: str
    camelCase: str
    PascalCase: str
    with__two: str
    with_2digits: str
    trailing_: str
    x1y2: str
    URLPath: str
    def __init__(self, UPPER: _Optional[str] = ..., camelCase: _Optional[str] = ..., PascalCase: _Optional[str] = ..., with__two: _Optional[str] = ..., with_2digits: _Optional[str] = ..., trailing_: _Optional[str] = ..., x1y2: _Optional[str] = ..., URLPath: _Optional[str] = ...) -> None: ...

class None(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class String(_message.Message):
    __slots__ = ("string",)
    STRING_FIELD_NUMBER: _ClassVar[int]
    string: str
    def __init__(self, string: _Optional[str] = ...) -> None: ...

class Object(_message.Message):
    __slots__ = ("inner",)
    class Integer(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    INNER_FIELD_NUMBER: _ClassVar[int]
    inner: Object.Integer
    def __init__(self, inner: _Optional[_Union[Object.Integer, _Mapping]] = ...) -> None: ...

class lower_case(_message.Message):
    __slots__ = ("id",)
    class lambda(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...
