"""What stands before the statement of a sentence: a reaction to the other side, a question."""

from __future__ import annotations

import re

from .clauses import opens_clause
from .fillers import says_nothing

_REACTS = re.compile(
    r"(?:either\sway|in\sany\scase|good\s(?:tip|to\sknow)|no\swonder|out\sof\sthe\squestion(?:\sanyway)?|sorry\sfor\s.{3,40}|"
    r"(?:long|small|funny)\sstory|fun\sfact|truth\sbe\stold|god\sno|god\syes|thank\sgod|i\sswear|trust\sme|i\stell\syou|"
    r"speaking\sof\swhich|while\s(?:we['’]re|i['’]m)\sat\sit|come\sto\sthink\sof\sit|as\sit\shappens|as\susual|so\sto\sspeak)",
    re.IGNORECASE,
)
# "If it rains, the market moves to the hall"
_CONDITION = re.compile(r"(?:if|when|whenever|unless|once)\s\w+\s", re.IGNORECASE)
_OF_YOU = re.compile(r"\b(?:you|yourself)\b(?!['’]s)", re.IGNORECASE)


def without_reaction(*, text: str) -> str:
    """ "That makes sense, everything we get is latin-1" without the words that only react."""
    head, comma, tail = text.partition(", ")
    if _CONDITION.match(head):
        return text
    reacts = comma and (
        (says_nothing(text=head) and not head.lower().startswith("you")) or _REACTS.fullmatch(head)
    )
    return tail if reacts and opens_clause(text=tail) else text


def asks_of_other(*, question: str) -> bool:
    """Whether a question is about somebody or something else than whom it is put to."""
    return bool(question) and not _OF_YOU.search(question)
