"""What keeps a server from working, in words that name the way to mend it."""

from __future__ import annotations

import psycopg

from ..errors import StoreError

_READ_ONLY = (
    "the server takes no writes: connect to the primary, "
    "target_session_attrs=read-write in the DSN finds it among several hosts"
)
_TABLES = (
    "the tables do not fit this program: `idem migrate validate` says what is missing, and "
    "`idem migrate up` makes the tables; or name their schema in the DSN"
)
_LOGIN = "the server refuses this role: check user and password of the DSN, and pg_hba.conf"
_DENIED = (
    "the server refuses this role: grant it SELECT, INSERT, UPDATE and DELETE on the tables of "
    "idem, and USAGE on their schema"
)
_FULL = (
    "the server's disk is full: make room on its volume; nothing was written, and the messages "
    "will be tried again"
)
_MENDS = {
    "25006": _READ_ONLY,
    "42P01": _TABLES,
    "42703": _TABLES,
    "28P01": _LOGIN,
    "28000": _LOGIN,
    "42501": _DENIED,
    "3D000": "there is no such database: create it, or correct the DSN",
    "53100": _FULL,
}


def named(action: str, error: psycopg.Error) -> StoreError:
    """An error of the driver with what was asked, its cause, and the way out."""
    mend = _MENDS.get(error.sqlstate or "")
    if mend is None and error.sqlstate is None and isinstance(error, psycopg.OperationalError):
        mend = "check that PostgreSQL runs where the DSN says"
    cause = " ".join(str(error).split())
    named_error = StoreError(f"{action}: {mend} ({cause})" if mend else f"{action}: {cause}")
    named_error.sqlstate = error.sqlstate
    return named_error


def is_collision(error: psycopg.Error) -> bool:
    """The server has ended a transaction in favour of another one."""
    return error.sqlstate in ("40P01", "40001")


def is_lock_timeout(error: psycopg.Error) -> bool:
    return error.sqlstate == "55P03"
