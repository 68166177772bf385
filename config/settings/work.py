"""Celery: broker, limits and the periodic tasks."""

from __future__ import annotations

import socket
from typing import Any

from config.env import read_float

from .stores import REDIS_PREFIX, REDIS_URL

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_DEFAULT_QUEUE = "palimpsest"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Publishing gives up quickly: the job's row counts, and the sweep finds unpublished jobs.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    # Of who sends tasks; workers wait (config/celery.py).
    "socket_timeout": 5,
    "socket_keepalive": True,
    # A server that vanished without closing its connections is noticed within seconds.
    "socket_keepalive_options": (
        {socket.TCP_USER_TIMEOUT: 10_000} if hasattr(socket, "TCP_USER_TIMEOUT") else {}
    ),
    "visibility_timeout": 900,
    "global_keyprefix": f"{REDIS_PREFIX}:",
}
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
