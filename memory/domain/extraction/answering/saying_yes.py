"""Answers that say yes and more to a closed question: "Yes, from Vaisala", "Every Wednesday"."""

from __future__ import annotations

import re

from ..language.leads import strip_lead

# "Yes, from Vaisala": what was asked is so, and more.
_SAYS_YES = re.compile(
    r"(?:(?:oh|ah|well)[\s,]+)?(?:yes|yeah|yep|yup|correct|exactly|indeed|right)[,:;–—-]?\s",
    re.IGNORECASE,
)
# "Every Wednesday" after "Are you in physio?" says yes as well.
_HOW_OFTEN = re.compile(
    r"(?:(?:almost|only|just|mostly|about|usually)\s)?(?:every|each|once|twice|daily|weekly|monthly|\w+\stimes|on\s\w+days)\b",
    re.IGNORECASE,
)
# "Every weekend, my sister's dog": that is so of something else.
_OF_ANOTHER = re.compile(r",\s(?:an?|the|my|our|his|her|their)\s", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:i|we|he|she|they|it)(?:['’]\w+)?\s", re.IGNORECASE)
_CLOSED = re.compile(r"(?:do|does|are|is)\s(?!there\b|that\b|this\b|it\b)", re.IGNORECASE)


def is_how_often(*, text: str) -> bool:
    """Whether an answer only tells how often something is so."""
    return bool(_HOW_OFTEN.match(text)) and not _SUBJECT.search(text)


def agrees(*, said: str, text: str, question: str, placed: bool) -> bool:
    """Whether an answer says that what was asked is so.

    `said` is the answer as spoken, `text` without its lead, `placed` that it is no clause.
    """
    if (
        is_how_often(text=text)
        and not _OF_ANOTHER.search(text)
        and _CLOSED.match(strip_lead(text=question))
    ):
        return True
    return placed and bool(_SAYS_YES.match(said))
