"""Notices quoted from whoever decides about the user: a landlord's, a school's, a bank's."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    r"(?:\s(?:to\s)?(?:me|us))?(?:\s(?:today|yesterday|this\s\w+|last\s(?:night|week|month|\w+day)|on\s\w+day))?\s?[:,]\s[\"“„](?P<what>[^\"“”„]{8,}?)[.!]?(?:[\"”“](?P<behind>.*))?$",
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
_IT = (
    r"(?:it|that|this|which|those|these|they|the\s(?:letter|mail|e-?mail|notice|message|note|news|offer|"
    r"rule|sum|figure|price|date))"
)
_MARKS = " ,;:–—-.!"
# What stands behind the quotation and takes it back: by contrast, doubt, correction, an earlier
# time, or somebody else whom it is for.
_UNDONE = re.compile(
    r"^(?:but|however|though|although|except|unless|yet|only|not|no|nope|nonsense|sorry|wait|turns\sout)\b"
    r"|\b(?:wrong\w*|false|untrue|incorrect\w*|inaccurate|mistak\w+|errors?|typos?|misprint\w*|mix-?up|outdated|out\sof\sdate|"
    r"obsolete|no\slonger|any\s?more|fake|phishing|spam|scam|fraud|jok(?:e|es|ed|ing)|kidding|prank|rubbish|bullshit|"
    r"lies?|lied|lying|liars?|bluff\w*|doubt\w*|hoax|rumou?rs?|supposedly|allegedly|actually|in\sfact|in\struth|"
    r"in\sreality|otherwise|the\sopposite|changed\stheir\sminds?|corrected|correction|retracted|revised|revoked|"
    r"withdr(?:ew|awn)|apologi[sz]ed|reversed|(?:took|taken|takes)\s(?:it|that)\sback|called\s(?:it|that)\soff|"
    r"(?:(?:isn|wasn|can|don|doesn|didn)['’]?t|cannot|not|never|hardly|is|was)\s(?:\w+\s){0,3}?(?:believ\w+|think|buy(?:ing)?|trust|convinced|"
    r"certain|sure|true|right|correct|valid|appl(?:y|ies)|affect(?:ed)?|concern(?:ed)?|meant)\b(?<!is\strue)"
    r"|(?:nobody|no\sone|hardly\sanyone)\s(?:\w+\s)?(?:believ\w+|buys|trusts))\b"
    r"|\b(?:he|she|they|who|it|that|which|the\s\w+)\s(?:\w+ly\s|must\s(?:have\s)?|may\s(?:have\s)?)?(?:means?|meant)\s(?:the\s)?(?:\d|[$€£]|last|next|only|another|\w+day)"
    rf"|\b{_IT}\s?(?:['’]s|\s(?:is|was|are|were))?\s?(?:isn|wasn|aren|weren|doesn|didn|don|won|hasn)['’]t\b"
    rf"|\b{_IT}(?:['’]s|\s(?:is|are|will\sbe))\s(?:not|never|(?:an?\s)?old|years?\sold|(?:on|at|by|until)\s(?:the\s)?\d|from|over|past|history|"
    r"(?:(?:only|just|really|rather|now|already|more\slike)\s)*[$€£]?\d[\d.,]*(?!\S*\s?(?:%|percent|euros?|dollars?|pounds?|francs|[$€£])?\s(?:more|less|extra|higher|lower|each)\b))"
    rf"|(?<!before\sthat\s)(?<!before\sthen\s)(?<!until\snow\s)\b{_IT}\s(?:was|were|had\sbeen)\b(?!\s(?:an?|such|quite|so|very|really|clear|to\sbe)\b)"
    rf"|\b{_IT}(?:['’]s|['’]re|\s(?:is|are|was|were|goes|went|came|applies|applied))\s(?:\w+\s){{0,2}}?(?:for|to|about)\s(?!(?:me|us|be)\b)"
    r"|\b(?:should|ought\sto|has\sto|must)\s(?:be|have\s(?:been|said|read|written))\b"
    r"|^(?:(?:just|mainly|and|that\sis|i\.e\.|meant|addressed)\s)*(?:for|to|about)\s(?!(?:me|us)\b)"
    r"|^(?:(?:and|back|that|in\sa\sletter)\s)*(?:last\s|in\s(?:19|20)\d\d|(?:\w+\s)?(?:years?|months?)\sago|back\sthen|at\sthe\stime)"
    r"|\b(?:concerns|affects)\s(?!me\b|us\b)|\b\w+\s(?:it|that|them)\s(?:back\s|up\s|down\s|again\s)?to\s(?:[\w€$£]+\s){0,3}?[$€£]?\d"
    r"|\b(?:true|right|correct|possible|real|serious)\s?\?",
    re.IGNORECASE,
)
_JOINS = re.compile(r"^(?:and|so|then|well)[\s,]+", re.IGNORECASE)
_QUOTES = re.compile(r"[\"“”„«»]")


def announced(*, text: str, behind: Sequence[str] = ()) -> list[str]:
    """What such a notice tells first, as its sender's announcement; [] where it is no notice.

    Only a statement with a date or a sum is one: 'The bank wrote: "Your card ends on 30 April."'
    is "The bank announces that my card ends on 30 April". What is asked of its reader, and what
    the sender says of themselves, is left to the quotation, and so is what the words behind it
    take back, in its sentence or in those `behind` it. A clause of the speaker's own behind the
    quotation comes second.
    """
    found = _NOTICE.match(text)
    if found is None:
        return []
    what = found.group("what").strip()
    if _TO_ONE.search(what) or not (_SUM.search(what) or _dated(what)):
        return []
    own = (found.group("behind") or "").strip(_MARKS)
    if _is_taken_back([own, *behind]):
        return []
    clause = _ADVERBIAL.sub("", what).split(", ")[0]
    if is_imperative(text=clause) or not (opens_clause(text=clause) and has_verb(text=clause)):
        return []
    told = f"{found.group('who')} announces that {_as_reported(what)}."
    return [told, f"{_JOINS.sub('', own)}."] if own else [told]


def _is_taken_back(behind: Sequence[str]) -> bool:
    said = [_JOINS.sub("", words.strip(_MARKS)) for words in behind]
    return any(_QUOTES.search(words) or _UNDONE.search(words) for words in said if words)


def _as_reported(what: str) -> str:
    """The words of a notice to the user as they stand behind "that"."""
    what = decapitalised(_YOUR.sub("my", what))
    first, _, rest = what.partition(" ")
    if first[1:].islower() and not rest[:1].isupper() and not is_given_name(name=first):
        # Any word may begin a notice; a name alone or of several words keeps its capital.
        what = f"{first.lower()} {rest}" if first.lower() not in _ALWAYS_CAPITAL else what
    return what


def _dated(text: str) -> bool:
    return DATE_EXPRESSION.search(text) is not None
