"""The Django app of the memory."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """The write path, the read path and their pages."""

    name = "memory"
    verbose_name = "Memory"
