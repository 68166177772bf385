"""The web admin's pages of teams, people and conversations."""

from . import checkpoints, conversations, keys, logins, people, teams, versions

__all__ = [
    "checkpoints",
    "conversations",
    "keys",
    "logins",
    "people",
    "teams",
    "versions",
]
