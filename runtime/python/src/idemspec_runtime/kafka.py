"""The consumer, the scheduler of retries, the relay of the outbox, and what producers send."""

from .breaker import BreakerConfig
from .consumer import Consumer, MissingTopics
from .delivery import MissingKey, Order
from .guard import Guard, GuardConfig
from .producing import (
    PARTITIONER,
    ProducerRecord,
    new_event_id,
    producer,
    producer_config,
    record,
    warn_of_partitioner,
)
from .relay import Relay
from .routes import RouteOptions
from .scheduler import Scheduler

__all__ = [
    "PARTITIONER",
    "BreakerConfig",
    "Consumer",
    "Guard",
    "GuardConfig",
    "MissingKey",
    "MissingTopics",
    "Order",
    "ProducerRecord",
    "Relay",
    "RouteOptions",
    "Scheduler",
    "new_event_id",
    "producer",
    "producer_config",
    "record",
    "warn_of_partitioner",
]
