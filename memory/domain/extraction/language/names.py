"""Proper names in a sentence, and which of them are people."""

from __future__ import annotations

import re

from .genders import is_given_name
from .verbs import BASES, UNMARKED, is_finite
from .words import (
    COMMON_OPENERS,
    MONTHS,
    NAMES_TOO,
    ORG_SUFFIXES,
    PEOPLE_NOUNS,
    PETS,
    STOPWORDS,
    WEEKDAYS,
    word_set,
    words_of,
)

_NAME_WORD = r"[A-ZÀ-Þ][\wÀ-ɏ’'.-]*[\wÀ-ɏ]|[A-ZÀ-Þ]"
_NAME = re.compile(
    rf"(?:{_NAME_WORD})(?:\s(?:(?:of|de|van|von|der|du|la|le|el|al)\s)?(?:{_NAME_WORD}|"
    rf"\d{{1,4}}\b)){{0,4}}"
)
_APPOSED = re.compile(
    rf"\b(?:our|my|their|his|her|the|a|an|new|"
    rf"[A-Z][\w-]+['’]s)\s(?:[\w-]+\s){{0,3}}?(?P<role>[\w-]+),?\s(?P<name>{_NAME_WORD}(?:\s(?:{_NAME_WORD}))?)"
)
_PERSON_VERBS = word_set(
    """
    writes wrote owns works worked reports reported lives lived said says told does did joined
    joins starts started leads led manages managed runs ran takes took likes loves hates prefers
    moved moves wants wanted plays studies teaches goes went came comes left leaves thinks
    handles reviews reviewed approves signs signed called calls sent is was has covers helps
    helped
    """
)
NOT_NAMES = (
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(day + "s" for day in WEEKDAYS)
    | {"i", "ok", "i'm", "i've", "i'll", "i'd", "english", "german"}
)


_ROLES = "|".join(sorted(PEOPLE_NOUNS))
_THEN_ROLE = re.compile(rf",\s(?:our|my|their|the|a)\s(?:[\w-]+\s){{0,3}}?(?:{_ROLES})\b")
# "Olga is our new designer"
_IS_ROLE = re.compile(
    rf"\s(?:is|was)\s(?:our|my|their|his|her|the|an?|[A-Z][\w’'-]*['’]s|the\steam['’]s)\s"
    rf"(?:[\w-]+\s){{0,3}}?(?:{_ROLES})\b"
)
# "My accountant is Joe", "her school is Oakfield Primary": what is named by its noun.
_NOUN_BEFORE = re.compile(r"\b(?P<noun>[\w-]+)\s(?:is|was|are)\s(?:(?:called|named)\s)?$")
_BODIES = word_set(
    "firm employer shop team supplier vendor bureau kindergarten nursery insurer gym"
)
_PLACE_WORDS = frozenset({"st", "saint", "mount", "lake", "san", "santa", "los", "las", "port"})
_TITLE_BEFORE = re.compile(r"\b(?:Dr|Prof|Mr|Mrs|Ms|Sir|Miss|Herr|Frau|Madame|Monsieur)\.?\s$")
_FROM_DEPARTMENT = re.compile(r"\sfrom\s(?!the\b|a\b|now\b|here\b)[a-z]{3,}\s[a-z]")
_THING_BEFORE = re.compile(
    r"\b(?:the|our|from|at|in|for|project|use|using|called)\s$", re.IGNORECASE
)


_ROLE_BEFORE = re.compile(rf"\b(?:{_ROLES})\s$", re.IGNORECASE)
_OBJECTS = word_set("it the a an my our his her their up down off out me him us them")


