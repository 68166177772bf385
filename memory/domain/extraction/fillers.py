"""Statements that say nothing worth keeping, and fragments that do."""

from __future__ import annotations

import re

from .answering.offers import is_offer
from .days.date_expressions import DATE_EXPRESSION
from .kinds.patterns import is_decision
from .language.names import names_in
from .language.verbs import is_past_form
from .language.words import NUMBER_WORDS, PREPOSITIONS, content_words, word_set, words_of

_CALENDAR_TRIVIA = re.compile(
    r"^(?:(?:on\s)?the\s\d{1,2}(?:st|nd|rd|th)|that|\w+\s\d{1,2})\sis\sa\s"
    r"(?:public\sholiday|\w+day)\.?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:that|this|it|that['’]s|it['’]s|this\sis|there['’]s)\s(?:\w+\s){0,2}?(?:wrong|right|true|"
    r"fine|great|good|nice|ok|okay|all|it|enough|perfect|weird|odd|funny|correct|helpful|cool|"
    r"awful|lovely|better|clear|sense|works\sfor\sme|helps)\b|"
    r"^(?:makes\ssense|good\spoint|fair\senough|too\smuch)",
    re.IGNORECASE,
)
_EVALUATION = re.compile(
    r"^(?:it|that|this|they|everything)(?:['’]s|\s(?:was|is|were|has\sbeen|felt|looks?|sounds?))\s"
    r"(?:[a-z]+\s){0,2}[a-z]+\W*$",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"^(?:i['’]ll|i\swill|let\sme)\s\w+\s(?:it|that|them|this|you)\b", re.IGNORECASE
)
_LETS = re.compile(r"^let['’]s\s", re.IGNORECASE)
_ACKNOWLEDGED = word_set(
    "point idea call question thing job news plan work try start one catch find"
)
_APPOINTMENT = re.compile(
    r"(?:(?:the|our|my|next|follow-?up|second|first|final|also|team)\s){0,3}(?:[a-z-]+\s)?"
    r"(?:call|meeting|visit|appointment|session|demo|review|workshop|check-?up|interview|rehearsal|"
    r"exam|inspection|delivery|handover|viewing|party|wedding|flight|lesson|training)\b",
    re.IGNORECASE,
)
_RULE_WORDS = word_set("always never no only nobody deadline budget")


_WAIT_AND_SEE = re.compile(
    r"\b(?:we|i|you|they)(?:['’]ll|\swill)\s(?:\w+\s)?(?:see|find\sout|figure\s(?:it|that)\sout|"
    r"cross\sthat\sbridge)\b(?:\sabout\s(?:it|that|this))?(?:\W*\w+)?\W*$"
    r"|^(?:please\s)?(?:do|don['’]t|do\snot)(?:\splease)?\W*$|^(?:(?:it\s)?beats|search)\sme\b|^(?:your|my)\sguess\b"
    r"|^you(?:['’]d|\swould|['’]re|\sare|\sguys|\speople|\sreally|\sknow)\b|^not\sthat\b|\bnothing(?:['’]s|\sis|\shas\sbeen)\s(?:\w+\s)?(?:decided|settled|agreed|fixed|"
    r"certain|sure|final)\b|\bworth\sa\stry\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"(?:just\s|only\s)?(?:one|two|three|four|five|a\sfew|some|a\scouple\sof|another|several)\s(?:\w+\s)?"
    r"(?:wish(?:es)?|things?|questions?|points?|requests?|favou?rs?|remarks?|notes?|updates?|"
    r"changes?|corrections?|news|issues?|topics?)(?:\s(?:today|for\syou|from\sme|first))?\W*$",
    re.IGNORECASE,
)
# "Pono did.", "Mine is.": an answer whose verb stands in the question.
_ELLIPTIC = re.compile(
    r"^(?:[\w’'-]+\s){1,2}(?:do|does|did|is|are|was|were|has|have|can|will|won['’]t|isn['’]t|didn['’]t|doesn['’]t)"
    r"(?:\s(?:too|so|that|it|already))?\W*$",
    re.IGNORECASE,
)
# "Rice balls it is", "quick one before the kids wake up": said in passing.
_PASSING = re.compile(
    r"(?:the\s)?[\w’'-]+(?:\s[\w’'-]+)?\sit\sis(?:\sthen)?\W*$|(?:just\s)?(?:a\s)?quick\s(?:one|question|thing)\b[^:]*$",
    re.IGNORECASE,
)
_REPORTING = re.compile(
    r"^[\w’'-]+\s(?:says?|said|thinks?|knows?|means?|reckons?)\W*$|"
    # What was said is cut away with its quotation marks.
    r"^(?!(?:i|we)\b)(?:[\w’'-]+\s){1,5}?(?:(?:always|often|just|also|still|once|keeps|kept)\s)*"
    r"(?:says?|said|saying|wrote|mailed|e-?mailed|texted|announced|told|tells|telling)(?:\s(?:to\s)?(?:me|us))?"
    r"(?:\s(?:today|yesterday|again|back|this\s\w+|last\s\w+|on\s\w+day))*\W*$|"
    r"^(?:and\s)?as\s[\w’'.\s-]{2,40}\s(?:puts?|said|says|wrote|writes|has)\s?(?:it|so)?\W*$|"
    r"^[\w’'.\s-]{2,40},?\squote\W*$",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"(?:i|we)\s(?:only|never|always)\s[a-z]|(?:i['’]m|i\sam|we['’]re|we\sare)\s(?:both|all)\s",
    re.I,
)
# "I just tried that and it works now", "I will try tomorrow": nobody knows what.
_TRIES = re.compile(
    r"(?:(?:ok|okay|yes|so|and),?\s)?(?:i|we)(?:['’]ll|['’]ve|\swill|\shave|(?:['’]m|\sam|['’]re|\sare)\sgoing\sto)?\s"
    r"(?:(?:just|now|already|only|also|finally|even)\s)*(?:try|tried|test|tested|check|checked|do|did)"
    r"(?:\s(?:that|it|this|them|both|again|out|now|later|tomorrow|today|tonight|soon|then|first|too|already|yesterday|this\s\w+))+"
    r"(?:,?\s(?:and|but)\s(?:it|that|this)\s(?:still\s|now\s)?(?:works?|worked|helped|helps|fails?|failed|"
    r"(?:did|does|do)(?:n['’]t|\snot)\s(?:work|help)|(?:is|was)\s\w+)(?:\s(?:now|again|fine|too|well|better|perfectly|at\sall)){0,2})?\W*",
    re.IGNORECASE,
)
_HUMAN_STATE = re.compile(r"^(?:she|he)(?:['’]s|\s(?:is|has|was))\s", re.IGNORECASE)


