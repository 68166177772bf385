"""What joins two memories, and how strongly (seed 002, "Link discovery")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.words import split_sentences

MOST_LINKS = 5
"""Edges that consolidations may find for one memory."""

RARE = 6
"""A name or artifact that more memories share joins none of them."""

WEAKENED = 0.5
"""What is left of the weight of an edge that does not prove itself, with each run."""

FLOOR = 0.2
"""An edge of less weight is removed."""

USUAL_WEIGHT = 0.6
_FURTHER_GROUND = 0.1
_TOGETHER_AGAIN = 0.05
_SHORTEST = 3
_WORD = re.compile(r"[^\W_]+(?:[_./#-][^\W_]+)*")
_NO_NAMES = frozenset({*MONTHS, *WEEKDAYS, "user"})


class Ground(StrEnum):
    """Why two memories are joined."""

    ENTITY = "entity"
    ARTIFACT = "artifact"
    SIMILARITY = "similarity"
    TOGETHER = "together"


def named_things(text: str) -> frozenset[str]:
    """The names and identifiers in a text, casefolded.

    Words with a capital that do not open a sentence, and those with a capital or a number inside:
    "Helsinki", "PostgreSQL", "v2", "billing-api/db". How rare they are is not known here.
    """
    found = set()
    for sentence in split_sentences(text):
        for place, match in enumerate(_WORD.finditer(sentence.text)):
            word = match[0]
            inside = word[1:] != word[1:].lower() or not word.isalpha()
            is_name = not word.isdigit() and (inside or (place > 0 and word[0].isupper()))
            if is_name and len(word) >= _SHORTEST and word.casefold() not in _NO_NAMES:
                found.add(word.casefold())
    return frozenset(found)


def weight_of(grounds: Mapping[Ground, float]) -> float:
    """The weight 0-1 of an edge: of its best ground, and a little for each further one."""
    return round(min(1.0, max(grounds.values()) + _FURTHER_GROUND * (len(grounds) - 1)), 2)


def weight_of_answers(count: int) -> float:
    """What it weighs that two memories were among the best of so many answers."""
    return min(1.0, USUAL_WEIGHT + _TOGETHER_AGAIN * count)
