"""Sentences that lean on the one before: on what "it", "they" or "there" is, or on who did it."""

from __future__ import annotations

import re

from .names import names_in
from .words import COMMON_OPENERS, words_of

# "It must …", "it can't …": a rule about the thing, that makes no sense without it.
PROPERTY = re.compile(
    r"it\s(?:must|mustn['’]t|can|can['’]t|cannot|may|should|shouldn['’]t|has\sto|needs|"
    r"always|never|only|costs|weighs|takes|lasts|holds|belongs|comes|stays|works\sonly)\b",
    re.IGNORECASE,
)
# "Those are Winston's": what they are stands in the question.
POINTING = re.compile(r"(?:these|those|they|it|that)(?:['’](?:s|re))?\s(?!says\b)", re.IGNORECASE)
UNNAMED = re.compile(r"they\b", re.IGNORECASE)
# What an office, a shop or a landlord does, whoever "they" are.
IMPERSONAL = re.compile(
    r"they(?:['’](?:ve|re|ll)|\shave|\sare|\swill)?\s(?:just\s|now\s|also\s|finally\s|always\s|never\s)?(?:put|cut|raised?|raising|closed?|"
    r"closing|cancell?ed|changed?|open(?:ed)?|opening|charged?|let|fired|hired|gave|give|sent|send|offer(?:ed)?|refused?|fixed|made|make|"
    r"delayed|stopped|banned|lowered|increased?|replaced|deliver(?:ed)?|promised|said|told|asked|require|need|use[ds]?|allow(?:ed)?|accept(?:ed)?|"
    r"approved|rejected|confirmed|moved\s(?:it|the|our|my)|pay|paid|sell|sold|serve[ds]?|built|building|ship(?:ped)?|expect(?:ed)?)\b",
    re.IGNORECASE,
)
# What cannot stand alone, and so goes with the sentence before it.
LEANS = re.compile(
    r"(?:(?:and|but|so|then)\s)?(?:it|they|he|she|this|that|these|those)(?:['’]\w+|\s(?:is|are|was|were|has|have|"
    r"had|will|can|cannot|must|should|would|does|do|did|may|never|always|only|still|also|[a-z]+s|[a-z]+ed|stay|"
    r"need|go|come|work|run|cost|take|keep|get|make|like|want))\b",
    re.IGNORECASE,
)
# "Kasongo is writing it.": too little without the sentence before.
OF_IT = re.compile(
    r"(?-i:[A-ZÀ-Þ])[\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)?(?:\s(?:is|has|will))?\s[a-z]+\s(?:it|them|that|this|those)"
    r"(?:\s[a-z]+){0,2}[.!]*",
)
# "Ursula is the buyer there now": what "there" is was said in the sentence before.
OBJECT = re.compile(
    r"(?:[\w’'-]+\s){1,5}?(?<!\bis\s)(?<!\bare\s)(?:it|them|there)\b(?!['’]|\s(?:is|are|was|were|will|has)\b)",
    re.IGNORECASE,
)
# "Whoever cooks has to manage that": what that is was said in the sentence before.
DOES_THAT = re.compile(
    r"(?:[\w’'-]+\s){2,9}(?<!\blike\s)(?<!\bthan\s)(?<!\bafter\s)(?<!\bbefore\s)(?<!\bso\s)(?<!\ball\s)that[.!]*$",
    re.IGNORECASE,
)
BARE_THERE = re.compile(r"\sthere(?:\s(?:too|now|also|as\swell))?[.!]*$")
GOES_ON = re.compile(r"(?:so|and|but|then)\s.*\b(?:it|them|there|one)\b", re.IGNORECASE)
THEIRS = re.compile(r"\b(?:theirs?|them)\b", re.IGNORECASE)


def names_nothing(*, told: str, owner: str) -> bool:
    """Whether a sentence names nobody and nothing but its `owner`, and so leans on another."""
    if [name for name in names_in(told) if name != owner]:
        return False
    first = words_of(told)[:1]
    return not (told[:1].isupper() and first and first[0] not in COMMON_OPENERS)
