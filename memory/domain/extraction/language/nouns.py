"""Noun phrases without a name ("the witness list"), as what a later "it" may mean."""

from __future__ import annotations

import re

from .verbs import AMBIGUOUS, BASES, GERUNDS, THIRD, is_finite
from .words import ADVERBS, KIN, NUMBER_WORDS, PEOPLE_NOUNS, PREPOSITIONS, STOPWORDS, WORD, word_set

_HEAD = re.compile(
    r"(?P<det>\b(?:[Aa]n?|[Tt]he|[Tt]his|[Oo]ur|[Mm]y|[Hh]is|[Hh]er|[Tt]heir|"
    r"(?!(?:She|He|It|That|There|What|Who|Here|Where|Let)['’])[A-ZÀ-Þ][\w-]*['’]s))\s(?=[a-z])"
)
_NO_THING = (
    PEOPLE_NOUNS
    | KIN
    | word_set(
        """
    day days week weeks month months year years time times morning evening afternoon night moment
    bit lot way end start beginning middle first second third next last same other rest kind team
    people person man woman boy girl guy
    """
    )
)
_ENDS_PHRASE = STOPWORDS | PREPOSITIONS | ADVERBS
_MAX_WORDS = 3
# "One of the two": that one is meant from then on, and never "the two".
_PART_OF = re.compile(r"(?P<part>[Oo]ne\sof\s(?:the|them)(?:\s(?!one\b)[a-z]+)?)[.!]*$")
# What is told of a name goes on about whose it is.
_NAME_OF = re.compile(r"(?:['’]s\s|^the\s)(?:[a-z]+\s)?name$")


def noun_told_of(*, text: str) -> str:
    """What a sentence tells of by a noun ("the witness list", "one of the two"), or ""."""
    part = _PART_OF.match(text)
    return part["part"] if part else _NAME_OF.sub("", _first_noun_phrase(text))


def _first_noun_phrase(text: str) -> str:
    """The first phrase of up to three plain words behind an article or an owner, or ""."""
    for match in _HEAD.finditer(text):
        words: list[str] = []
        end = match.end()
        while len(words) < _MAX_WORDS:
            word = WORD.match(text, end)
            following = WORD.match(text, word.end() + 1) if word else None
            if word and words and following and _is_counted(following.group()):
                # "the contract covers two vessels": what is followed by a number is the verb.
                break
            if word is None or not _inside(word.group(), words):
                break
            words.append(word.group())
            end = word.end() + 1
            if text[word.end() : end] != " ":
                break
        if words and words[-1] not in _NO_THING and words[0] not in _NO_THING:
            owner = match.group("det")
            det = owner if owner[0].isupper() and "'" in owner.replace("’", "'") else "the"
            return f"{det} {' '.join(words)}"
    return ""


def _is_counted(word: str) -> bool:
    return word[0].isdigit() or word in NUMBER_WORDS


def _inside(word: str, before: list[str]) -> bool:
    """Whether a word goes on a noun phrase that has begun with the words before it."""
    if not word.islower() or word in _ENDS_PHRASE:
        return False
    if before and (
        is_finite(word=word) or word in GERUNDS or (word in THIRD and word.endswith("s"))
    ):
        # "the list has", "the oven needs"; but "the race results" stays whole.
        return word in THIRD and THIRD[word] in AMBIGUOUS and before[-1] in BASES
    return True
