"""Redis for what a read can do without."""

from routing.clients.quick_redis import PAUSE_SECONDS, QuickRedis, quick_redis

__all__ = ["PAUSE_SECONDS", "QuickRedis", "quick_redis"]
