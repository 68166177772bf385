"""How important a memory is, 1-10 on the scale of seed 000, and whether it is pinned."""

from __future__ import annotations

import re

from memory.domain.types import MemoryType

from .evidence import Seen
from .profile import NAME, PREFERRED_NAME, PRONOUNS, ROLE, attribute_of

_IDENTITY = frozenset([NAME, PREFERRED_NAME, PRONOUNS, ROLE])
_STRONG = re.compile(
    r"\b(?:hate|can't stand|cannot stand|detest|prefer|i'd rather|i'd always|love|insist)\b"
)
_NEVER = re.compile(r"\bnever\b")
_SEEN_OR_TRIED = re.compile(r"\b(?:saw|watched|read|visited|tried|cooked|attended|listened)\b")
_LASTING = re.compile(r"\b(?:always|never|from now on|every|whenever|in future|only|don't)\b")
_WEIGHTY = frozenset(
    [
        "obliged",
        "cue duty",
        "dated",
        "amount",
        "corrected",
        "cue strong",
        "has date",
        "cue nearness",
    ]
)
_FIRST_PERSON = re.compile(r"(?:i|i'm|i've|i'll|i'd)\b")
CORE, REMEMBER = 9, 10


def rated(seen: Seen, evidence: frozenset[str], kind: MemoryType) -> tuple[int, bool]:
    """The importance, and whether the memory is pinned."""
    statement = seen.statement
    if not statement.is_persons:
        return (6 if kind is MemoryType.PROCEDURAL else 5), False
    if statement.is_pinned:
        return REMEMBER, True
    if kind is MemoryType.USER_PROFILE:
        attribute = attribute_of(seen.clause)
        if attribute in _IDENTITY and statement.turn.is_user and "own profile" in evidence:
            return CORE, True
        return (7 if attribute in {"language", "time_zone", "health"} else 6), False
    if kind is MemoryType.PROCEDURAL:
        return 6, False
    if kind is MemoryType.EPISODIC:
        return _episode(seen, evidence), False
    return _fact(seen, evidence), False


def _episode(seen: Seen, evidence: frozenset[str]) -> int:
    if "decision" in evidence and not seen.statement.is_favour:
        return 7
    if _SEEN_OR_TRIED.search(seen.low):
        return 4
    return 6 if "dated" in evidence and "tense past" not in evidence else 5


def _fact(seen: Seen, evidence: frozenset[str]) -> int:
    own = _FIRST_PERSON.match(seen.low) is not None
    asked = seen.request is not None
    mild = "cue mild" in evidence
    if (own or asked) and not mild and (_STRONG.search(seen.low) or _NEVER.search(seen.low)):
        return 8
    if asked and _LASTING.search(seen.low) and "request for oneself" in evidence:
        return 7
    if own and "cue tastes" in evidence:
        return 4 if mild else 5
    return 6 if evidence & _WEIGHTY else 5
