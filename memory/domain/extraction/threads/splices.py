"""Cutting a corrected clause out of a unit, and putting a new value in."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from ..clauses import split_clauses
from ..language.words import content_words
from .dialogue import Unit


def without_clause(unit: Unit, shared: set[str]) -> Unit | None:
    """The unit without the one clause that was corrected; None when nothing else is left."""
    parts = split_clauses(text=unit.text)
    if len(parts) < 2:
        return None
    wrong = max(parts, key=lambda part: len(stems(part) & shared))
    _, colon, body = wrong.partition(": ")
    gone = body if colon and wrong is parts[0] else wrong
    text = re.sub(
        r"(?<=:)\s?,\s|,\s(?:and\s)?(?=,)|,\s(?:and\s)?(?=[.!]?$)",
        " ",
        unit.text.replace(gone, "", 1),
    ).strip()
    return replace(unit, text=text) if len(content_words(text)) > 1 else None


def stems(text: str) -> set[str]:
    """The content words of a text without a plural s."""
    return {word.rstrip("s") for word in content_words(text)}


def joined(base: Unit, other: Unit, text: str, at: datetime) -> Unit:
    """`base` with a new text and the sources of both.

    What was said in an earlier window is told again where it is put right in this one.
    """
    sources: dict[UUID, None] = dict.fromkeys(base.sources)
    sources.update(dict.fromkeys(other.sources))
    return replace(base, text=text, sources=tuple(sources), at=at, own=base.own or other.own)


def replaced(text: str, start: int, end: int, new: str) -> str:
    """The text with a span replaced, grown over neighbours that the new wording repeats."""
    words = new.split()
    for count in range(len(words) - 1, 0, -1):
        head = " ".join(words[:count]) + " "
        if text[:start].lower().endswith(head.lower()):
            start -= len(head)
            break
    for count in range(len(words) - 1, 0, -1):
        tail = " " + " ".join(words[-count:])
        if text[end:].lower().startswith(tail.lower()):
            end += len(tail)
            break
    return text[:start] + new + text[end:]


def alike(new: str, old: str) -> bool:
    """Whether one number may correct the other: both in digits within a factor of ten, or words."""
    sizes = [re.sub(r"\D", "", number.split(".")[0]) for number in (new, old)]
    if not all(sizes):
        return bool(sizes[0]) == bool(sizes[1])
    small, large = sorted(float(size) for size in sizes)
    return large <= 10 * max(small, 1.0)
