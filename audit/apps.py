"""The Django app of the log."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """What happened to every memory, append-only."""

    name = "audit"
