"""Proper names in a statement: runs of capitalised words, codes, and the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .lexicon import knows
from .quantities import Quantity
from .sentence import STOPWORDS
from .tables import words
from .tokens import Token
from .units import MONTHS, WEEKDAYS
from .verbal import AUXILIARIES, looks_verbal

_COMMON_STARTS = words(
    "the a an all no none only every each both some any most many new there it he she they we i "
    "my our his her their its this that these those after before since as in on at by for from "
    "with when if while during until nobody nothing everyone everybody anyone correction update "
    "today yesterday tomorrow last next two three four five six seven eight nine ten half once "
    "twice please never always not one"
)


_COMMON_ENDINGS = (
    "ing", "tion", "ment", "ness", "ity", "ance", "ence", "ings", "tions", "ments", "ship", "ers",
    "ages", "age", "ies", "ists", "ures", "ure",
)  # fmt: skip


# A small word, and the name of a language.
NAMES_TOO = frozenset({"go"})


class Name(NamedTuple):
    """A proper name: its folded parts, where it stands, and whether it is what is spoken about."""

    parts: frozenset[str]
    text: str
    start: int
    end: int
    is_subject: bool
    is_owner: bool


def find_names(
    tokens: Sequence[Token], quantities: Sequence[Quantity], start: int, head: int
) -> tuple[Name, ...]:
    """Proper names: runs of capitalised words, codes with digits or hyphens, and the user."""
    taken = {i for quantity in quantities for i in range(quantity.start, quantity.end)}
    names: list[Name] = []
    i = 0
    while i < len(tokens):
        if i in taken or not _is_name_part(tokens, i):
            i += 1
            continue
        j = i + 1
        while j < len(tokens) and j not in taken and _continues_name(tokens, j):
            j += 1
        parts = frozenset(token.lower for token in tokens[i:j])
        owner = j < len(tokens) and tokens[j].lower == "'s"
        text = " ".join(token.text for token in tokens[i:j])
        names.append(Name(parts, text, i, j, start <= i < head, owner))
        i = j
    return tuple(names)


def _continues_name(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    return (
        token.capital
        and not token.separator
        and not tokens[i - 1].separator
        and (token.lower not in _COMMON_STARTS and token.lower not in WEEKDAYS)
    )


def _is_name_part(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    if token.separator or token.lower in {"'s", "'re"}:
        return False
    if token.lower == "user":
        return True
    if not token.capital:
        return any(c.isdigit() for c in token.lower) and any(c.isalpha() for c in token.lower)
    starts = i == 0 or tokens[i - 1].lower in {".", ":", "!", "?", ";", "("}
    if token.lower in NAMES_TOO and not starts:
        return True
    if token.lower in MONTHS or token.lower in WEEKDAYS or token.lower in STOPWORDS:
        return False
    if not starts:
        return True
    return _is_initial_name(tokens, i)


def _is_initial_name(tokens: Sequence[Token], i: int) -> bool:
    """Whether a capital that a sentence's start explains is a name all the same."""
    lower = tokens[i].lower
    if lower in _COMMON_STARTS or lower in STOPWORDS:
        return False
    if "-" in lower and not any(c.isdigit() for c in lower):
        return i + 1 < len(tokens) and tokens[i + 1].capital
    if not tokens[i].text.isalpha() or tokens[i].text[1:].lower() != tokens[i].text[1:]:
        return True
    if i + 1 < len(tokens) and tokens[i + 1].capital:
        return True
    if knows(tokens[i].stem) or lower.endswith(_COMMON_ENDINGS):
        return False
    if i + 1 < len(tokens):
        after = tokens[i + 1]
        if after.lower in AUXILIARIES or after.lower == "'s" or looks_verbal(tokens, i + 1):
            if not lower.endswith("s") or after.lower in {"is", "was", "has"}:
                return True
            # "Lukas works", "Tobias moved" against "prices rise", "prices rose".
            singular = after.lower.endswith("s") and after.lower not in AUXILIARIES
            return singular or lower.endswith(("as", "us", "is"))
        if after.lower in {"and", "no", ","}:
            return True
    return False
