import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.type import date_pb2 as _date_pb2
from google.type import decimal_pb2 as _decimal_pb2
from google.type import money_pb2 as _money_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DigestString(_message.Message):
    __slots__ = ("mail",)
    MAIL_FIELD_NUMBER: _ClassVar[int]
    mail: str
    def __init__(self, mail: _Optional[str] = ...) -> None: ...

class DigestBytes(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: bytes
    def __init__(self, secret: _Optional[bytes] = ...) -> None: ...

class DigestAllow(_message.Message):
    __slots__ = ("text", "wrapped")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WRAPPED_FIELD_NUMBER: _ClassVar[int]
    text: str
    wrapped: _wrappers_pb2.StringValue
    def __init__(self, text: _Optional[str] = ..., wrapped: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ...) -> None: ...

class Digests(_message.Message):
    __slots__ = ("flag", "int32_value", "uint64_value", "color", "amount", "id", "at", "written_at", "counted_at", "wait", "day", "decimal", "price")
    class Hue(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HUE_UNSPECIFIED: _ClassVar[Digests.Hue]
        HUE_WARM: _ClassVar[Digests.Hue]
    HUE_UNSPECIFIED: Digests.Hue
    HUE_WARM: Digests.Hue
    FLAG_FIELD_NUMBER: _ClassVar[int]
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_AT_FIELD_NUMBER: _ClassVar[int]
    COUNTED_AT_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    flag: bool
    int32_value: int
    uint64_value: int
    color: Digests.Hue
    amount: str
    id: str
    at: _timestamp_pb2.Timestamp
    written_at: str
    counted_at: int
    wait: _duration_pb2.Duration
    day: _date_pb2.Date
    decimal: _decimal_pb2.Decimal
    price: _money_pb2.Money
    def __init__(self, flag: _Optional[bool] = ..., int32_value: _Optional[int] = ..., uint64_value: _Optional[int] = ..., color: _Optional[_Union[Digests.Hue, str]] = ..., amount: _Optional[str] = ..., id: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., written_at: _Optional[str] = ..., counted_at: _Optional[int] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., day: _Optional[_Union[_date_pb2.Date, _Mapping]] = ..., decimal: _Optional[_Union[_decimal_pb2.Decimal, _Mapping]] = ..., price: _Optional[_Union[_money_pb2.Money, _Mapping]] = ...) -> None: ...

class RedactedPath(_message.Message):
    __slots__ = ("person",)
    class Person(_message.Message):
        __slots__ = ("mail",)
        MAIL_FIELD_NUMBER: _ClassVar[int]
        mail: str
        def __init__(self, mail: _Optional[str] = ...) -> None: ...
    PERSON_FIELD_NUMBER: _ClassVar[int]
    person: RedactedPath.Person
    def __init__(self, person: _Optional[_Union[RedactedPath.Person, _Mapping]] = ...) -> None: ...
