"""The Django app that holds start-up code and commands."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Wiring, with no models of its own."""

    name = "config"
