"""The web admin's pages of teams, people and conversations."""

from . import conversations, keys, logins, teams

__all__ = ["conversations", "keys", "logins", "teams"]
