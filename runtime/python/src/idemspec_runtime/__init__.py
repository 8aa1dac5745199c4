"""idem at work for Python: stores on PostgreSQL and Redis, and a consumer on Kafka, beside those of
Go and Java on one set of tables and topics.

    pip install 'idemspec[kafka,postgres,redis]'

`idemspec` is the pure core. This package is named apart from it, so that a core which was emitted
beside generated code does not hide it. What needs a driver is imported where it is used:
`idemspec_runtime.postgres` needs psycopg, `idemspec_runtime.redis` redis-py,
`idemspec_runtime.kafka` confluent-kafka and psycopg.
"""

from .errors import StoreError
from .failures import Failure, NonRetryable, OutOfOrder, Retryable, Throttled
from .message import Message

__all__ = [
    "Failure",
    "Message",
    "NonRetryable",
    "OutOfOrder",
    "Retryable",
    "StoreError",
    "Throttled",
]
