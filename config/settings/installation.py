"""Home folder, environment, secret key, hosts, logging, PostgreSQL, Redis and Celery.

The servers are the embedded ones of the home, or those that the environment names.
"""

from __future__ import annotations

import os
import socket
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import embedded, telemetry
from config.env import (
    database_from_url,
    read_bool,
    read_choice,
    read_float,
    read_int,
    read_list,
    read_str,
)

BASE_DIR = Path(__file__).resolve().parent.parent.parent
HOME = embedded.home()

ENVIRONMENT = read_choice(
    "PALIMPSEST_ENV", "development", choices=("development", "production", "test")
)
PRODUCTION = ENVIRONMENT == "production"
DEBUG = False
_LEVELS = ("DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "NOTSET")


def _secret_key() -> str:
    """The secret from the environment, or outside production the one kept in the home."""
    kept = HOME / "secret_key"
    if os.environ.get("DJANGO_SECRET_KEY") or PRODUCTION:
        return read_str("DJANGO_SECRET_KEY")
    if os.access(kept, os.F_OK):
        return kept.read_text().strip()
    return "no-server-has-been-started-in-this-home-yet"


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", "" if PRODUCTION else "*")
CSRF_TRUSTED_ORIGINS = read_list("CSRF_TRUSTED_ORIGINS")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("Set the environment variable ALLOWED_HOSTS.")

# A line for each request, without its address and content.
ACCESS_LOG = read_bool("ACCESS_LOG", PRODUCTION)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "config.logs.RequestIds"}},
    "formatters": {
        "json": {"()": "config.logs.JsonLines"},
        "text": {
            "()": "config.logs.TextLines",
            "format": "{asctime} {levelname} {name} [{request_id}] {message}",
            "style": "{",
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "filters": ["ids"],
            "formatter": read_choice(
                "LOG_FORMAT", "json" if PRODUCTION else "text", choices=("json", "text")
            ),
        }
    },
    # The pool repeats each failed attempt; the request that needed it reports it once.
    # A refusal is the caller's to read, not the operator's.
    "loggers": {
        "psycopg.pool": {"level": "ERROR"},
        "django.request": {"level": "ERROR"},
        "mcp": {"level": "WARNING"},
        "palimpsest.requests": {"level": "INFO" if ACCESS_LOG else "ERROR"},
    },
    "root": {"handlers": ["stderr"], "level": read_choice("LOG_LEVEL", "WARNING", choices=_LEVELS)},
}

# Callers of /metrics must send it; empty allows only direct requests from this machine.
METRICS_TOKEN = read_str("METRICS_TOKEN", "")
# Whether web processes and workers export traces to an OpenTelemetry collector.
TELEMETRY = telemetry.is_wanted()


# The two database roles. The application's may only insert and read the append-only tables and
# is held to the teams of the transaction; the owner migrates. With one login for both, the
# application's connections step down to the role when they open.
APP_ROLE = "palimpsest_app"

# Seconds after which PostgreSQL stops a statement: any, and one of a request that only reads.
STATEMENT_SECONDS = read_int("STATEMENT_SECONDS", 60, minimum=1)
READ_STATEMENT_SECONDS = read_int("READ_STATEMENT_SECONDS", 15, minimum=1)

# The embedded one, on this machine.
HAS_OWN_POSTGRES = not os.environ.get("DATABASE_URL")

# A lent connection is checked first, so that one which the server closed is replaced.
_COMMON = {"ENGINE": "django.db.backends.postgresql", "CONN_HEALTH_CHECKS": True}


def _databases() -> dict[str, dict[str, Any]]:  # Any: Django's own loose settings shape
    if not HAS_OWN_POSTGRES:
        application = database_from_url("DATABASE_URL", os.environ["DATABASE_URL"])
        owner_url = os.environ.get("DATABASE_OWNER_URL", "")
        owner = database_from_url("DATABASE_OWNER_URL", owner_url) if owner_url else application
    else:
        folder = embedded.postgres_socket_dir(HOME) or HOME / "postgres"
        base: dict[str, Any] = {
            "NAME": read_str("PALIMPSEST_DATABASE", "palimpsest"),
            "HOST": str(folder),
        }
        application = {**base, "USER": APP_ROLE}
        owner = {**base, "USER": "palimpsest_owner"}
    return {
        "default": _application(application),
        "owner": {
            **_COMMON,
            **owner,
            "OPTIONS": {"connect_timeout": 5, **owner.get("OPTIONS", {})},
        },
    } | _replicas()


def _application(login: dict[str, Any]) -> dict[str, Any]:  # Any: as above
    limits = (
        f"-c jit=off -c statement_timeout={STATEMENT_SECONDS * 1000} -c lock_timeout=15000"
        " -c idle_in_transaction_session_timeout=60000"
    )
    # A server that vanished without closing its connections is noticed within seconds.
    keepalive = {
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }
    given = login.get("OPTIONS", {})
    # What the URL sets goes before the defaults here, but the role is no default.
    limits = f"{limits} {given.get('options', '')} -c role={APP_ROLE}"
    options: dict[str, Any] = {"connect_timeout": 5, **keepalive, **given, "options": limits}
    pool_size = read_int("DATABASE_POOL_SIZE", 12)
    if pool_size:
        # Each connection that is lost is tried anew at growing distances until reconnect_timeout,
        # then on demand. A limit below the wait for a connection keeps the distances below it
        # too, so that the first request after an outage of any length is served.
        options["pool"] = {
            "min_size": 1,
            "max_size": pool_size,
            "timeout": 5,
            "reconnect_timeout": 3,
        }
    return {**_COMMON, **login, "OPTIONS": options}


