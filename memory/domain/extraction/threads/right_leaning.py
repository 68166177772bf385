"""Values that lean on what they put right: "her husband", "three of them", "Jack's"."""

from __future__ import annotations

import re

from ..language.genders import is_given_name
from ..language.words import KIN, NUMBER_WORDS, PEOPLE_NOUNS, words_of

_NUMBER = "|".join(word for word in NUMBER_WORDS if len(word) > 2)
_SHARE = (
    rf"(?:{_NUMBER}|\d+|some|most|all|half|both|many|several|each|none|"
    r"a\s(?:few|third|quarter|couple)|two\sthirds)"
)
_OF_THEM = re.compile(rf"(?P<share>{_SHARE})\sof\s(?:them|it|us|these|those)", re.IGNORECASE)
_OF_THOSE = re.compile(rf"\b(?P<share>{_SHARE})(?=\sof\s[\w\s'’-]+$)", re.IGNORECASE)
_THEIRS = re.compile(
    r"(?:(?:to|with|for|from|at|by)\s)?(?P<whose>her|his|their)\s(?P<what>[a-z][\w\s-]*)",
    re.IGNORECASE,
)
_PERSON = (
    rf"\b(?:my|our|the)\s(?:[a-z-]+\s)?(?:{'|'.join(sorted(KIN | PEOPLE_NOUNS))})\b(?!-)"
    r"(?:\s(?-i:[A-ZÀ-Þ])[\w-]+)?"
)
_WHOSE = re.compile(rf"{_PERSON}(?!['’])", re.IGNORECASE)
_OF_WHOM = re.compile(
    rf"(?P<who>(?:{_PERSON}|\b(?-i:[A-ZÀ-Þ])[\w-]+)['’]s)\s[\w-]+$", re.IGNORECASE
)
_NAMED_LAST = re.compile(r"(?<=\s)[A-ZÀ-Þ][\w-]+$")
_OWNER = r"(?P<mine>(?:my|our|his|her|their|the)\s(?:[a-z-]+\s)?)?[\w-]+['’]s"
_OWNERS = re.compile(_OWNER, re.IGNORECASE)
_IS_SHORT = re.compile(r"(?:it|that|there|he|she|what|who|here|where|let)['’]s", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:it|them|him|those|these)\b", re.IGNORECASE)


def leans(*, text: str, value: str) -> bool:
    """Whether a value says nothing without what it puts right."""
    theirs = _THEIRS.fullmatch(value)
    if theirs and theirs["whose"].lower() in words_of(text):
        return False
    return bool(_POINTS.search(value) or theirs or _OWNERS.fullmatch(value))


def put_right_by(*, text: str, value: str) -> str:
    """The text with such a value in it; "" where it is not said what the value leans on."""
    share = _OF_THEM.fullmatch(value)
    if share:
        said = list(_OF_THOSE.finditer(text))
        if not said:
            return ""
        new = share["share"].lower()
        new = new.capitalize() if said[-1]["share"][0].isupper() else new
        return text[: said[-1].start()] + new + text[said[-1].end() :]
    owner = _OWNERS.fullmatch(value)
    if owner:
        return _owned(text, value, bool(owner["mine"]))
    theirs = _THEIRS.fullmatch(value)
    owned = _OF_WHOM.search(text)
    if theirs and owned:
        return f"{text[: owned.end('who')]} {theirs['what']}"
    named = _NAMED_LAST.search(text)
    whose = list(_WHOSE.finditer(text))
    if theirs and named and is_given_name(name=named.group()) and not whose:
        return f"{text}'s {theirs['what']}"
    if theirs and whose and not _POINTS.search(value):
        end = whose[-1].end()
        return f"{text[:end]}'s {theirs['what']}{text[end:]}"
    return ""


def _owned(text: str, value: str, is_mine: bool) -> str:
    """ "at Jack's" for "at Joe's", "my mum's car" for "my dad's car"."""
    owners = [
        each for each in _OWNERS.finditer(text)
        if bool(each["mine"]) == is_mine and not _IS_SHORT.fullmatch(each.group())
    ]  # fmt: skip
    if not owners:
        return ""
    said = owners[-1]
    new = value[:1].upper() + value[1:] if said.group()[0].isupper() else value
    return text[: said.start()] + new + text[said.end() :]
