from idem.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class InvoiceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INVOICE_STATE_UNSPECIFIED: _ClassVar[InvoiceState]
    INVOICE_STATE_CREATED: _ClassVar[InvoiceState]
    INVOICE_STATE_PAYING: _ClassVar[InvoiceState]
    INVOICE_STATE_PAID: _ClassVar[InvoiceState]
    INVOICE_STATE_REFUNDED: _ClassVar[InvoiceState]
    INVOICE_STATE_CANCELLED: _ClassVar[InvoiceState]
    INVOICE_STATE_ON_HOLD: _ClassVar[InvoiceState]

class TicketHTTPState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TICKET_HTTP_STATE_UNSPECIFIED: _ClassVar[TicketHTTPState]
    TICKET_HTTP_STATE_NEW: _ClassVar[TicketHTTPState]
    TICKET_HTTP_STATE_IMPORTED: _ClassVar[TicketHTTPState]
    TICKET_HTTP_STATE_OPEN: _ClassVar[TicketHTTPState]
    TICKET_HTTP_STATE_REOPENED: _ClassVar[TicketHTTPState]
    DONE: _ClassVar[TicketHTTPState]

class PaymentError(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PAYMENT_ERROR_UNSPECIFIED: _ClassVar[PaymentError]
    PAYMENT_ERROR_BUSY: _ClassVar[PaymentError]
    PAYMENT_ERROR_NO_FUNDS: _ClassVar[PaymentError]
    PAYMENT_ERROR_DECLINED: _ClassVar[PaymentError]
    PAYMENT_ERROR_TIMEOUT: _ClassVar[PaymentError]
    PAYMENT_ERROR_PAID_BEFORE: _ClassVar[PaymentError]
    PAYMENT_ERROR_TOO_EARLY: _ClassVar[PaymentError]
    PAYMENT_ERROR_NONE: _ClassVar[PaymentError]
    PAYMENT_ERROR_LOST: _ClassVar[PaymentError]
    PAYMENT_ERROR_NEW: _ClassVar[PaymentError]
INVOICE_STATE_UNSPECIFIED: InvoiceState
INVOICE_STATE_CREATED: InvoiceState
INVOICE_STATE_PAYING: InvoiceState
INVOICE_STATE_PAID: InvoiceState
INVOICE_STATE_REFUNDED: InvoiceState
INVOICE_STATE_CANCELLED: InvoiceState
INVOICE_STATE_ON_HOLD: InvoiceState
TICKET_HTTP_STATE_UNSPECIFIED: TicketHTTPState
TICKET_HTTP_STATE_NEW: TicketHTTPState
TICKET_HTTP_STATE_IMPORTED: TicketHTTPState
TICKET_HTTP_STATE_OPEN: TicketHTTPState
TICKET_HTTP_STATE_REOPENED: TicketHTTPState
DONE: TicketHTTPState
PAYMENT_ERROR_UNSPECIFIED: PaymentError
PAYMENT_ERROR_BUSY: PaymentError
PAYMENT_ERROR_NO_FUNDS: PaymentError
PAYMENT_ERROR_DECLINED: PaymentError
PAYMENT_ERROR_TIMEOUT: PaymentError
PAYMENT_ERROR_PAID_BEFORE: PaymentError
PAYMENT_ERROR_TOO_EARLY: PaymentError
PAYMENT_ERROR_NONE: PaymentError
PAYMENT_ERROR_LOST: PaymentError
PAYMENT_ERROR_NEW: PaymentError

class RetryDefaults(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RetryLeast(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RetryMost(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RetrySchedule(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RetryScheduleZero(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class InvoicePaid(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class InvoiceCancelled(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class TicketCreated(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class TicketOpened(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("id",)
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATE_UNSPECIFIED: _ClassVar[Job.State]
        STATE_QUEUED: _ClassVar[Job.State]
        STATE_RUNNING: _ClassVar[Job.State]
    STATE_UNSPECIFIED: Job.State
    STATE_QUEUED: Job.State
    STATE_RUNNING: Job.State
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...
