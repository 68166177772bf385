"""Somebody by name, with or without who that is: "my brother Piet", "Piet"."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..types import Statement
from .pairs.losses import loss_of
from .pairs.own_things import OPENING
from .reading.frames import read
from .reading.tables import words

KIN = words(
    "brother sister mother father mum mom dad daughter son aunt uncle cousin niece nephew wife "
    "husband partner girlfriend boyfriend parent grandmother grandfather grandma grandpa child kid "
    "sibling twin stepson stepdaughter stepmother stepfather stepbrother stepsister half-brother "
    "half-sister mother-in-law father-in-law sister-in-law brother-in-law son-in-law "
    "daughter-in-law fiance fiancee fiancé fiancée flatmate roommate landlord landlady tenant "
    "lodger friend neighbour neighbor colleague coworker co-worker teammate mate buddy spouse "
    "godson goddaughter godmother godfather"
)
"""Who somebody is to a person, whoever that is."""
_POSTS = words("boss manager mentor tutor trainer coach doctor dentist therapist teacher assistant")
_KIN, _ANY = (
    "|".join(sorted((re.escape(word) for word in found), key=len, reverse=True))
    for found in (KIN, KIN | _POSTS)
)
_OWN = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|(?:[Tt]he )?[Uu]ser['’]s)"
_MORE = r"(?:(?!former|late|old|ex\b|previous)[a-z-]+ ){0,2}?"
_RELATION = rf"(?:{_OWN} {_MORE}(?P<relation>{_ANY})|[A-ZÀ-Þ][\w-]+['’]s {_MORE}(?P<kin>{_KIN}))"
_NAME = r"(?P<name>[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?)"
_NO_OWNER = r"(?!['’]s\b)(?= )"
_BEFORE = re.compile(rf"{_RELATION},? {_NAME}{_NO_OWNER}")
_BEHIND = re.compile(rf"{_NAME}, {_RELATION}, ")
_TITLED = re.compile(rf"(?P<relation>(?i:{_KIN})) {_NAME}{_NO_OWNER}")
# "Piet", and "Piet's wife", who is not Piet.
_BARE = re.compile(rf"{_NAME}(?=['’ ])")
_INSIDE = re.compile(rf"{_RELATION},? {_NAME}")
# Longer texts are stories, and not kept.
_LONGEST = 500


class Presented(NamedTuple):
    """Whom a statement opens with, who that is said to be, and the statement by the name alone."""

    name: frozenset[str]
    relation: str
    text: str


@lru_cache(maxsize=2_048)
def presented(text: str) -> Presented | None:
    """Whom a short statement opens with by name; `relation` is "" where only the name is told."""
    if len(text) > _LONGEST:
        return None
    opening = OPENING.match(text)
    start = opening.end() if opening else 0
    for pattern in (_BEFORE, _BEHIND, _TITLED, _BARE):
        found = pattern.match(text, start)
        if found is not None:
            break
    else:
        return None
    told = found.groupdict()
    relation = (told.get("relation") or told.get("kin") or "").lower()
    rest = text[found.end() :].lstrip(" ,") if relation else ""
    plain = f"{text[:start]}{found['name']} {rest}" if relation else text
    return Presented(frozenset(found["name"].lower().split()), relation, plain)


def by_one_name(existing: Statement, new: Statement) -> tuple[Statement, Statement]:
    """The two with one way to speak of whom both open with: by the name, if one has no more.

    "My brother Piet works for Renault" is about whom "Piet works for Citroen now" is about.
    """
    first, second = presented(existing.content), presented(new.content)
    if first is None or second is None or not (first.relation or second.relation):
        return existing, new
    if first.relation and second.relation and first.relation != second.relation:
        return existing, new
    if loss_of(read(new.content)):
        # What a death leaves of what was said is asked of how they were called.
        return existing, new
    if not _are_one(first, second):
        return existing, new
    return replace(existing, content=first.text), replace(new, content=second.text)


def _are_one(one: Presented, other: Presented) -> bool:
    """Whether the names are of one: "Tom Ford" need not be whom "my brother Tom" is about."""
    if one.relation and other.relation:
        return one.name <= other.name or other.name <= one.name
    return one.name == other.name


def says_who(*, existing: Statement, new: Statement) -> bool:
    """Whether only the new one says who the one is that it opens with by name."""
    found = presented(new.content)
    if found is None or not found.relation:
        return False
    told = presented(existing.content)
    if told is not None and told.relation:
        return False
    # "Ida works with her cousin Leo" says it of whom "Ida's cousin Leo" opens with.
    return not any(
        (met["relation"] or met["kin"]) == found.relation
        and not found.name.isdisjoint(met["name"].lower().split())
        for met in _INSIDE.finditer(existing.content)
    )
