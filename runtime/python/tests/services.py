"""Fixtures of real servers: those of `eval "$(scripts/services env)"`. Without one a test is
skipped, or, with IDEM_TEST_REAL=1, fails."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.texts import postgres_migrations
from psycopg import sql


def need(variable: str, service: str) -> str:
    value = os.environ.get(variable)
    if value:
        return value
    reason = f'no {variable}: scripts/services start {service} && eval "$(scripts/services env)"'
    if os.environ.get("IDEM_TEST_REAL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def unique(prefix: str = "python") -> str:
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of a fresh database, without tables."""
    server = need("DATABASE_URL", "postgres")
    name = unique("idem_python").replace("-", "_")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@pytest.fixture
def tables(database: str) -> str:
    """The URL of a fresh database with the tables of idem."""
    with psycopg.connect(database, autocommit=True) as connection:
        for version, name, text in postgres_migrations():
            connection.execute(text.encode())
            connection.execute(
                "INSERT INTO idem_schema (version, name) VALUES (%s, %s)", (version, name)
            )
    return database


@pytest.fixture
def store(tables: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(tables) as opened:
        yield opened


@pytest.fixture
def redis_url() -> str:
    return need("REDIS_URL", "redis")


@pytest.fixture
def brokers() -> str:
    return need("KAFKA_BROKERS", "kafka")
