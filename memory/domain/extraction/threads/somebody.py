"""Verbs whose object or subject is somebody: who is paid, hired or thanked is no thing."""

from __future__ import annotations

import re

from ..language.verbs import past_of, third_person
from ..language.words import ADVERBS, KIN, ORG_SUFFIXES, PEOPLE_NOUNS, word_set, words_of
from .company import GROUPS, ORGANISATIONS, TRADES


def _forms(bases: str) -> frozenset[str]:
    """Base, third person and past of each verb."""
    return frozenset(
        form
        for base in word_set(bases)
        for form in (base, third_person(base=base), past_of(base=base))
    )


_DONE_TO = _forms(
    """
    pay owe hire employ fire sack dismiss tip bribe reimburse refund invoice bill charge sue thank
    invite phone ring text email mail message contact consult recruit interview marry greet
    convince persuade bother pester warn congratulate forgive blame tell ask trust meet date
    """
)
_DONE_BY = _forms(
    """
    want say charge ask pay owe offer promise think believe know tell refuse insist complain
    invoice bill agree hope speak demand hire employ invite suggest recommend
    """
)
_HANDED = re.compile(r"\b(?:gives?|gave|sends?|sent|lends?|lent|wire[sd]?)\s$", re.IGNORECASE)
_AUXILIARIES = word_set("will would have had can could do don't did didn't won't must should")
_SOMEBODY = GROUPS | PEOPLE_NOUNS | KIN | TRADES | ORGANISATIONS | ORG_SUFFIXES | word_set("team")


def is_done_to_somebody(*, before: str) -> bool:
    """Whether the verb at the end of the words before an object takes somebody for it."""
    words = [word for word in words_of(before) if word not in ADVERBS]
    return bool(words) and (words[-1] in _DONE_TO or bool(_HANDED.search(before)))


def is_done_by_somebody(*, rest: str) -> bool:
    """Whether the verb that follows a subject is one of somebody ("want", "will charge")."""
    words = [word for word in words_of(rest)[:5] if word not in ADVERBS | _AUXILIARIES]
    return bool(words) and words[0] in _DONE_BY


def may_be_somebody(*, name: str) -> bool:
    """Whether a phrase ("the two cleaners", "Holtmann Logistics") names people or their body."""
    last = words_of(name)[-1:]
    return bool(last) and bool({last[0], last[0].removesuffix("s")} & _SOMEBODY)
