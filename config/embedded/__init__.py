"""The embedded PostgreSQL and Redis of one home folder, for machines that have neither.

No Django, and nothing heavy at import: the settings read socket paths from here while no server
is running, and the wheels with the binaries are opened only when a server is started. A server
ends with the process that started it.
"""

from config.embedded.paths import PROJECT_ROOT, EmbeddedError, home, program
from config.embedded.postgres import (
    APP_ROLE,
    DATABASE,
    OWNER_ROLE,
    ensure_database,
    postgres_pid,
    postgres_socket_dir,
    start_postgres,
    stop_postgres,
)
from config.embedded.redis import redis_pid, redis_socket, start_redis, stop_redis

__all__ = [
    "APP_ROLE",
    "DATABASE",
    "OWNER_ROLE",
    "PROJECT_ROOT",
    "EmbeddedError",
    "ensure_database",
    "home",
    "postgres_pid",
    "postgres_socket_dir",
    "program",
    "redis_pid",
    "redis_socket",
    "start_postgres",
    "start_redis",
    "stop_postgres",
    "stop_redis",
]
