from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OnSuperseded(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_SUPERSEDED_UNSPECIFIED: _ClassVar[OnSuperseded]
    ON_SUPERSEDED_ACK: _ClassVar[OnSuperseded]
    ON_SUPERSEDED_DEAD_LETTER: _ClassVar[OnSuperseded]

class TimeUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIME_UNIT_UNSPECIFIED: _ClassVar[TimeUnit]
    TIME_UNIT_S: _ClassVar[TimeUnit]
    TIME_UNIT_MS: _ClassVar[TimeUnit]
    TIME_UNIT_US: _ClassVar[TimeUnit]
    TIME_UNIT_NS: _ClassVar[TimeUnit]

class Missing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MISSING_UNSPECIFIED: _ClassVar[Missing]
    MISSING_ERROR: _ClassVar[Missing]
    MISSING_ALLOW: _ClassVar[Missing]

class Digest(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIGEST_UNSPECIFIED: _ClassVar[Digest]
    DIGEST_SHA256: _ClassVar[Digest]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_OK: _ClassVar[Outcome]
    OUTCOME_DUPLICATE: _ClassVar[Outcome]
    OUTCOME_RETRYABLE: _ClassVar[Outcome]
    OUTCOME_THROTTLED: _ClassVar[Outcome]
    OUTCOME_OUT_OF_ORDER: _ClassVar[Outcome]
    OUTCOME_NON_RETRYABLE: _ClassVar[Outcome]
ON_SUPERSEDED_UNSPECIFIED: OnSuperseded
ON_SUPERSEDED_ACK: OnSuperseded
ON_SUPERSEDED_DEAD_LETTER: OnSuperseded
TIME_UNIT_UNSPECIFIED: TimeUnit
TIME_UNIT_S: TimeUnit
TIME_UNIT_MS: TimeUnit
TIME_UNIT_US: TimeUnit
TIME_UNIT_NS: TimeUnit
MISSING_UNSPECIFIED: Missing
MISSING_ERROR: Missing
MISSING_ALLOW: Missing
DIGEST_UNSPECIFIED: Digest
DIGEST_SHA256: Digest
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_OK: Outcome
OUTCOME_DUPLICATE: Outcome
OUTCOME_RETRYABLE: Outcome
OUTCOME_THROTTLED: Outcome
OUTCOME_OUT_OF_ORDER: Outcome
OUTCOME_NON_RETRYABLE: Outcome
MESSAGE_FIELD_NUMBER: _ClassVar[int]
message: _descriptor.FieldDescriptor
FIELD_FIELD_NUMBER: _ClassVar[int]
field: _descriptor.FieldDescriptor
STATE_MACHINE_FIELD_NUMBER: _ClassVar[int]
state_machine: _descriptor.FieldDescriptor
STATE_FIELD_NUMBER: _ClassVar[int]
state: _descriptor.FieldDescriptor
ERROR_FIELD_NUMBER: _ClassVar[int]
error: _descriptor.FieldDescriptor

class MessageOptions(_message.Message):
    __slots__ = ("idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint", "occurred_at", "retry", "transition")
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    BIZ_KEY_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    idempotency_key: str
    idempotency_key_previous: str
    biz_key: str
    fingerprint: str
    occurred_at: str
    retry: RetryOptions
    transition: TransitionOptions
    def __init__(self, idempotency_key: _Optional[str] = ..., idempotency_key_previous: _Optional[str] = ..., biz_key: _Optional[str] = ..., fingerprint: _Optional[str] = ..., occurred_at: _Optional[str] = ..., retry: _Optional[_Union[RetryOptions, _Mapping]] = ..., transition: _Optional[_Union[TransitionOptions, _Mapping]] = ...) -> None: ...

class RetryOptions(_message.Message):
    __slots__ = ("max_retry", "max_hold", "backoff_base_seconds", "backoff_jitter_ms", "backoff_max_seconds", "backoff_schedule_ms")
    MAX_RETRY_FIELD_NUMBER: _ClassVar[int]
    MAX_HOLD_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_BASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_JITTER_MS_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_MAX_SECONDS_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_SCHEDULE_MS_FIELD_NUMBER: _ClassVar[int]
    max_retry: int
    max_hold: int
    backoff_base_seconds: int
    backoff_jitter_ms: int
    backoff_max_seconds: int
    backoff_schedule_ms: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, max_retry: _Optional[int] = ..., max_hold: _Optional[int] = ..., backoff_base_seconds: _Optional[int] = ..., backoff_jitter_ms: _Optional[int] = ..., backoff_max_seconds: _Optional[int] = ..., backoff_schedule_ms: _Optional[_Iterable[int]] = ...) -> None: ...

class TransitionOptions(_message.Message):
    __slots__ = ("state_machine", "to", "on_superseded")
    STATE_MACHINE_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    ON_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    state_machine: str
    to: str
    on_superseded: OnSuperseded
    def __init__(self, state_machine: _Optional[str] = ..., to: _Optional[str] = ..., on_superseded: _Optional[_Union[OnSuperseded, str]] = ..., **kwargs) -> None: ...

class FieldOptions(_message.Message):
    __slots__ = ("decimal", "timestamp", "duration", "uuid", "missing", "digest")
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    decimal: DecimalOptions
    timestamp: TimestampOptions
    duration: DurationOptions
    uuid: bool
    missing: Missing
    digest: Digest
    def __init__(self, decimal: _Optional[_Union[DecimalOptions, _Mapping]] = ..., timestamp: _Optional[_Union[TimestampOptions, _Mapping]] = ..., duration: _Optional[_Union[DurationOptions, _Mapping]] = ..., uuid: _Optional[bool] = ..., missing: _Optional[_Union[Missing, str]] = ..., digest: _Optional[_Union[Digest, str]] = ...) -> None: ...

class DecimalOptions(_message.Message):
    __slots__ = ("max_scale",)
    MAX_SCALE_FIELD_NUMBER: _ClassVar[int]
    max_scale: int
    def __init__(self, max_scale: _Optional[int] = ...) -> None: ...

class TimestampOptions(_message.Message):
    __slots__ = ("fraction_digits", "unit")
    FRACTION_DIGITS_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    fraction_digits: int
    unit: TimeUnit
    def __init__(self, fraction_digits: _Optional[int] = ..., unit: _Optional[_Union[TimeUnit, str]] = ...) -> None: ...

class DurationOptions(_message.Message):
    __slots__ = ("fraction_digits",)
    FRACTION_DIGITS_FIELD_NUMBER: _ClassVar[int]
    fraction_digits: int
    def __init__(self, fraction_digits: _Optional[int] = ...) -> None: ...

class StateMachineOptions(_message.Message):
    __slots__ = ("transition",)
    class Edge(_message.Message):
        __slots__ = ("to",)
        FROM_FIELD_NUMBER: _ClassVar[int]
        TO_FIELD_NUMBER: _ClassVar[int]
        to: str
        def __init__(self, to: _Optional[str] = ..., **kwargs) -> None: ...
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    transition: _containers.RepeatedCompositeFieldContainer[StateMachineOptions.Edge]
    def __init__(self, transition: _Optional[_Iterable[_Union[StateMachineOptions.Edge, _Mapping]]] = ...) -> None: ...

class StateOptions(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ErrorOptions(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ...) -> None: ...
