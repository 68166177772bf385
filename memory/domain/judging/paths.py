"""Subject paths as evidence: which name a matter, and which say no more than the words do."""

from __future__ import annotations

from dataclasses import replace

from ..types import Statement
from .reading.tables import words

# Kinds of memory. An extractor that knows no better files a text under one of them and goes on
# with the text's own words ("fact.standup_9_30"), so that two such paths differ as the texts do.
_VAGUE = words(
    "fact event activity convention requirement goal goals incident failure decision procedure "
    "task tasks request result technical_fact tool_pattern"
)
_KINDS = _VAGUE | words("schedule limit constraint milestone absence deadline preference")
_NEVER_ONE_MATTER = ("fact.", "event.", "activity.")


def is_specific(subject: str) -> bool:
    """Whether a subject path names a matter, and not just the kind of memory it is."""
    return "." in subject and not subject.startswith(_NEVER_ONE_MATTER)


def as_compared(existing: Statement, new: Statement) -> tuple[Statement, Statement]:
    """The two as gate and judge are to see them: without paths that are no evidence.

    One path of both is evidence where it is specific, two paths where both name a matter.
    """
    one, other = existing.subject, new.subject
    if is_specific(one) if one == other else _names_matter(one) and _names_matter(other):
        return existing, new
    return replace(existing, subject=""), replace(new, subject="")


def _names_matter(subject: str) -> bool:
    parts = subject.split(".")
    return len(parts) > 1 and parts[0] not in _KINDS and parts[-1] not in _VAGUE
