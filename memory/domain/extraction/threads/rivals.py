"""People without a name in a sentence, who may be meant by "she" or "he" as well as a named one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..language.genders import Gender, gender_of
from ..language.tense import is_past
from ..language.words import KIN, PEOPLE_NOUNS, PETS, word_set
from .company import STRANGERS, TRADES, UNCLEAR

_SEVERAL = word_set("siblings kids children twins parents family grandchildren in-laws "
                    "stepchildren friends pets dogs cats")  # fmt: skip
_NOUNS = "|".join(
    sorted(
        ((KIN | PEOPLE_NOUNS | TRADES | STRANGERS | PETS) - UNCLEAR - _SEVERAL)
        | word_set("kid child baby client customer student trainee employee apprentice newcomer"),
        key=len,
        reverse=True,
    )
)
_NAME = r"[A-ZÀ-Þ][\w-]+\b"
_ONE = re.compile(
    r"\b(?P<det>the|an?|my|our|your|his|her|their|this|that|another|one|(?:the\s)?[\w-]+['’]s)\s"
    rf"(?:[a-z-]+\s){{0,2}}?(?P<noun>(?:{_NOUNS})|[a-z]{{3,}}(?:ologist|therapist|ician|[a-z]wom[ae]n|[a-z]man))\b"
    r"(?!['’-]|\s(?:day|office|team|call|food|appointment|meeting|support|service)\b)"
    rf"(?:,?\s(?-i:(?P<beside>{_NAME}))|\s(?:is|was)\s(?:called\s|named\s)?(?-i:(?P<called>{_NAME}))(?!['’])"
    rf"|\s(?:called|named)\s(?-i:(?P<named>{_NAME}))(?!['’]))?",
    re.IGNORECASE,
)
_NAMED_SO = re.compile(
    rf"\b(?P<noun>{_NOUNS})['’]s\sname(?:['’]s|\sis|\swas)\s(?-i:(?P<called>{_NAME}))",
    re.IGNORECASE,
)
# Who is met, married or promoted is somebody, whatever the noun.
_MET = re.compile(
    r"\b(?:met|marr(?:y|ies|ied)|married\sto|engaged\sto|in\slove\swith|dat(?:es|ed|ing)|introduced\s\w+\sto|"
    r"promoted|interviewed|mentors|greeted|thanked|replaced|succeeded)\s(?:an?|the|their|his|her|our)\s"
    r"(?:[a-z-]+\s)?(?P<noun>[a-z-]+)\b(?=\s(?:from|in|at|who|on|last|called)\b|[.,;!]|$)",
    re.IGNORECASE,
)
_WHOM = re.compile(
    r"\b(?:(?P<he>him)|her(?=\s(?:to|that|he|she|they|about|on|in|at|for|and|not)\b|[.,;]|$))\b",
    re.IGNORECASE,
)
_OWNED_BY = re.compile(rf"(?P<name>{_NAME})['’]s")
# "She is a nurse", "works as a waiter": the same person, and nobody else.
_SAME = re.compile(
    r"(?:\b(?:is|was|are|were|be|been|being|become|becomes|became|as|like|than)|['’](?:s|m|re))\s"
    r"(?:(?:also|now|still|just|only|not|really|both)\s)?$",
    re.IGNORECASE,
)
# "Felix, his colleague", "my neighbour, the plumber"
_APPOSED = re.compile(rf"(?:(?-i:[A-ZÀ-Þ][\w-]+)|\b(?:{_NOUNS})),\s$", re.IGNORECASE)
# "at the dentist", "the vet is at Oak Clinic": a place to go to.
_IS_AT = re.compile(r"\s(?:is|are)\s(?:at|in|on|near)\b", re.IGNORECASE)
_VISITED = re.compile(r"\b(?:at|to|from|see|sees|saw)\s$", re.IGNORECASE)
_PRACTICES = word_set("doctor dentist vet therapist")
# Who says, thinks or wants something speaks of whoever is named then: "The vet says Flo is ill".
_TELLS = (
    r"\s(?:(?:has|have|had|just|also|now|already|always)\s)?(?:says?|said|thinks?|thought|believes?|believed|claims?|"
    r"claimed|reckons?|mentioned|mentions|writes|wrote|told\s(?:us|me)|tells\s(?:us|me)|confirmed|insists?|"
    r"insisted|hopes?|hoped|worries|fears?|finds?|found)\b"
)
_TELLS_OF = re.compile(
    rf"(?:{_TELLS}(?:,|:)?\s(?:that\s)?|(?:{_TELLS}|\s(?:called|phoned|rang|texted|emailed))(?:\s[a-z]+){{0,2}}:\s)"
    rf"(?:(?P<name>{_NAME})|(?P<pro>s?he|his|her)\b)",
)
# "Nora's landlord wants more rent" and "Nora's teacher called" tell of Nora.
_DEALS = re.compile(
    rf"(?:{_TELLS}|\s(?:wants?|wanted|called|phoned|rang|texted|emailed|asks?|asked|complain(?:s|ed)?|"
    r"warn(?:s|ed)?|expects?|expected|praise[sd]?|likes?|liked|gives|gave|sent|sends|offer(?:s|ed)?)\b)"
)
_SPEAKING = (
    r"(?:says?|said|recommend\w*|suggest\w*|advis\w*|prescrib\w*|thinks?|thought|wants?|wanted|asks?|asked|"
    r"warn\w*|tells?|told|sends?|sent|calls?|called|writes?|wrote|charges?|charged|complain\w*)\b"
)
_SPEAKS = re.compile(
    rf"(?:\s(?:also|just|now|then|even|still|has|had)|['’]s)?\s{_SPEAKING}", re.IGNORECASE
)
_ASKS_TELLER = re.compile(rf"\b(?:does|did|has|will)\s(?:she|he)\s{_SPEAKING}", re.IGNORECASE)
# Whom the subject is only beside: "visited Rome with her", and of a description "works for her".
_OWNER = r"(?:(?:[\w-]+['’]s|the|my|our|his|her|their|an?)\s(?:[\w-]+\s){0,2})?$"
_BESIDE = re.compile(rf"\b(?:with|near|like|than|beside)\s{_OWNER}", re.IGNORECASE)
_DESCRIBED_BY = re.compile(rf"\b(?:for|of|by)\s{_OWNER}", re.IGNORECASE)
# What two do to or with each other may go on with either.
_EACH_OTHER = re.compile(
    r"\b(?:argu|quarrel|fight|fought|disagree|agree|compet|talk|speak|spoke|chat|negotiat|meet|met\b|"
    r"differ|compar|play|danc|rac(?:e|ed|es|ing)\b|box|wrestl|bet\b|deal|trad|swap|split|broke|date)\w*\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rival:
    """Somebody named by what they are; `called` is their name where the sentence tells it.

    `is_beside` says that the sentence describes somebody else, whom this one is only with; `tells`
    is the gender of whom this one only has to do with ("the doctor told him"), `tells_of` the name
    of that one ("the doctor says Timo is ill"). `deals_with` names whose they are who calls or
    wants something ("Timo's doctor called").
    """

    noun: str
    gender: Gender
    called: str = ""
    is_beside: bool = False
    tells: Gender = Gender.UNKNOWN
    tells_of: str = ""
    deals_with: str = ""


# Both passes read the same sentences.
@lru_cache(maxsize=512)
def rivals_in(*, text: str) -> tuple[Rival, ...]:
    """The people whom a sentence in the third person names by what they are."""
    found: list[Rival] = []
    for match in _ONE.finditer(text):
        before, noun = text[: match.start()], match.group("noun").lower()
        # "Is the CEO informed?" is no description of anybody.
        told = len(before.split()) > 1
        if (told and _SAME.search(before)) or _APPOSED.search(before):
            continue
        if noun in _PRACTICES and (_VISITED.search(before) or _IS_AT.match(text, match.end())):
            continue
        beside = is_passed_by(before=before, text=text)
        # "A girl called Mia" is one, "the nurse called Mia" are two.
        named = match.group("named") if match.group("det").lower() in {"a", "an"} else ""
        called = match.group("beside") or match.group("called") or named or ""
        whom = _WHOM.search(text, match.end())
        tells = Gender.UNKNOWN if whom is None else Gender.HE if whom["he"] else Gender.SHE
        of = _TELLS_OF.match(text, match.end())
        if of and of["pro"]:
            tells = Gender.HE if of["pro"] in {"he", "his"} else Gender.SHE
        owner = _OWNED_BY.fullmatch(match.group("det")) if _DEALS.match(text, match.end()) else None
        tells_of = (of["name"] or "") if of else ""
        whose = owner["name"] if owner else ""
        found.append(Rival(noun, gender_of(name=noun), called, beside, tells, tells_of, whose))
    found += [
        Rival(match.group("noun").lower(), Gender.UNKNOWN, match.group("called"))
        for match in (_NAMED_SO.finditer(text) if " name" in text else ())
    ]
    met = _MET.search(text)
    if met and not any(each.noun == met.group("noun") for each in found):
        found.append(Rival(met.group("noun"), gender_of(name=met.group("noun"))))
    return tuple(found)


def speaks(*, rest: str) -> bool:
    """Whether a pronoun before `rest` may be who told something ("She recommends hay")."""
    return bool(_SPEAKS.match(rest))


def asks_who_told(*, question: str) -> bool:
    """Whether a question goes on of who told something ("What does she recommend?")."""
    return bool(_ASKS_TELLER.search(question))


def is_passed_by(*, before: str, text: str) -> bool:
    """Whether somebody behind the words `before` is only whom the subject of `text` is beside."""
    if _EACH_OTHER.search(text):
        return False
    described = _DESCRIBED_BY.search(before) and not is_past(text=text)
    return bool(described or _BESIDE.search(before))
