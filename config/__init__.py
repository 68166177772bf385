"""Settings, wiring and start-up of Palimpsest."""

from .celery import app as celery_app

__all__ = ["celery_app"]
