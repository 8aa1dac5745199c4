from idem.conformance.v1 import presence_pb2 as _presence_pb2
from idem.v1 import options_pb2 as _options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DashFile(_message.Message):
    __slots__ = ("customer",)
    CUSTOMER_FIELD_NUMBER: _ClassVar[int]
    customer: _presence_pb2.Customer
    def __init__(self, customer: _Optional[_Union[_presence_pb2.Customer, _Mapping]] = ...) -> None: ...
