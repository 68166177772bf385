"""Questions that tell the time without a date.

By an event ("before the release", "after her accident"), or as what held once and holds no longer
("What was the dog called before?").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from memory.domain.retrieval.periods import TOLD_DAYS
from memory.domain.scoring import Flags, Floats
from memory.domain.text.stop_words import word_set

# What follows from an event is told within weeks; measured flat between 7 and 30 days.
NEAR_DAYS = 14.0
# A memory of the event holds at least this share of the rarity of the event's words.
SURE = 0.6
_DAY_SECONDS = 86_400.0
# The event goes on to a comma or to where and when it was ("the trip in May").
_CLAUSE = re.compile(
    r"\b(?P<side>before|after|since|until|during|while|following|ahead\s+of"
    r"|(?:prior|leading\s+up)\s+to)\s+"
    r"(?P<event>(?:the|a|an|this|that|his|her|their|our|my|your|its|[\w'’]+ing"
    r"|(?-i:[A-Z])[\w'’-]*|(?:he|she|they|we|you|it)\s+\w+)\b[^,.?!;:]*?)"
    r"(?=\s+(?:in|on|at)\s+(?:\d|(?-i:[A-Z]))|[,.?!;:]|$)",
    re.IGNORECASE,
)
# "Who is following the project?", "who's still ahead of the others?" tell what somebody does.
_MAY_BE_STATE = frozenset({"following", "ahead of"})
_STATE = re.compile(
    r"(?:\b(?:am|is|are|was|were|be)|['’](?:s|m|re))"
    r"(?:\s+(?:i|you|he|she|it|we|they|(?-i:[A-Z])[\w'’]*))?"
    r"(?:\s+(?:still|all|always|just|not|now|far))?\s+$",
    re.IGNORECASE,
)
_LONGEST_STATE = 40
_MOST_CLAUSES = 8
_TIME = r"(?:second|minute|hour|day|night|morning|evening|week|weekend|month|quarter|year|decade)s?"
# What happened is no state that something else took the place of.
_OCCASION = (
    rf"(?:{_TIME}|time|one|meeting|session|conversation|chat|call|talk|message|question|answer"
    r"|step|page|chapter|episode|attempt|visit|trip|release|sprint)\b"
)
_CHANGEABLE = (
    r"(?:name|title|address|number|phone|email|job|employer|role|price|cost|fee|value|setting"
    r"|default|limit|plan|owner|lead|manager|boss|landlord|supplier|vendor|provider|version"
    r"|deadline|date|location|place|home|flat|office|colou?r|size|password|port|url|domain|host"
    r"|logo)s?\b"
)
_CHANGED = r"(?:the\s+change|changed|renamed|replaced|switched|swapped)\b"
_BE = word_set("is are was were be been s re m get gets got getting")
_CLAUSE_WORDS = word_set("that who which where what i you he she it we they")
_WORDS_BACK = 5
_LONGEST_BACK = 60
# What is used to open a door is used now, and who is used to the noise is so today.
_USED_TO = re.compile(r"\bused\s{1,4}to\s{1,4}(?!the\b|it\b)\w", re.IGNORECASE)
_PAST = re.compile(
    rf"""
    \b(?:previously|formerly|originally|erstwhile)\b
    | \bback\s{{1,4}}then\b
    | \bin\s{{1,4}}the\s{{1,4}}past\b (?!\s{{1,4}}(?:[\w-]{{1,20}}\s{{1,4}}){{0,2}}{_TIME}\b)
    | \bdid(?:n['’]t)?\s{{1,4}}(?:[\w'’]{{1,20}}\s{{1,4}}){{1,4}}use\s{{1,4}}to\s
    | \b(?:former|previous|prior|original)\s{{1,4}}(?!to\b|{_OCCASION})[a-z]
    | \b(?:old|earlier)\s{{1,4}}{_CHANGEABLE}
    # "before" with nothing after it, but not "the day before" and "ever before".
    | (?<!\bday\s)(?<!\bnight\s)(?<!\bmorning\s)(?<!\bevening\s)(?<!\bweek\s)(?<!\bweekend\s)
      (?<!\bmonth\s)(?<!\byear\s)(?<!\bever\s)(?<!\bnever\s)
      \bbefore(?:\s{{1,4}}(?:that|then|now|it))?\s{{0,4}}(?:[?!.,;:)"”]|$)
    | \bbefore\s{{1,4}}(?:(?:it|they|he|she)\s{{1,4}}(?:was|were|got)\s{{1,4}})?{_CHANGED}
    # "What was the dog called before Biscuit?"
    | ^\W{{0,4}}what\s{{1,4}}(?:was|were)\b[^.?!]{{0,80}}
      \b(?:called|named|known\s{{1,4}}as)\s{{1,4}}before\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Side(StrEnum):
    """On which side of the event the answer lies."""

    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


_SIDES = {
    "before": Side.BEFORE,
    "until": Side.BEFORE,
    "prior to": Side.BEFORE,
    "leading up to": Side.BEFORE,
    "ahead of": Side.BEFORE,
    "after": Side.AFTER,
    "since": Side.AFTER,
    "following": Side.AFTER,
    "during": Side.DURING,
    "while": Side.DURING,
}


@dataclass(frozen=True, slots=True)
class Event:
    """The side, and where in the question its words (opens) and the event's stand (start, end)."""

    side: Side
    opens: int
    start: int
    end: int


def find_event(text: str) -> Event | None:
    """The first event that a question dates its answer by."""
    place = 0
    for _ in range(_MOST_CLAUSES):
        match = _CLAUSE.search(text, place)
        if match is None:
            return None
        word = " ".join(match["side"].lower().split())
        before = text[max(0, match.start() - _LONGEST_STATE) : match.start()]
        if word not in _MAY_BE_STATE or not _STATE.search(before):
            return Event(_SIDES[word], match.start(), match.start("event"), match.end("event"))
        place = match.start("event")
    return None


class Placed(NamedTuple):
    """Where each memory lies of an event.

    `near` is how near on the asked side: 1 at the event, 0 where unknown; `beyond` says that it
    lies clearly on the other side.
    """

    near: Floats
    beyond: Flags


def place_by_event(
    side: Side, *, matches: Flags, idf: Floats, said_at: Floats, happened_at: Floats
) -> Placed:
    """On which side of the event each memory lies, and how near.

    `matches` and `idf` are those of the event's words. The event is what the memories that hold
    most of them tell of; none that holds enough, and nothing is near or beyond. Where several
    tell of it, the one that is kindest to a memory counts. Times are seconds of the epoch.
    """
    near = np.zeros(len(said_at))
    beyond = np.zeros(len(said_at), dtype=bool)
    if not len(idf) or not len(near) or idf.sum() <= 0:
        return Placed(near, beyond)
    covered: Floats = matches @ idf / idf.sum()
    if covered.max() < SURE:
        return Placed(near, beyond)
    times = np.where(np.isnan(happened_at), said_at, happened_at)
    # What was said the same day may have been on either side; and for a while one tells of what
    # was before.
    slack = np.where(np.isnan(happened_at) & (side is Side.BEFORE), TOLD_DAYS, 1.0)
    moments = np.unique(times[(covered >= covered.max() - 1e-9) & np.isfinite(times)])
    beyond[:] = len(moments) > 0 and side is not Side.DURING
    for moment in moments:
        days = (times - moment) / _DAY_SECONDS
        if side is Side.BEFORE:
            days = -days
        elif side is Side.DURING:
            days = np.abs(days)
        near = np.fmax(near, np.where(days >= -1, np.exp(-np.maximum(days, 0) / NEAR_DAYS), 0.0))
        beyond &= days < -slack
    return Placed(near, beyond)


def asks_for_past(text: str) -> bool:
    """Whether a question asks for what was replaced; "before June" and "before the release" do not.

    It may be said of a question that needs no past, which costs room in an answer and no more.
    """
    return _PAST.search(text) is not None or any(
        not _is_of_now(text[max(0, match.start() - _LONGEST_BACK) : match.start()])
        for match in _USED_TO.finditer(text)
    )


def _is_of_now(before: str) -> bool:
    """Whether "used to" behind these words says what something is for or somebody knows well."""
    words = [word for word in re.split(r"[\s'’]+", before.lower()) if word][-_WORDS_BACK:]
    be = max((place for place, word in enumerate(words) if word in _BE), default=None)
    return be is not None and _CLAUSE_WORDS.isdisjoint(words[be + 1 :])
