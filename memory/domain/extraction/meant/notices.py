"""Notices quoted from whoever decides about the user: a landlord's, a school's, a bank's."""

from __future__ import annotations

import re

from ..clauses import opens_clause
from ..days.date_expressions import DATE_EXPRESSION
from ..language.declaratives import decapitalised
from ..language.genders import is_given_name
from ..language.syntax import has_verb, is_imperative
from ..language.words import MONTHS, WEEKDAYS

_ALWAYS_CAPITAL = frozenset({*MONTHS, *WEEKDAYS})
_SENDER = (
    r"(?:landlord|landlady|agency|agent|school|nursery|kindergarten|university|college|bank|insurer|insurance|council|"
    r"city|town|ministry|office|employer|company|management|hospital|clinic|surgery|practice|court|library|club|airline|"
    r"railway|supplier|provider|authority|department|association|embassy|administration)"
)
_NOTICE = re.compile(
    rf"(?:(?:so|and|oh|well|ok|okay)[\s,]+)*(?P<who>(?:my|our|the)\s(?:[\w’'-]+\s){{0,2}}?{_SENDER}(?:\s[A-ZÀ-Þ][\w’'-]*)?|HR|payroll)\s(?:has\s|have\s)?(?:just\s|also\s)?"
    r"(?:wrote|written|writes|mailed|e-?mailed|announced|announces|informed\sus|informs\sus|texted|posted|sent\s(?:me|us)\sthis)"
    r"(?:\s(?:to\s)?(?:me|us))?(?:\s(?:today|yesterday|this\s\w+|last\s\w+|on\s\w+day))?\s?[:,]\s[\"“„](?P<what>[^\"“”„]{8,}?)[.!]?(?:[\"”“].*)?$",
    re.IGNORECASE,
)
_SUM = re.compile(r"[$€£]\s?\d|\d\s?(?:euros?|dollars?|pounds?|francs|%|percent)", re.IGNORECASE)
_TO_ONE = re.compile(
    r"\b(?:i|we|me|us|our|my|you|please|ignore|must|should|shall|agents?|assistants?|ai|bots?)\b|\?",
    re.IGNORECASE,
)
_ADVERBIAL = re.compile(
    r"^(?:as\sof|from|on|until|after|by|in)\s[^,]{3,30}?(?:,\s|\s(?=the\s|your\s))", re.I
)
_YOUR = re.compile(r"\byour\b", re.IGNORECASE)


def announced(*, text: str) -> str:
    """What such a notice tells first, as its sender's announcement; "" where it is no notice.

    Only a statement with a date or a sum is one: 'The bank wrote: "Your card ends on 30 April."'
    is "The bank announces that my card ends on 30 April". What is asked of its reader, and what
    the sender says of themselves, is left to the quotation.
    """
    found = _NOTICE.match(text)
    what = found.group("what").strip() if found else ""
    if found is None or _TO_ONE.search(what) or not (_SUM.search(what) or _dated(what)):
        return ""
    clause = _ADVERBIAL.sub("", what).split(", ")[0]
    if is_imperative(text=clause) or not (opens_clause(text=clause) and has_verb(text=clause)):
        return ""
    what = decapitalised(_YOUR.sub("my", what))
    first, _, rest = what.partition(" ")
    if first[1:].islower() and not rest[:1].isupper() and not is_given_name(name=first):
        # Any word may begin a notice; a name alone or of several words keeps its capital.
        what = f"{first.lower()} {rest}" if first.lower() not in _ALWAYS_CAPITAL else what
    return f"{found.group('who')} announces that {what}."


def _dated(text: str) -> bool:
    return DATE_EXPRESSION.search(text) is not None
