"""The Django app of teams and conversations."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    """Who works here and what they said."""

    name = "teams"
