"""Verbs left out the second time: "Jonas does backend, Aylin frontend" as two whole clauses."""

from __future__ import annotations

import re

from .syntax import has_verb
from .verbs import AUXILIARIES, MODALS, THIRD
from .words import COMMON_OPENERS, PREPOSITIONS, WEEKDAYS, words_of

_JOINT = re.compile(r",\s(?:and\s)?|\sand\s(?=[A-ZÀ-Þ])")
_NAMED = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)?)\s(?P<rest>[^A-ZÀ-Þ\s].*|[A-Z]{2,}.*)"
)
_HEAD = re.compile(
    r"(?P<name>[A-ZÀ-Þ][\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)?)\s(?P<verb>[a-z]+)\s(?P<rest>[^,]{2,60})"
)
_MAX_GAP_WORDS = 6


def share_verb(*, text: str) -> list[str]:
    """The clauses of a sentence whose later parts leave the first one's verb out; else empty.

    A part counts when it is a name and what the name does, and repeats the first part's
    preposition where that has one ("Maud goes to data, Rashid to support").
    """
    bare = text.rstrip(". ")
    parts = _JOINT.split(bare)
    head = _HEAD.fullmatch(parts[0]) if len(parts) > 1 else None
    if head is None or not _is_subject(head.group("name")):
        return []
    verb = head.group("verb")
    if (verb not in THIRD and verb not in AUXILIARIES) or verb in MODALS or verb.endswith("ed"):
        return []
    leading = words_of(head.group("rest"))[:1]
    clauses = [parts[0]]
    for index, part in enumerate(parts[1:], 1):
        gap = _NAMED.fullmatch(part)
        if gap is None or has_verb(text=part) or not _is_subject(gap.group("name")):
            return [*clauses, bare[bare.find(part) :]] if index > 1 and has_verb(text=part) else []
        first = words_of(gap.group("rest"))[:1]
        placed = {*leading, *first} & PREPOSITIONS
        if (placed and leading != first) or len(part.split()) > _MAX_GAP_WORDS:
            return []
        clauses.append(f"{gap.group('name')} {verb} {gap.group('rest')}")
    return clauses


def _is_subject(name: str) -> bool:
    first = name.split()[0].lower()
    return first not in COMMON_OPENERS and first.removesuffix("s") not in WEEKDAYS
