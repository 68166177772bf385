"""Questions that tell the time by an event: "before the release", "after her accident"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from memory.domain.scoring import Flags, Floats

from .periods import TOLD_DAYS

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
