import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import wrappers_pb2 as _wrappers_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Wrappers(_message.Message):
    __slots__ = ("bool_value", "bytes_value", "int32_value", "int64_value", "string_value", "uint32_value", "uint64_value")
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    bool_value: _wrappers_pb2.BoolValue
    bytes_value: _wrappers_pb2.BytesValue
    int32_value: _wrappers_pb2.Int32Value
    int64_value: _wrappers_pb2.Int64Value
    string_value: _wrappers_pb2.StringValue
    uint32_value: _wrappers_pb2.UInt32Value
    uint64_value: _wrappers_pb2.UInt64Value
    def __init__(self, bool_value: _Optional[_Union[_wrappers_pb2.BoolValue, _Mapping]] = ..., bytes_value: _Optional[_Union[_wrappers_pb2.BytesValue, _Mapping]] = ..., int32_value: _Optional[_Union[_wrappers_pb2.Int32Value, _Mapping]] = ..., int64_value: _Optional[_Union[_wrappers_pb2.Int64Value, _Mapping]] = ..., string_value: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ..., uint32_value: _Optional[_Union[_wrappers_pb2.UInt32Value, _Mapping]] = ..., uint64_value: _Optional[_Union[_wrappers_pb2.UInt64Value, _Mapping]] = ...) -> None: ...

class WrappersAllow(_message.Message):
    __slots__ = ("text", "amount", "id", "written_at", "counted_at", "flag")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_AT_FIELD_NUMBER: _ClassVar[int]
    COUNTED_AT_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    text: _wrappers_pb2.StringValue
    amount: _wrappers_pb2.StringValue
    id: _wrappers_pb2.StringValue
    written_at: _wrappers_pb2.StringValue
    counted_at: _wrappers_pb2.UInt32Value
    flag: _wrappers_pb2.BoolValue
    def __init__(self, text: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ..., amount: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ..., id: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ..., written_at: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ..., counted_at: _Optional[_Union[_wrappers_pb2.UInt32Value, _Mapping]] = ..., flag: _Optional[_Union[_wrappers_pb2.BoolValue, _Mapping]] = ...) -> None: ...

class Customer(_message.Message):
    __slots__ = ("id", "address", "note", "title", "level", "since", "mail", "postal")
    class Address(_message.Message):
        __slots__ = ("city", "zip", "floor")
        CITY_FIELD_NUMBER: _ClassVar[int]
        ZIP_FIELD_NUMBER: _ClassVar[int]
        FLOOR_FIELD_NUMBER: _ClassVar[int]
        city: str
        zip: str
        floor: _wrappers_pb2.StringValue
        def __init__(self, city: _Optional[str] = ..., zip: _Optional[str] = ..., floor: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    MAIL_FIELD_NUMBER: _ClassVar[int]
    POSTAL_FIELD_NUMBER: _ClassVar[int]
    id: str
    address: Customer.Address
    note: str
    title: str
    level: int
    since: _timestamp_pb2.Timestamp
    mail: str
    postal: Customer.Address
    def __init__(self, id: _Optional[str] = ..., address: _Optional[_Union[Customer.Address, _Mapping]] = ..., note: _Optional[str] = ..., title: _Optional[str] = ..., level: _Optional[int] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., mail: _Optional[str] = ..., postal: _Optional[_Union[Customer.Address, _Mapping]] = ...) -> None: ...

class Paths(_message.Message):
    __slots__ = ("customer",)
    CUSTOMER_FIELD_NUMBER: _ClassVar[int]
    customer: Customer
    def __init__(self, customer: _Optional[_Union[Customer, _Mapping]] = ...) -> None: ...

class PathsAllow(_message.Message):
    __slots__ = ("customer",)
    CUSTOMER_FIELD_NUMBER: _ClassVar[int]
    customer: Customer
    def __init__(self, customer: _Optional[_Union[Customer, _Mapping]] = ...) -> None: ...

class PathsOneof(_message.Message):
    __slots__ = ("buyer", "seller")
    BUYER_FIELD_NUMBER: _ClassVar[int]
    SELLER_FIELD_NUMBER: _ClassVar[int]
    buyer: Customer
    seller: Customer
    def __init__(self, buyer: _Optional[_Union[Customer, _Mapping]] = ..., seller: _Optional[_Union[Customer, _Mapping]] = ...) -> None: ...

class PathsOneofAllow(_message.Message):
    __slots__ = ("buyer", "seller", "day")
    BUYER_FIELD_NUMBER: _ClassVar[int]
    SELLER_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    buyer: Customer
    seller: Customer
    day: _timestamp_pb2.Timestamp
    def __init__(self, buyer: _Optional[_Union[Customer, _Mapping]] = ..., seller: _Optional[_Union[Customer, _Mapping]] = ..., day: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Tree(_message.Message):
    __slots__ = ("id", "parent")
    ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    id: str
    parent: Tree
    def __init__(self, id: _Optional[str] = ..., parent: _Optional[_Union[Tree, _Mapping]] = ...) -> None: ...

class Outer(_message.Message):
    __slots__ = ()
    class Inner(_message.Message):
        __slots__ = ("id", "innermost")
        class Innermost(_message.Message):
            __slots__ = ("kind",)
            class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                KIND_UNSPECIFIED: _ClassVar[Outer.Inner.Innermost.Kind]
                KIND_PLAIN: _ClassVar[Outer.Inner.Innermost.Kind]
            KIND_UNSPECIFIED: Outer.Inner.Innermost.Kind
            KIND_PLAIN: Outer.Inner.Innermost.Kind
            KIND_FIELD_NUMBER: _ClassVar[int]
            kind: Outer.Inner.Innermost.Kind
            def __init__(self, kind: _Optional[_Union[Outer.Inner.Innermost.Kind, str]] = ...) -> None: ...
        ID_FIELD_NUMBER: _ClassVar[int]
        INNERMOST_FIELD_NUMBER: _ClassVar[int]
        id: str
        innermost: Outer.Inner.Innermost
        def __init__(self, id: _Optional[str] = ..., innermost: _Optional[_Union[Outer.Inner.Innermost, _Mapping]] = ...) -> None: ...
    def __init__(self) -> None: ...
