"""The store on Redis: the scripts of `spec/redis` with redis-py."""

from .store import RedisConfig, RedisStore

__all__ = ["RedisConfig", "RedisStore"]
