"""Answers that narrow or schedule what was asked: "only Mondays", "yes, every day at eight"."""

from __future__ import annotations

import re

from ..language.verbs import BASES, is_past_form
from ..language.words import DETERMINERS, MONTHS, WEEKDAYS, words_of
from .offers import flipped

# "Every day?", "All year?", "Always?"
_HOW_OFTEN_ASKED = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s|but\s)?(?:on\s)?(?:(?:every|each|all|any)\s(?:single\s)?(?:day|days|weekdays?|week|weekends?|month|year|time|"
    r"morning|afternoon|evening|night|\w+day|(?:of\s)?(?:them|the\stime))(?:\slong)?|always|daily|weekly|(?:the\s)?whole\s(?:day|week|year))\?$",
    re.IGNORECASE,
)
_NARROWS = re.compile(
    r"(?:no[,.;–—-]*\s)?(?P<only>(?:only|just|not|except|apart\sfrom|all\sbut|mostly|usually|never)\b.{2,60}?)[.!]*$",
    re.IGNORECASE,
)
_BARE_DAYS = re.compile(
    r"(?P<only>only|just|not|mostly|usually|never)\s(?=\w+days?\b)", re.IGNORECASE
)
_NEEDED = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:and\s|so\s|but\s)?what(?:\selse)?\s(?:still\s|also\s)?(?:needs?|has|have|must|should|ought)\s"
    r"(?:to\s)?(?:be\s)?(?:ready|done|finished|happen|change[d]?|fixed|repaired|prepared|in\splace)\b[^?]*\?$",
    re.IGNORECASE,
)
_REMINDER = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:shall|should|may|can|could)\si\s(?:also\s|then\s)?remind\syou(?:\s(?:of|about)\s(?P<what>(?!(?:it|that|this)\b)[^?]{3,50}))?\?$"
    r"|(?:[\w’']+[,.!]\s)?(?:do\syou\swant|would\syou\slike)\s(?:me\sto\sremind\syou|a\sreminder)"
    r"(?:\s(?:of|about|for)\s(?P<which>(?!(?:it|that|this)\b)[^?]{3,50}))?\?$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(?:yes|yeah|yep|sure|ok|okay|please|gladly)(?:,?\splease)?[\s,.:–—-]+(?P<when>(?:every|each|daily|weekly|once|twice|on|at|an?\s(?:day|hour|week)|the\s(?:day|evening|night|morning)\sbefore|in\sthe|two|three|tomorrow|tonight)\b.{2,80}?)[.!]*$",
    re.IGNORECASE,
)
_TIME = (
    rf"(?:(?:the\s)?\d|this\s|next\s|now\b|then\b|tomorrow\b|tonight\b|today\b|spring\b|summer\b|autumn\b|winter\b|noon\b|"
    rf"weekends?\b|(?:the\s)?(?:morning|afternoon|evening|night|week|weekend|month|year)s?\b|(?:{'|'.join(MONTHS)})\b|"
    rf"(?:{'|'.join(WEEKDAYS)})s?\b|christmas\b|easter\b|work\b|school\b|lunch\b|dinner\b|breakfast\b|first\b|half\s|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)"
)
_THEN = re.compile(
    r"(?P<who>[^,]{2,40}?),\s(?P<then>(?:but\s(?:only|not)|only|just|until|till|since|this|next|every|each|twice|once|starting|as\sof|"
    rf"always|usually|mostly|tomorrow|tonight|(?:from|on|at|in|after|before|by|during)\s(?={_TIME}))\b.{{0,60}})$",
    re.IGNORECASE,
)


def how_often_asked(*, question: str) -> bool:
    """Whether a question only asks whether what was just told is always so: "Every day?"."""
    return bool(_HOW_OFTEN_ASKED.match(question))


def narrowed(*, question: str, answer: str) -> str:
    """ "only on Mondays" out of "Every day?" and "Only Mondays", or ""."""
    if not how_often_asked(question=question):
        return ""
    if words_of(answer)[:1] and words_of(answer)[0].rstrip("s") in WEEKDAYS:
        return f"on {answer}"
    found = _NARROWS.match(answer)
    return _BARE_DAYS.sub(r"\g<only> on ", found.group("only")) if found else ""


def day_asked(*, question: str) -> str:
    """ "monday" out of "Every Monday?", or ""."""
    return next((word for word in words_of(question) if word in WEEKDAYS), "")


def to_be_done(*, question: str, answer: str) -> str:
    """ "The floor needs to be levelled" out of "What needs to be ready?" and "The floor levelled".

    "" where the answer is none of things with what is to become of them.
    """
    if not _NEEDED.match(question):
        return ""
    words = words_of(answer)
    if not words or words[0] not in DETERMINERS or len(words) < 3:
        return ""
    for at, word in enumerate(words[1:], 1):
        if is_past_form(word=word) and word not in BASES and word not in {"was", "were", "had"}:
            if {"and", "or"} & set(words[:at]):
                # The first of them has a participle that no list knows.
                return f"Still to be done: {answer[:1].lower()}{answer[1:]}"
            place = re.search(rf"\s{re.escape(word)}\b", answer, re.IGNORECASE)
            several = words[at - 1].endswith("s") and not words[at - 1].endswith("ss")
            need = "need" if several else "needs"
            return (
                f"{answer[: place.start()]} {need} to be{answer[place.start() :]}" if place else ""
            )
    return ""


def reminder_wanted(*, question: str, said: str) -> str:
    """The wish in "Shall I remind you of the pill?" and "Yes, every day at eight", or ""."""
    offered, yes = _REMINDER.match(question), _WHEN.match(said)
    if offered is None or yes is None:
        return ""
    what = offered.group("what") or offered.group("which")
    of = f" of {flipped(text=what)}" if what else ""
    return f"I want a reminder{of} {yes.group('when')}"


def who_and_how(*, given: str) -> tuple[str, str]:
    """ "Pieter" and ", but only until Christmas" out of an answer to who does something.

    The second part is empty where the answer says no more than who, or how many.
    """
    match = _THEN.match(given)
    if match is None:
        return given, ""
    then = match.group("then")
    comma = "," if then.lower().startswith(("but", "only", "just")) else ""
    return match.group("who"), f"{comma} {then}"
