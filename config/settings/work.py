"""Celery: broker, limits and the periodic tasks."""

from __future__ import annotations

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
    "socket_timeout": 5,
    "visibility_timeout": 900,
    "global_keyprefix": f"{REDIS_PREFIX}:",
}
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {  # Any: a name or seconds
    "sweep-jobs": {
        "task": "memory.tasks.sweep_jobs",
        "schedule": read_float("JOB_SWEEP_SECONDS", 15.0, minimum=1.0),
    },
    "index-messages": {
        "task": "memory.tasks.index_messages",
        "schedule": read_float("MESSAGE_INDEX_SECONDS", 3.0, minimum=1.0),
    },
    "extend-graphs": {
        "task": "memory.tasks.extend_graphs",
        "schedule": read_float("GRAPH_EXTEND_SECONDS", 30.0, minimum=1.0),
    },
    "renew-statistics": {
        "task": "memory.tasks.renew_statistics",
        "schedule": read_float("STATISTICS_SECONDS", 10.0, minimum=1.0),
    },
    "flush-usage": {
        "task": "memory.tasks.flush_usage",
        "schedule": read_float("USAGE_FLUSH_SECONDS", 10.0, minimum=1.0),
    },
    "flush-key-use": {
        "task": "teams.tasks.flush_key_use",
        "schedule": read_float("KEY_USE_FLUSH_SECONDS", 30.0, minimum=1.0),
    },
    "seal-log": {
        "task": "audit.tasks.seal_log",
        "schedule": read_float("SEAL_SECONDS", 60.0, minimum=1.0),
    },
    "flush-events": {
        "task": "audit.tasks.flush_events",
        "schedule": read_float("EVENT_FLUSH_SECONDS", 5.0, minimum=1.0),
    },
    "keep-event-days": {
        "task": "audit.tasks.keep_event_days",
        "schedule": read_float("EVENT_DAYS_SECONDS", 3600.0, minimum=1.0),
    },
    "clear-caches-of-erased": {
        "task": "audit.tasks.clear_caches_of_erased",
        "schedule": read_float("ERASURE_SWEEP_SECONDS", 600.0, minimum=1.0),
    },
    "settle-kept-costs": {
        "task": "routing.tasks.settle_kept_costs",
        "schedule": read_float("SETTLE_KEPT_SECONDS", 15.0, minimum=1.0),
    },
    "prune-decisions": {
        "task": "routing.tasks.prune_decisions",
        "schedule": read_float("DECISION_PRUNE_SECONDS", 3600.0, minimum=1.0),
    },
    "prune-idempotent-requests": {
        "task": "teams.tasks.prune_idempotent_requests",
        "schedule": read_float("IDEMPOTENCY_PRUNE_SECONDS", 600.0, minimum=1.0),
    },
}
