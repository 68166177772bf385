"""What a sentence introduces as its topic ("Juniper is the new partner portal")."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.names import NOT_NAMES, is_person
from ..language.words import COMMON_OPENERS, PEOPLE_NOUNS, STOPWORDS, word_set, words_of

_ASKED_FOR = re.compile(
    r"^(?:what|who|where|when)(?:['’]s|\sis|\sare|\swas)\s(?P<np>(?:the|[A-Z][\w-]+['’]s|"
    r"the\steam['’]s)\s[\w\s-]{3,40}?)(?:\sagain|\snow)?\??$",
    re.IGNORECASE,
)
_THE_NAMED = re.compile(
    r"\b(?:the|our|my)\s(?P<np>(?:new\s|old\s|next\s|"
    r"big\s)?(?:[A-Z][\w-]+\s){1,2}(?P<noun>[a-z]{3,14}))\b"
)
_IS_THE = re.compile(
    r"^(?P<name>[A-Z][\w-]+(?:\s[A-Z][\w-]+){0,2})\sis\s(?:the|our|a|an|my)\s(?P<noun>.{3,60})"
)
_GROUP_NOUNS = word_set(
    "group club team board committee project room site page plan tour trip school shop office "
    "class course centre center house hall street association circle crew choir festival"
)
_CALLING = re.compile(r"[a-z]{3,}(?:ist|ician)")
_PLACED = re.compile(r"\b(?:at|from|into|near|behind|beside|opposite)\s$", re.IGNORECASE)
_PEOPLE = word_set("people folks guys lot crowd brothers sisters twins boys girls")
_NAMED_BY_APPOSITION = re.compile(
    r"\b(?:keep\s(?:track|notes)\sof|working\son|keep\san\seye\son|planning|organi[sz]ing|"
    r"preparing|about)\s(?:an?|our|my|the|[A-Z]\w+['’]s)\s(?:[\w-]+\s){1,3}?(?:for\s[\w\s]{2,12}|"
    r"called|named)?,?\s(?:called\s|named\s)?(?P<name>[A-ZÀ-Þ][\w-]+)(?=[.,;]|$)"
)
_BEGUN = re.compile(
    r"\b(?:set\sup|kick\soff|project|client|customer|prospect|supplier)\s(?P<name>[A-Z][\w-]+)"
)


@dataclass(frozen=True, slots=True)
class Introduced:
    """What a sentence puts into focus.

    `is_topic` says that the conversation goes on about it, `is_asked` that a question asks for it.
    """

    name: str
    is_topic: bool = True
    is_asked: bool = False


def introduced_topic(*, text: str, speakers: frozenset[str]) -> Introduced | None:
    """What a sentence (in the third person) introduces, or None."""
    asked = _ASKED_FOR.match(text)
    if asked:
        return Introduced(asked.group("np"), is_topic=False, is_asked=True)
    defined = _IS_THE.match(text)
    if defined and _may_be_topic(defined.group("name"), text, speakers):
        words = words_of(defined.group("noun"))
        if words and not (PEOPLE_NOUNS & set(words[:4]) or _CALLING.fullmatch(words[0])):
            return Introduced(defined.group("name"))
    for match in _THE_NAMED.finditer(text):
        if match.group("noun") in STOPWORDS or words_of(match.group("np"))[0] in NOT_NAMES:
            continue
        following = words_of(text[match.end() : match.end() + 16])[:1]
        grown = following and following[0] in _GROUP_NOUNS
        name = "the " + match.group("np") + (" " + following[0] if grown else "")
        # "the USB cable" is a thing, "the Osprey kiln" may be what it is all about; but for "at the
        # Osprey kiln", where something is, and "the Osprey people".
        placed = _PLACED.search(text[: match.start()]) or match.group("noun") in _PEOPLE
        aside = bool(placed) or match.group("np").split()[-2].isupper()
        return Introduced(name, is_topic=not aside)
    named = _NAMED_BY_APPOSITION.search(text)
    if (
        named
        and named.group("name").lower() not in NOT_NAMES
        and _may_be_topic(named.group("name"), text, speakers)
    ):
        return Introduced(named.group("name"))
    begun = _BEGUN.search(text)
    if begun and begun.group("name").lower() not in COMMON_OPENERS:
        return Introduced(begun.group("name"))
    return None


def _may_be_topic(name: str, text: str, speakers: frozenset[str]) -> bool:
    return (
        name not in speakers
        and name.lower() not in COMMON_OPENERS
        and not is_person(name, text=text)
    )
