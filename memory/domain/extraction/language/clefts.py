"""Clefts as the plain sentences they are: "It is my brother who lives in Oslo"."""

from __future__ import annotations

import re

from .verbs import BASES, THIRD, is_finite
from .words import ADVERBS, PREPOSITIONS, STOPWORDS, capitalised, word_set, words_of

_IT_IS = (
    r"(?P<lead>^|[,;:]\s(?:and\s|but\s)?|\b(?:actually|no|and|but|so|because|since)\s)it(?:['’]s|\sis|\swas)\s"
    r"(?:(?:actually|really|only|in\sfact)\s)?(?:not\s(?P<denied>[\w’'-]+(?:\s[\w’'-]+){0,2}?),?\sbut\s)?"
)
_WORD = r"[\w’'&-]+"
_NAME = rf"(?-i:[A-ZÀ-Þ]){_WORD}(?:\s(?:and\s)?(?-i:[A-ZÀ-Þ]){_WORD}){{0,3}}"
_OWNED = rf"(?:my|our|his|her|their)(?:\s{_WORD}){{1,5}}?"
_SOMEBODY = re.compile(
    rf"{_IT_IS}(?P<np>(?:(?:{_OWNED}|the(?:\s{_WORD}){{1,4}}?|{_NAME})\swho|(?:{_OWNED}|{_NAME})\s(?:that|which)))\s(?P<rest>.+)$",
    re.IGNORECASE,
)
# "It is hazelnuts I am allergic to, not peanuts", "it's my sister that I live with".
_SOMETHING = re.compile(
    rf"{_IT_IS}(?P<np>(?:(?:my|our|his|her|their|the)\s)?(?!not\b|an?\b|the\b|my\b){_WORD}(?:\s{_WORD}){{0,2}}?)\s(?:(?:that|which|who|whom)\s)?"
    r"(?P<rest>(?:i|we|he|she|they|(?:my|our|his|her)\s\w+)(?:['’]\w+)?\s[^,;]+?)(?P<tail>,?\snot\s[^,;]+|[,;]\s.+)?(?P<end>[.!]*)$",
    re.IGNORECASE,
)
_PLACE_OR_TIME = re.compile(
    rf"{_IT_IS}(?P<np>(?P<prep>(?:in|on|at|from|with|near|for)\s)(?:{_WORD}\s){{0,3}}?{_WORD}|(?:last|this|next)\s\w+|yesterday|"
    rf"(?:\w+\s){{1,2}}ago|(?P<place>{_NAME})(?=\swhere\b)|(?P<day>{_NAME}|\d{{4}})(?=\swhen\b))\s(?:that|where|when)\s"
    r"(?P<rest>(?:i|we|he|she|they|(?:my|our|his|her|the)\s\w+|(?-i:[A-ZÀ-Þ])\w+)(?:['’]\w+)?\s[^,;]+?)(?P<end>[.!]*)$",
    re.IGNORECASE,
)
# "It is my hope that", "it was the first time that": what follows is told of no one named.
_ABSTRACT = word_set(
    """
    opinion hope wish dream belief feeling understanding impression fault job turn view guess
    goal plan duty idea fear experience decision intention policy rule fact pity shame time way
    reason case law surprise day moment point honour honor pleasure
    """
)
_NO_OBJECTS = STOPWORDS | ADVERBS | PREPOSITIONS | {"because", "when", "where", "why", "how", "if"}
_TAKES_OBJECT = word_set(
    "like love prefer need want use used drink eat hate speak play enjoy avoid miss trust study "
    "teach"
)
_YEAR_OR_MONTH = re.compile(r"\d{4}|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*")


def plain_sentence(*, text: str) -> str:
    """The sentence without its cleft; one that cannot be told plainly stays as it is."""
    if text.endswith("?"):
        return text
    for pattern, told in (
        (_PLACE_OR_TIME, _placed),
        (_SOMEBODY, _done_by),
        (_SOMETHING, _meant),
    ):
        match = pattern.search(text)
        plain = told(match) if match else ""
        if match and plain:
            lead = text[: match.start()] + match["lead"]
            return f"{lead}{plain}" if lead else capitalised(plain)
    return text


def _done_by(match: re.Match[str]) -> str:
    who = match["np"].rpartition(" ")[0]
    verb = next((word for word in words_of(match["rest"]) if word not in ADVERBS), "")
    is_verb = is_finite(word=verb) or verb in THIRD or verb in BASES
    if match["denied"] or not is_verb or words_of(who)[-1] in _ABSTRACT:
        return ""
    return f"{who} {match['rest']}"


def _placed(match: re.Match[str]) -> str:
    where = match["np"]
    if words_of(where)[-1] in _ABSTRACT:
        return ""
    if match["place"]:
        where = f"in {where}"
    elif match["day"]:
        where = f"{'in' if _YEAR_OR_MONTH.match(where) else 'on'} {where}"
    return f"{match['rest']} {where}{match['end']}"


def _meant(match: re.Match[str]) -> str:
    """ "I am allergic to hazelnuts": what is meant goes where it is missing, or nowhere."""
    what, last = match["np"], words_of(match["rest"])[-1]
    words = words_of(what)
    if words[-1] in _ABSTRACT | _NO_OBJECTS or any(is_finite(word=word) for word in words[1:]):
        return ""
    if last not in PREPOSITIONS | _TAKES_OBJECT:
        return ""
    tail = match["tail"] or (f", not {match['denied']}" if match["denied"] else "")
    return f"{match['rest']} {what}{tail}{match['end']}"
