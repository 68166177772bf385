"""Whom or what a question asks about, as a pronoun of its answer may mean it."""

from __future__ import annotations

import re

from ..language.genders import is_given_name
from ..language.syntax import has_verb
from ..language.verbs import GERUNDS
from ..language.words import (
    ADVERBS,
    COMMON_OPENERS,
    KIN,
    NUMBER_WORDS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    words_of,
)

_NAME = re.compile(
    r"\b(?:[Ii]s|[Dd]oes|[Dd]id|[Ww]ill|[Hh]as|[Ww]as|[Cc]an|[Ss]hould|[Ww]ould)\s"
    r"(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)\s[a-z]+"
)
_WHO_IS = re.compile(r"\b[Ww]ho(?:['’]s|\s(?:is|was))\s(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)\?")
# "And Mia?", "What about Mia?", "What does Mia do?"
_AND_NAME = re.compile(
    r"(?:(?:[Oo]k(?:ay)?|[Gg]ood|[Nn]oted)[,.!]\s)?(?:[Aa]nd|[Bb]ut|[Ww]hat\s(?:about|of)|[Hh]ow(?:['’]s|\sis|\sabout))\s(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)"
    r"(?:\s(?:then|now|doing))?\?$"
    r"|(?:[Aa]nd\s)?(?:[Ww]hat|[Ww]here|[Hh]ow|[Ww]hen)\s(?:does|did|is|was|will)\s(?P<does>[A-ZÀ-Þ][a-zà-ÿ]+)\s[a-z]+\b[^?]{0,30}\?$"
)
# "Might your starter be too young?" asks about the starter.
_THING = re.compile(
    r"(?:[\w’']+,\s)?(?:(?:is|are|was|were|does|do|did|will|has|can|might|could|should|would)(?:n['’]t)?|how(?:['’]s|\s(?:is|was|big|old|long)\s(?:is|was)?))\s?"
    r"(?P<det>your|the)\s(?P<noun>(?:[a-z-]+\s)?[a-z-]{3,})\s(?:be|have|still|already|been|going|ready|open|done|on|in|at|"
    r"too|very|like|\w+ed|\w+ing|new|old|big|free|late|early|broken|expensive|heavy|small|full|empty|cancelled|off)\b",
    re.IGNORECASE,
)
# "When is the kick-off?" asks about the kick-off.
_WHEN_IS = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s)?(?:when|where|what\stime|what\sday|how\slong|how\soften)(?:['’]s|\s(?:is|was|does|did|will))\s"
    r"(?P<det>your|the)\s(?P<noun>(?:[a-z-]+\s)?[a-z-]{3,})(?:\s(?:be|start|begin|end|take\splace|happen|run|on))?\?$",
    re.IGNORECASE,
)
# "And the Friday assembly?": what "it" means in the answer.
_WHOLE = re.compile(
    r"(?:(?:and|so|but|ok|what\sabout|how\sabout|any(?:thing|\snews|\supdates?)(?:\selse)?\s(?:about|on|with))[\s,.]+){0,2}(?P<np>the\s[\w’'-]+(?:\s[\w’'-]+){0,2})\?$",
    re.IGNORECASE,
)

# "Shall I book the DJ?"
_OFFERED = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:shall|should|may|can|could)\s(?:i|we)\s(?:just\s|also\s|then\s)?[a-z]+\s(?:up\s|out\s)?"
    r"(?P<det>the|your|an?)\s(?P<noun>[a-zA-Z][\w-]*(?:\s(?!(?:for|to|on|at|in|by|now|then|today|tomorrow|with|from)\b)[\w-]+)?)\b[^?]{0,30}\?$",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s|but\s)?(?:(?:in|on|at|for|with|from)\s)?(?:what|which)(?:['’]s)?\s"
    r"(?!(?:time|day|days|date|month|year|size|colou?r|age|number)\b)",
    re.IGNORECASE,
)
_ASKS_FOR_ONE = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s|but\s)?(?:do\syou\s(?:already\s|also\s)?(?:have|own|use|need|get|take)|have\syou\sgot|"
    r"(?:is|are)\sthere)\b",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s)?who\s(?!is\b|are\b|was\b)[a-z]+", re.IGNORECASE
)
_LEADING_NAME = re.compile(r"(?P<name>[A-ZÀ-Þ][\w&’'-]*(?:\s[A-ZÀ-Þ&][\w&’'-]*)*)(?=[,.]|$)")
_YES = re.compile(r"(?:(?:yes|yeah|yep|sure|well|oh|only|just)\b[,\s]*)+", re.IGNORECASE)
_WITH = re.compile(r"(?:with|from|by|through|via|at)\s", re.IGNORECASE)
# "And for notes?", "Backups?" ask for a thing, "Since when?", "And to whom?" do not.
_ASKS_ELSE = re.compile(
    rf"(?:(?:and|but|so|ok(?:ay)?)[\s,]+)?(?:(?:{'|'.join(sorted(PREPOSITIONS))})\s)?(?:exactly\s)?"
    r"(?:when|where|who|whom|whose|how|why|really|sure|right)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:an?|the|my|our|just\san?)\s", re.IGNORECASE)
