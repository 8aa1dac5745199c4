import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from idem.conformance.v1 import states_pb2 as _states_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Literals(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Many(_message.Message):
    __slots__ = ("p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p09", "p10", "p11", "p12", "p13", "p14", "p15", "p16", "p17", "p18", "p19", "p20", "p21", "p22", "p23", "p24", "p25", "p26", "p27", "p28", "p29", "p30", "p31", "p32", "p33", "p34", "p35", "p36", "p37", "p38", "p39", "p40")
    P01_FIELD_NUMBER: _ClassVar[int]
    P02_FIELD_NUMBER: _ClassVar[int]
    P03_FIELD_NUMBER: _ClassVar[int]
    P04_FIELD_NUMBER: _ClassVar[int]
    P05_FIELD_NUMBER: _ClassVar[int]
    P06_FIELD_NUMBER: _ClassVar[int]
    P07_FIELD_NUMBER: _ClassVar[int]
    P08_FIELD_NUMBER: _ClassVar[int]
    P09_FIELD_NUMBER: _ClassVar[int]
    P10_FIELD_NUMBER: _ClassVar[int]
    P11_FIELD_NUMBER: _ClassVar[int]
    P12_FIELD_NUMBER: _ClassVar[int]
    P13_FIELD_NUMBER: _ClassVar[int]
    P14_FIELD_NUMBER: _ClassVar[int]
    P15_FIELD_NUMBER: _ClassVar[int]
    P16_FIELD_NUMBER: _ClassVar[int]
    P17_FIELD_NUMBER: _ClassVar[int]
    P18_FIELD_NUMBER: _ClassVar[int]
    P19_FIELD_NUMBER: _ClassVar[int]
    P20_FIELD_NUMBER: _ClassVar[int]
    P21_FIELD_NUMBER: _ClassVar[int]
    P22_FIELD_NUMBER: _ClassVar[int]
    P23_FIELD_NUMBER: _ClassVar[int]
    P24_FIELD_NUMBER: _ClassVar[int]
    P25_FIELD_NUMBER: _ClassVar[int]
    P26_FIELD_NUMBER: _ClassVar[int]
    P27_FIELD_NUMBER: _ClassVar[int]
    P28_FIELD_NUMBER: _ClassVar[int]
    P29_FIELD_NUMBER: _ClassVar[int]
    P30_FIELD_NUMBER: _ClassVar[int]
    P31_FIELD_NUMBER: _ClassVar[int]
    P32_FIELD_NUMBER: _ClassVar[int]
    P33_FIELD_NUMBER: _ClassVar[int]
    P34_FIELD_NUMBER: _ClassVar[int]
    P35_FIELD_NUMBER: _ClassVar[int]
    P36_FIELD_NUMBER: _ClassVar[int]
    P37_FIELD_NUMBER: _ClassVar[int]
    P38_FIELD_NUMBER: _ClassVar[int]
    P39_FIELD_NUMBER: _ClassVar[int]
    P40_FIELD_NUMBER: _ClassVar[int]
    p01: str
    p02: str
    p03: str
    p04: str
    p05: str
    p06: str
    p07: str
    p08: str
    p09: str
    p10: str
    p11: str
    p12: str
    p13: str
    p14: str
    p15: str
    p16: str
    p17: str
    p18: str
    p19: str
    p20: str
    p21: str
    p22: str
    p23: str
    p24: str
    p25: str
    p26: str
    p27: str
    p28: str
    p29: str
    p30: str
    p31: str
    p32: str
    p33: str
    p34: str
    p35: str
    p36: str
    p37: str
    p38: str
    p39: str
    p40: str
    def __init__(self, p01: _Optional[str] = ..., p02: _Optional[str] = ..., p03: _Optional[str] = ..., p04: _Optional[str] = ..., p05: _Optional[str] = ..., p06: _Optional[str] = ..., p07: _Optional[str] = ..., p08: _Optional[str] = ..., p09: _Optional[str] = ..., p10: _Optional[str] = ..., p11: _Optional[str] = ..., p12: _Optional[str] = ..., p13: _Optional[str] = ..., p14: _Optional[str] = ..., p15: _Optional[str] = ..., p16: _Optional[str] = ..., p17: _Optional[str] = ..., p18: _Optional[str] = ..., p19: _Optional[str] = ..., p20: _Optional[str] = ..., p21: _Optional[str] = ..., p22: _Optional[str] = ..., p23: _Optional[str] = ..., p24: _Optional[str] = ..., p25: _Optional[str] = ..., p26: _Optional[str] = ..., p27: _Optional[str] = ..., p28: _Optional[str] = ..., p29: _Optional[str] = ..., p30: _Optional[str] = ..., p31: _Optional[str] = ..., p32: _Optional[str] = ..., p33: _Optional[str] = ..., p34: _Optional[str] = ..., p35: _Optional[str] = ..., p36: _Optional[str] = ..., p37: _Optional[str] = ..., p38: _Optional[str] = ..., p39: _Optional[str] = ..., p40: _Optional[str] = ...) -> None: ...

class Previous(_message.Message):
    __slots__ = ("id", "part")
    ID_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    id: str
    part: str
    def __init__(self, id: _Optional[str] = ..., part: _Optional[str] = ...) -> None: ...

class BizKey(_message.Message):
    __slots__ = ("id", "order_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    order_id: str
    def __init__(self, id: _Optional[str] = ..., order_id: _Optional[str] = ...) -> None: ...

class BizKeyEmpty(_message.Message):
    __slots__ = ("id", "order_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    order_id: str
    def __init__(self, id: _Optional[str] = ..., order_id: _Optional[str] = ...) -> None: ...

class BizKeyCompound(_message.Message):
    __slots__ = ("id", "tenant", "order_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: int
    order_id: str
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[int] = ..., order_id: _Optional[str] = ...) -> None: ...

class Fingerprint(_message.Message):
    __slots__ = ("id", "amount", "currency")
    ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    id: str
    amount: str
    currency: str
    def __init__(self, id: _Optional[str] = ..., amount: _Optional[str] = ..., currency: _Optional[str] = ...) -> None: ...

class OccurredAt(_message.Message):
    __slots__ = ("id", "at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class OccurredAtText(_message.Message):
    __slots__ = ("id", "at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[str] = ...) -> None: ...

class OccurredAtEpoch(_message.Message):
    __slots__ = ("id", "at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: int
    def __init__(self, id: _Optional[str] = ..., at: _Optional[int] = ...) -> None: ...

class OccurredAtPath(_message.Message):
    __slots__ = ("id", "source")
    class Source(_message.Message):
        __slots__ = ("at", "unknown")
        AT_FIELD_NUMBER: _ClassVar[int]
        UNKNOWN_FIELD_NUMBER: _ClassVar[int]
        at: _timestamp_pb2.Timestamp
        unknown: str
        def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., unknown: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    id: str
    source: OccurredAtPath.Source
    def __init__(self, id: _Optional[str] = ..., source: _Optional[_Union[OccurredAtPath.Source, _Mapping]] = ...) -> None: ...

class Faults(_message.Message):
    __slots__ = ("key", "key2", "previous", "biz", "content", "at")
    KEY_FIELD_NUMBER: _ClassVar[int]
    KEY2_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    BIZ_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    key: str
    key2: str
    previous: str
    biz: str
    content: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, key: _Optional[str] = ..., key2: _Optional[str] = ..., previous: _Optional[str] = ..., biz: _Optional[str] = ..., content: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Everything(_message.Message):
    __slots__ = ("id", "line", "order_id", "amount", "currency", "occurred_at", "state")
    ID_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    id: str
    line: int
    order_id: str
    amount: str
    currency: str
    occurred_at: _timestamp_pb2.Timestamp
    state: _states_pb2.InvoiceState
    def __init__(self, id: _Optional[str] = ..., line: _Optional[int] = ..., order_id: _Optional[str] = ..., amount: _Optional[str] = ..., currency: _Optional[str] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[_states_pb2.InvoiceState, str]] = ...) -> None: ...
