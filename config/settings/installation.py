"""Home folder, environment, secret key, hosts and logging."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import embedded, telemetry
from config.env import read_choice, read_list, read_str

BASE_DIR = Path(__file__).resolve().parent.parent.parent
HOME = embedded.home()

ENVIRONMENT = read_choice(
    "PALIMPSEST_ENV", "development", choices=("development", "production", "test")
)
PRODUCTION = ENVIRONMENT == "production"
DEBUG = False


def _secret_key() -> str:
    """The secret from the environment, or outside production the one kept in the home."""
    kept = HOME / "secret_key"
    if os.environ.get("DJANGO_SECRET_KEY") or PRODUCTION:
        return read_str("DJANGO_SECRET_KEY")
    if kept.is_file():
        return kept.read_text().strip()
    return "no-server-has-been-started-in-this-home-yet"


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", "" if PRODUCTION else "*")
CSRF_TRUSTED_ORIGINS = read_list("CSRF_TRUSTED_ORIGINS")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("Set the environment variable ALLOWED_HOSTS.")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "ids": {"()": "config.logs.RequestIds"},
        "task_errors": {"()": "config.logs.TaskErrors"},
    },
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
            "filters": ["ids", "task_errors"],
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
    },
    "root": {"handlers": ["stderr"], "level": read_str("LOG_LEVEL", "WARNING")},
}

# Callers of /metrics must send it; empty allows only direct requests from this machine.
METRICS_TOKEN = read_str("METRICS_TOKEN", "")
# Whether web processes and workers export traces to an OpenTelemetry collector.
TELEMETRY = telemetry.is_wanted()
