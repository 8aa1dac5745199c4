import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OrderState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDER_STATE_UNSPECIFIED: _ClassVar[OrderState]
    ORDER_STATE_CREATED: _ClassVar[OrderState]
    ORDER_STATE_PAYING: _ClassVar[OrderState]
    ORDER_STATE_PAID: _ClassVar[OrderState]
    ORDER_STATE_CANCELLED: _ClassVar[OrderState]

class PayError(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PAY_ERROR_UNSPECIFIED: _ClassVar[PayError]
    PAY_ERROR_DECLINED: _ClassVar[PayError]
    PAY_ERROR_BUSY: _ClassVar[PayError]
ORDER_STATE_UNSPECIFIED: OrderState
ORDER_STATE_CREATED: OrderState
ORDER_STATE_PAYING: OrderState
ORDER_STATE_PAID: OrderState
ORDER_STATE_CANCELLED: OrderState
PAY_ERROR_UNSPECIFIED: PayError
PAY_ERROR_DECLINED: PayError
PAY_ERROR_BUSY: PayError

class PaymentSucceeded(_message.Message):
    __slots__ = ("order_id", "amount", "currency", "occurred_at", "payment_id")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    amount: str
    currency: str
    occurred_at: _timestamp_pb2.Timestamp
    payment_id: str
    def __init__(self, order_id: _Optional[str] = ..., amount: _Optional[str] = ..., currency: _Optional[str] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., payment_id: _Optional[str] = ...) -> None: ...
