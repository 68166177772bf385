"""Subject paths ("user.preference.language") as evidence of what two statements are about."""

from __future__ import annotations

from dataclasses import replace

from .types import Statement

# First parts under which a text is filed when nobody knows what it is about.
_KINDS = frozenset({"activity", "event", "fact"})


def is_specific(subject: str) -> bool:
    """Whether a subject path names a matter, and not only the kind of memory it is."""
    kind, _, rest = subject.partition(".")
    return bool(rest) and kind not in _KINDS


def is_same_matter(one: str, other: str) -> bool:
    """Whether two paths name one and the same matter."""
    return one == other and is_specific(one)


def as_compared(existing: Statement, new: Statement) -> tuple[Statement, Statement]:
    """The two statements as a judge reads them: without paths of which one names no matter."""
    if is_specific(existing.subject) and is_specific(new.subject):
        return existing, new
    return replace(existing, subject=""), replace(new, subject="")
