from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf.internal import python_message as _python_message
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Proto2Closed(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROTO2_CLOSED_ONE: _ClassVar[Proto2Closed]
    PROTO2_CLOSED_TWO: _ClassVar[Proto2Closed]
PROTO2_CLOSED_ONE: Proto2Closed
PROTO2_CLOSED_TWO: Proto2Closed
PROTO2_EXTRA_FIELD_NUMBER: _ClassVar[int]
proto2_extra: _descriptor.FieldDescriptor

class Proto2Required(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Proto2Defaults(_message.Message):
    __slots__ = ("number", "text", "data", "flag")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    number: int
    text: str
    data: bytes
    flag: bool
    def __init__(self, number: _Optional[int] = ..., text: _Optional[str] = ..., data: _Optional[bytes] = ..., flag: _Optional[bool] = ...) -> None: ...

class Proto2DefaultsAllow(_message.Message):
    __slots__ = ("number", "text", "data", "flag")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    number: int
    text: str
    data: bytes
    flag: bool
    def __init__(self, number: _Optional[int] = ..., text: _Optional[str] = ..., data: _Optional[bytes] = ..., flag: _Optional[bool] = ...) -> None: ...

class Proto2Text(_message.Message):
    __slots__ = ("text", "hidden", "amount", "id", "at")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    text: str
    hidden: str
    amount: str
    id: str
    at: str
    def __init__(self, text: _Optional[str] = ..., hidden: _Optional[str] = ..., amount: _Optional[str] = ..., id: _Optional[str] = ..., at: _Optional[str] = ...) -> None: ...

class Proto2Rest(_message.Message):
    __slots__ = ("id", "closed", "part", "sub")
    Extensions: _python_message._ExtensionDict
    class Part(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    class Sub(_message.Message):
        __slots__ = ("id",)
        ID_FIELD_NUMBER: _ClassVar[int]
        id: str
        def __init__(self, id: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    SUB_FIELD_NUMBER: _ClassVar[int]
    id: str
    closed: Proto2Closed
    part: Proto2Rest.Part
    sub: Proto2Rest.Sub
    def __init__(self, id: _Optional[str] = ..., closed: _Optional[_Union[Proto2Closed, str]] = ..., part: _Optional[_Union[Proto2Rest.Part, _Mapping]] = ..., sub: _Optional[_Union[Proto2Rest.Sub, _Mapping]] = ...) -> None: ...

class Proto2Collisions(_message.Message):
    __slots__ = ("foo_bar", "fooBar", "field_1", "field1")
    FOO_BAR_FIELD_NUMBER: _ClassVar[int]
    FOOBAR_FIELD_NUMBER: _ClassVar[int]
    FIELD_1_FIELD_NUMBER: _ClassVar[int]
    FIELD1_FIELD_NUMBER: _ClassVar[int]
    foo_bar: str
    fooBar: str
    field_1: str
    field1: str
    def __init__(self, foo_bar: _Optional[str] = ..., fooBar: _Optional[str] = ..., field_1: _Optional[str] = ..., field1: _Optional[str] = ...) -> None: ...
