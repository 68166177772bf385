"""The web admin's pages of teams, people and conversations."""

from . import checkpoints, conversations, keys, logins, members, people, sign_in, teams, versions

__all__ = [
    "checkpoints",
    "conversations",
    "keys",
    "logins",
    "members",
    "people",
    "sign_in",
    "teams",
    "versions",
]
