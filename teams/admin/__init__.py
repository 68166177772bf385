"""The web admin's pages of teams, people and conversations."""

from . import agents, checkpoints, conversations, keys, logins, people, teams, versions

__all__ = [
    "agents",
    "checkpoints",
    "conversations",
    "keys",
    "logins",
    "people",
    "teams",
    "versions",
]