def _replicas() -> dict[str, dict[str, Any]]:  # Any: as above
    found = {}
    for number, url in enumerate(read_list("DATABASE_REPLICA_URL"), 1):
        from teams.replicas import ImpatientConnection

        login = database_from_url("DATABASE_REPLICA_URL", url)
        login["OPTIONS"] = {"connect_timeout": 2, "tcp_user_timeout": 5_000, **login["OPTIONS"]}
        replica = _application(login)
        if pool := replica["OPTIONS"].get("pool"):
            pool |= {"timeout": 1, "connection_class": ImpatientConnection}
        found[f"replica{number}"] = replica
    return found


DATABASES = _databases()
# Retrieval reads at these where they are late by less than so many seconds.
DATABASE_REPLICAS = [name for name in DATABASES if name.startswith("replica")]
DATABASE_REPLICA_LAG_SECONDS = read_int("DATABASE_REPLICA_LAG_SECONDS", 10, minimum=1)
# The tables are spread over servers by team (`manage.py distribute`).
DATABASE_DISTRIBUTED = read_bool("DATABASE_DISTRIBUTED", False)
# The statement of a search is prepared and planned once a connection. A pooler that lends
# connections by transaction and does not know prepared statements wants this off. Citus must know
# the team when it plans, so nothing is planned once for all teams there.
DATABASE_PREPARE = read_bool("DATABASE_PREPARE", True) and not DATABASE_DISTRIBUTED

REDIS_URL = read_str("REDIS_URL", f"unix://{embedded.redis_socket(HOME)}")
# Every key of this installation begins with it, so that several may share one Redis.
REDIS_PREFIX = read_str("REDIS_PREFIX", "palimpsest")
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        "OPTIONS": {"SOCKET_CONNECT_TIMEOUT": 1, "SOCKET_TIMEOUT": 2},
    }
}

# A RabbitMQ (amqp:// or amqps://, in a virtual host of this installation's own), or a Redis.
BROKER_URL = read_str("BROKER_URL", REDIS_URL)
_BROKER_SCHEMES = ("amqp", "amqps", "redis", "rediss", "unix")
if urlsplit(BROKER_URL).scheme not in _BROKER_SCHEMES:
    raise ImproperlyConfigured(
        f"BROKER_URL must begin with one of {', '.join(f'{each}://' for each in _BROKER_SCHEMES)}."
    )
_HAS_RABBITMQ = BROKER_URL.startswith("amqp")
CELERY_BROKER_URL = BROKER_URL.replace("unix://", "redis+socket://", 1)
if BROKER_URL.startswith("amqps:"):
    # The name in the certificate must be that in the address.
    CELERY_BROKER_USE_SSL = {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": None}
if BROKER_URL.startswith("rediss:") and "ssl_cert_reqs=" not in BROKER_URL:
    # The library would verify nothing.
    CELERY_BROKER_USE_SSL = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_DEFAULT_QUEUE = "palimpsest"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Publishing gives up quickly: the job's row counts, and the sweep finds unpublished jobs.
CELERY_TASK_PUBLISH_RETRY = False
# Of who sends tasks; workers wait (config/celery.py).
_BROKER_SECONDS = 5
_RABBITMQ_OPTIONS = {
    "connect_timeout": 1,
    "read_timeout": _BROKER_SECONDS,
    "write_timeout": _BROKER_SECONDS,
}
_REDIS_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": _BROKER_SECONDS,
    "socket_keepalive": True,
    # A server that vanished without closing its connections is noticed within seconds.
    "socket_keepalive_options": (
        {socket.TCP_USER_TIMEOUT: 10_000} if hasattr(socket, "TCP_USER_TIMEOUT") else {}
    ),
    "visibility_timeout": 900,
    "global_keyprefix": f"{REDIS_PREFIX}:",
}
CELERY_BROKER_TRANSPORT_OPTIONS = _RABBITMQ_OPTIONS if _HAS_RABBITMQ else _REDIS_OPTIONS
# Each task's name and how often it runs, in seconds.
_PERIODIC = {
    "memory.tasks.sweep_jobs": 15.0,
    "memory.tasks.extract_rested": 60.0,
    "memory.tasks.index_messages": 3.0,
    "memory.tasks.embed_memories": 3.0,
    "memory.tasks.extend_graphs": 30.0,
    "memory.tasks.write_levels": 10.0,
    "memory.tasks.renew_statistics": read_float("STATISTICS_SECONDS", 10.0, minimum=1.0),
    "memory.tasks.flush_usage": 10.0,
    "memory.tasks.keep_projects_to_limits": 600.0,
    "teams.tasks.flush_key_use": 30.0,
    "teams.tasks.prune_idempotent_requests": 600.0,
    "audit.tasks.seal_log": read_float("SEAL_SECONDS", 60.0, minimum=1.0),
    "audit.tasks.flush_events": read_float("EVENT_FLUSH_SECONDS", 5.0, minimum=1.0),
    "audit.tasks.keep_event_days": 3600.0,
    "audit.tasks.clear_caches_of_erased": 600.0,
    "routing.tasks.settle_kept_costs": 15.0,
    "routing.tasks.prune_decisions": 3600.0,
}
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {  # Any: a name or an interval
    name: {"task": name, "schedule": seconds} for name, seconds in _PERIODIC.items()
}
