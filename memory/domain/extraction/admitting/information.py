"""How much a sentence tells: names, numbers, dates, rare words and claims against empty talk."""

from __future__ import annotations

import re

from ..language.leads import strip_lead
from ..language.names import names_in
from ..language.verbs import is_finite
from ..language.words import MONTHS, WEEKDAYS, content_words, word_set, words_of

_GENERIC = word_set(
    """
    good great nice cool fine awesome amazing wonderful lovely glad happy fun way time day days
    life lot people something anything everything really feel feels feeling like love know think
    thought see look looks sound sounds make makes made way keep help means mean important
    special true sure definitely totally absolutely exactly agree right best better want need
    take try give say said come world moment moments hard support journey forward luck proud
    inspiring inspired incredible beautiful appreciate cheers congrats congratulations hope wish
    worth luck kind wow gonna always never care excited positive difference impact matter
    matters remember forget sharing share hear heard chat talk talking soon later guys buddy
    friend pal believe
    """
)
_SELF = re.compile(
    r"\b(?:i|my|we|our|me|us|mine|i['’](?:m|ve|ll|d)|we['’](?:re|ve|ll|d))\b", re.IGNORECASE
)
_YOU_HEAD = re.compile(
    r"^(?:you|your|you['’](?:re|ve|ll|d)|that['’]s|that|sounds|looks|wow|congrat\w*|"
    r"it['’]s\s(?:great|good|nice|so|awesome|amazing))\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\b(?:keep\s(?:it\sup|going|me\sposted|up)|take\scare|have\s(?:a\s)?(?:fun|great|good|nice)|"
    r"good\sluck|let\sme\sknow|here\sfor\syou|"
    r"got\sthis|thank(?:s|\syou)\s(?:for|so|a\slot)|glad\s(?:you|to\shear)|so\shappy\sfor|"
    r"talk\s(?:to\syou\s)?soon|can['’]t\swait\sto\shear|"
    r"sounds\s(?:great|good|like|fun|awesome)|how\sare\syou|what\sabout\syou|see\syou)\b",
    re.IGNORECASE,
)


def information(*, text: str, known: frozenset[str] = frozenset()) -> float:
    """How much a sentence tells, about -3 to 12: names, numbers and dates, rare words, a claim.

    Each name counts 2, each number 1.5, each time word 1.5, each specific word 0.6, a first-person
    claim 1; names in `known` count nothing; praise, thanks and talk about the other person count
    against it. The weights were set by hand on the development data.
    """
    bare = strip_lead(text=text)
    words = words_of(bare)
    if not words:
        return -3.0
    specific = [word for word in content_words(bare) if word not in _GENERIC and len(word) > 2]
    times = sum(word in WEEKDAYS or word in MONTHS or word in _TIME_WORDS for word in words)
    score = 2.0 * min(3, sum(name not in known for name in names_in(bare))) + 1.5 * min(
        2, sum(word[0].isdigit() for word in words)
    )
    score += 1.5 * min(2, times) + 0.6 * min(8, len(specific))
    if _SELF.search(bare):
        score += 1.0
    if any(is_finite(word=word) for word in words):
        score += 0.3
    if _YOU_HEAD.match(bare):
        score -= 1.5
    if _EMPTY.search(bare):
        score -= 1.5
    return score


def specific_words(text: str) -> int:
    """How many words of a text are neither closed-class nor such as any chat is full of."""
    return sum(word not in _GENERIC and len(word) > 2 for word in content_words(text))


_TIME_WORDS = word_set(
    """
    yesterday today tomorrow tonight week weekend month year years weeks months morning evening
    summer winter spring autumn fall ago last next recently birthday anniversary
    """
)
