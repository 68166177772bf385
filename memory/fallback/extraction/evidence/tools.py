"""What an agent reports of its tools, and what tools answer."""

from __future__ import annotations

import re

from ...lexicon import marks
from ..grammar import content_of, tokens_of
from .seen import Seen

_TABLES = ("talk/results", "talk/findings", "talk/solutions", "talk/hedges")
_IDENTIFIER = re.compile(r"\b(?:[A-Z]{1,5}-\d[\w-]*|v\d+|[a-z]+[-_][a-z0-9_-]+|\d{2,})")
_OWN_PLAN = re.compile(r"\b(?:i'll|i will|shall i|let me|i can|i could)\b", re.IGNORECASE)


def tools(seen: Seen) -> set[str]:
    """Features of a statement that no person made."""
    statement = seen.statement
    if statement.is_persons:
        return set()
    role = statement.turn.role
    found = {f"by {role}"}
    for mark in marks(tokens_of(statement.said), names=_TABLES):
        found.add(f"{role} {mark.table.removeprefix('talk/')}")
    if _IDENTIFIER.search(statement.said):
        found.add(f"{role} names a thing")
    if _OWN_PLAN.search(statement.said):
        found.add("agent plans")
    if statement.reported:
        shared = len(content_of(statement.said) & content_of(statement.reported))
        found.add(f"repeats tool {min(3, shared)}")
    return found