def is_stub(*, clause: str) -> bool:
    """Whether a clause breaks off before it says anything ("As Churchill put it", "Pono did")."""
    if _TRIES.fullmatch(clause):
        return True
    patterns = (_PASSING, _REPORTING, _ELLIPTIC)
    return any(each.match(clause) for each in patterns) or _lacks_subject(clause)


def _lacks_subject(clause: str) -> bool:
    """ "Started at 9", "moved to Friday": nobody knows who or what did."""
    words = words_of(clause)
    return (
        len(words) > 1
        and "," not in clause
        and is_past_form(word=words[0])
        and words[1] in PREPOSITIONS
    )


def tells_too_little(*, clause: str) -> bool:
    """Whether a clause names too little to stand for itself ("They changed it", "On May 12")."""
    if is_stub(clause=clause):
        return True
    words = set(content_words(clause))
    if len(words) > 5:
        return False
    words = set(content_words(DATE_EXPRESSION.sub(" ", clause)))
    if not words:
        return True
    if _RULE.match(clause):
        return False
    if len(words) > 1 or names_in(clause) or any(char.isdigit() for char in clause):
        return False
    return not _HUMAN_STATE.match(clause)


def is_calendar_trivia(*, text: str) -> bool:
    """Whether a sentence only says which weekday a date falls on."""
    return bool(_CALENDAR_TRIVIA.match(text))


def says_nothing(*, text: str) -> bool:
    """Whether a statement is mere evaluation or calendar trivia ("It was wonderful")."""
    if _WAIT_AND_SEE.search(text) or _ANNOUNCED.match(text):
        return True
    if is_calendar_trivia(text=text) or (_VAGUE.match(text) and len(content_words(text)) < 4):
        return True
    if names_in(text) or any(char.isdigit() for char in text):
        return False
    pointing = {"it", "that", "this"} & set(words_of(text))
    return (bool(_EVALUATION.match(text)) and len(content_words(text)) < 3) or (
        bool(pointing) and len(content_words(text)) < 2
    )


def is_ephemeral(*, clause: str) -> bool:
    """Whether a clause only starts or promises something now ("Let's look", "I'll send it")."""
    if _LETS.match(clause):
        return not is_decision(clause=clause)
    return bool(_PROMISE.match(clause)) and len(content_words(clause)) < 4


def is_acknowledgement(*, text: str) -> bool:
    """Whether a verbless reply only reacts ("good point") and answers nothing."""
    counted = any(word[0].isdigit() or word in NUMBER_WORDS for word in words_of(text))
    return not counted and not set(content_words(text)) - _ACKNOWLEDGED


def is_rule_fragment(*, text: str) -> bool:
    """Whether a verbless remark names a lasting rule ("always under 30 minutes of cooking")."""
    words = words_of(text)
    if is_offer(question=text):
        return False
    counted = any(word[0].isdigit() for word in words)
    if _APPOINTMENT.match(text) and DATE_EXPRESSION.search(text):
        return True
    if len(content_words(text)) < 3:
        return False
    return words[0] in _RULE_WORDS or (bool(names_in(text)) and counted)