_MOST_WORDS = 5


def thing_answered(*, question: str, answer: str) -> str | None:
    """ "Dampsoft" out of "What software do you use?" and "Dampsoft", as "it" may mean it.

    "" where the answer names several things or none, None where no thing was asked for.
    """
    for_one = _ASKS_FOR_ONE.match(question)
    elliptic = not has_verb(text=question) and not _ASKS_ELSE.match(question)
    if not (elliptic or for_one or _ASKS_WHAT.match(question)):
        return None
    bare = answer.strip(" .!")
    if for_one:
        # "Do you have insurance?" "With Petplan."
        bare = _WITH.sub("", _YES.sub("", bare, count=1), count=1)
        if not bare or bare.lower() in {"no", "nope", "none", "not yet"}:
            return None
    given, _, rest = bare.partition(", ")
    if {*words_of(rest)} - ADVERBS:
        return ""
    words = words_of(given)
    if not words or len(words) > _MOST_WORDS or has_verb(text=given):
        return ""
    counted = words[0][0].isdigit() or words[0] in NUMBER_WORDS.keys() - {"a", "an"}
    if counted or words[0] in PREPOSITIONS | ADVERBS or "and" in words:
        return ""
    if is_given_name(name=given) or (words[0] in GERUNDS and len(words) > 1):
        return ""
    plural = given.split()[-1].islower() and given.endswith("s") and not given.endswith("ss")
    article = _ARTICLE.match(given)
    return "" if plural else f"the {given[article.end() :]}" if article else given


def body_answered(*, question: str, answer: str) -> str:
    """ "Voss Drinks" out of "Who delivers?" and "Voss Drinks, twice a week", or "" for people."""
    named = _LEADING_NAME.match(answer) if _ASKS_WHO.match(question) else None
    name = named.group("name") if named else ""
    return name if " " in name and not is_given_name(name=name) else ""


def person_answered(*, question: str, answer: str) -> str:
    """ "Pieter" out of "Who drives?" and "Pieter, until Christmas", or ""; no body of people."""
    named = _LEADING_NAME.match(answer) if _ASKS_WHO.match(question) else None
    name = named.group("name") if named else ""
    return name if name.isalpha() and name.lower() not in COMMON_OPENERS | {"me"} else ""


def name_asked(*, question: str) -> str:
    """ "Ken" out of "Is Ken leaving?", or ""."""
    match = _NAME.search(question) or _WHO_IS.search(question)
    name = match.group("name") if match else ""
    asked = None if match else _AND_NAME.match(question)
    if asked:
        name = asked.group("name") or asked.group("does")
        name = name if is_given_name(name=name) else ""
    return name if name.isalpha() and name.lower() not in COMMON_OPENERS else ""


def thing_asked(*, question: str, owner: str) -> str:
    """ "Dana's starter" out of "Might your starter be too young?", or ""; `owner` is asked."""
    match = _THING.match(question) or _WHEN_IS.match(question)
    if match is None or match.group("noun").split()[-1].lower() in KIN | PEOPLE_NOUNS:
        return ""
    det = "the" if match.group("det").lower() == "the" else f"{owner}'s"
    return f"{det} {match.group('noun')}"


def thing_offered(*, question: str, owner: str) -> str:
    """ "the DJ" out of "Shall I book a DJ?", or ""; `owner` is asked."""
    match = _OFFERED.match(question)
    if match is None:
        return ""
    det = f"{owner}'s" if match.group("det").lower() == "your" else "the"
    return f"{det} {match.group('noun')}"


def whole_question(*, question: str) -> str:
    """ "the Friday assembly" out of "And the Friday assembly?", or ""."""
    match = _WHOLE.match(question)
    return match.group("np") if match and not has_verb(text=match.group("np")) else ""
