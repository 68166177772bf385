"""Whom or what a question asks about, as a pronoun of its answer may mean it."""

from __future__ import annotations

import re

from ..language.syntax import has_verb
from ..language.words import COMMON_OPENERS

_NAME = re.compile(
    r"\b(?:[Ii]s|[Dd]oes|[Dd]id|[Ww]ill|[Hh]as|[Ww]as|[Cc]an|[Ss]hould|[Ww]ould)\s"
    r"(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)\s[a-z]+"
)
_WHO_IS = re.compile(r"\b[Ww]ho(?:['’]s|\s(?:is|was))\s(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)\?")
# "Might your starter be too young?" asks about the starter.
_THING = re.compile(
    r"(?:[\w’']+,\s)?(?:is|are|was|does|do|did|will|has|can|might|could|should|would|how(?:['’]s|\s(?:is|was|big|old|long)\s(?:is|was)?))\s?"
    r"(?P<det>your|the)\s(?P<noun>(?:[a-z-]+\s)?[a-z-]{3,})\s(?:be|have|still|already|been|going|ready|open|done|on|in|at|"
    r"too|very|like|\w+ed|\w+ing|new|old|big|free)\b",
    re.IGNORECASE,
)
# "And the Friday assembly?": what "it" means in the answer.
_WHOLE = re.compile(
    r"(?:(?:and|so|but|ok|what\sabout|how\sabout)[\s,]+){0,2}(?P<np>the\s[\w’'-]+(?:\s[\w’'-]+){0,2})\?$",
    re.IGNORECASE,
)


def name_asked(*, question: str) -> str:
    """ "Ken" out of "Is Ken leaving?", or ""."""
    match = _NAME.search(question) or _WHO_IS.search(question)
    name = match.group("name") if match else ""
    return name if name.isalpha() and name.lower() not in COMMON_OPENERS else ""


def thing_asked(*, question: str, owner: str) -> str:
    """ "Dana's starter" out of "Might your starter be too young?", or ""; `owner` is asked."""
    match = _THING.match(question)
    if match is None:
        return ""
    det = "the" if match.group("det").lower() == "the" else f"{owner}'s"
    return f"{det} {match.group('noun')}"


def whole_question(*, question: str) -> str:
    """ "the Friday assembly" out of "And the Friday assembly?", or ""."""
    match = _WHOLE.match(question)
    return match.group("np") if match and not has_verb(text=match.group("np")) else ""
