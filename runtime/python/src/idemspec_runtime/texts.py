"""The statements and scripts of `spec/`, which every language runs alike.

A wheel has them in it; in a checkout of the repository they are read from where they are kept.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


def _read(folder: str, suffix: str) -> dict[str, str]:
    for spec in (_HERE / "spec", _HERE.parents[3] / "spec"):
        if (spec / folder).is_dir():
            files = (spec / folder).glob(f"*{suffix}")
            return {file.name.removesuffix(suffix): file.read_text("utf-8") for file in files}
    raise FileNotFoundError(
        f"{_HERE / 'spec' / folder}: the statements are neither in the package nor in a checkout "
        "around it: install a wheel, pip install 'idemspec[postgres]'"
    )


@cache
def postgres_statements() -> dict[str, str]:
    """The statements on PostgreSQL by name, their parameters $1, $2 as their heads say."""
    return _read("sql/postgres/statements", ".sql")


@cache
def postgres_migrations() -> list[tuple[int, str, str]]:
    """Version, name and text of each migration up, in order."""
    ups = _read("sql/postgres", ".up.sql")
    return [(int(name[:3]), name[4:], ups[name]) for name in sorted(ups)]


@cache
def redis_scripts() -> dict[str, str]:
    """The Lua scripts by name."""
    return _read("redis", ".lua")
