"""The store on PostgreSQL: the statements of `spec/sql` with psycopg 3."""

from .asynchronous import AsyncPostgresStore, AsyncPostgresTransaction
from .config import PostgresConfig
from .sync import PostgresStore, PostgresTransaction

__all__ = [
    "AsyncPostgresStore",
    "AsyncPostgresTransaction",
    "PostgresConfig",
    "PostgresStore",
    "PostgresTransaction",
]