def names_in(text: str) -> list[str]:
    """The proper names of a text in order; a word that only opens a sentence is not one."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        name = match.group().rstrip(".'’")
        name = re.sub(r"['’]s$", "", name)
        words = name.split()
        owned = match.group().rstrip(".")[-2:] in {"'s", "’s"}
        opening = match.start() == 0 or text[max(0, match.start() - 2) : match.start()].strip()[
            -1:
        ] in {".", "!", "?", ":"}
        while (
            words
            and not _is_called_so(text, match)
            and (
                words[0].lower() in NOT_NAMES
                or (opening and words[0].lower().replace("’", "'") in COMMON_OPENERS)
            )
        ):
            words = words[1:]
            opening = False
        if not words or words[0][0].isdigit():
            continue
        name = " ".join(words)
        if (name.lower() in STOPWORDS and name != "Go") or len(name) < 2:
            continue
        if name.lower() in NOT_NAMES and not _is_called_so(text, match):
            continue
        known = words[0].lower() in BASES | PEOPLE_NOUNS if owned else True
        if known and is_given_name(name=name) and name.lower() not in BASES:
            known = False
        if opening and len(words) == 1 and known and not _subject_like(text, match.end()):
            continue
        found.append(name)
    return found


def are_several(*, name: str, text: str) -> bool:
    """ "Members get in free": a plural at the head of its sentence is nobody's name."""
    verb = words_of(text[len(name) : len(name) + 24])[:1]
    return (
        name.endswith("s")
        and text.startswith(name)
        and not is_given_name(name=name)
        and bool(verb)
        and verb[0] in BASES
        and verb[0] not in UNMARKED
    )


def _is_called_so(text: str, match: re.Match[str]) -> bool:
    """Whether a month or a common word names somebody: "April is my wife", "my daughter May"."""
    if match.group().lower() not in NAMES_TOO:
        return False
    return bool(
        _IS_ROLE.match(text, match.end())
        or _THEN_ROLE.match(text, match.end())
        or _ROLE_BEFORE.search(text, max(0, match.start() - 30), match.start())
        or _FROM_DEPARTMENT.match(text, match.end())
    )


def _subject_like(text: str, end: int) -> bool:
    following = words_of(text[end : end + 24])
    if following[1:] and following[0] in UNMARKED and following[1] in _OBJECTS:
        # "Omar set it up"
        return True
    if _FROM_DEPARTMENT.match(text, end):
        return True
    return text[end : end + 2] in {"'s", "’s", ", "} or bool(
        following and is_finite(word=following[0])
    )


_SOMEBODY = "|".join(sorted(PEOPLE_NOUNS | PETS))
# "Dana's husband is called Tobias", "his name is Kofi"
_CALLED = re.compile(
    rf"\b(?:he|she|{_SOMEBODY})(?:['’]s)?\s(?:is\s|was\s)?(?:called|named)\s$"
    rf"|\b(?:his|her|(?:{_SOMEBODY})['’]s)\sname(?:['’]s|\sis|\swas)\s$",
    re.IGNORECASE,
)


def is_person(name: str, *, text: str) -> bool:
    """Whether a name in a text is a person's, from its neighbours."""
    words = name.split()
    if (
        {words[0].lower(), words[-1].lower()} & ORG_SUFFIXES
        or name.isupper()
        or any(char.isdigit() for char in name)
    ):
        return False
    apposed = any(
        match.group("name").startswith(name) and match.group("role").lower() in PEOPLE_NOUNS | PETS
        for match in _APPOSED.finditer(text)
    )
    at = text.find(name)
    if apposed or any(role.match(text, at + len(name)) for role in (_THEN_ROLE, _IS_ROLE)):
        return True
    before = text[max(0, at - 40) : at]
    if (" called " in before or " name" in before) and _CALLED.search(before):
        return True
    named = _NOUN_BEFORE.search(text, max(0, at - 40), at)
    noun = named["noun"].lower() if named else ""
    if noun in PEOPLE_NOUNS | PETS:
        return True
    if noun in ORG_SUFFIXES | _BODIES or words[0].lower() in _PLACE_WORDS:
        return False
    if _TITLE_BEFORE.search(text[max(0, at - 6) : at]):
        return True
    if _FROM_DEPARTMENT.match(text, at + len(name)) and len(words) < 3:
        return not _THING_BEFORE.search(text[max(0, at - 9) : at])
    if _THING_BEFORE.search(text[max(0, at - 9) : at]):
        return False
    following = words_of(text[at + len(name) : at + len(name) + 20])
    if following and following[0] in _PERSON_VERBS - {"is", "was", "has", "runs", "starts"}:
        return True
    return len(words) == 2 and all(word.isalpha() for word in words)
