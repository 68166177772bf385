"""The Django app that talks to language models."""

from django.apps import AppConfig


class RoutingConfig(AppConfig):
    """Providers and, later, tiers and budgets."""

    name = "routing"
