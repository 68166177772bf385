"""Questions that tell the time by an event: "before the release", "after her accident"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# What follows from an event is told within weeks; measured flat between 7 and 30 days.
NEAR_DAYS = 14.0
# A memory of the event holds at least this share of the rarity of the event's words.
SURE = 0.6
_DAY_SECONDS = 86_400.0
_CLAUSE = re.compile(
    r"\b(?P<side>before|after|since|until|during|while)\s+"
    r"(?P<event>(?:the|a|an|this|that|his|her|their|our|my|your|its|[\w'’]+ing"
    # "Farid left", "she moved"
    r"|(?-i:[A-Z])[\w'’-]*|(?:he|she|they|we|you|it)\s+\w+)\b[^,.?!;:]*?)"
    # "the trip in May": where and when the event was need not stand beside its name.
    r"(?=\s+(?:in|on|at)\s+(?:\d|(?-i:[A-Z]))|[,.?!;:]|$)",
    re.IGNORECASE,
)


class Side(StrEnum):
    """On which side of the event the answer lies."""

    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


_SIDES = {
    "before": Side.BEFORE,
    "until": Side.BEFORE,
    "after": Side.AFTER,
    "since": Side.AFTER,
    "during": Side.DURING,
    "while": Side.DURING,
}


@dataclass(frozen=True, slots=True)
class Event:
    """The side, and where in the question the words of the event stand (start and end)."""

    side: Side
    start: int
    end: int


def find_event(text: str) -> Event | None:
    """The first event that a question dates its answer by."""
    match = _CLAUSE.search(text)
    if match is None:
        return None
    return Event(_SIDES[match["side"].lower()], match.start("event"), match.end("event"))


def closeness_to_event(
    side: Side, *, matches: Flags, idf: Floats, said_at: Floats, happened_at: Floats
) -> Floats:
    """How near each memory lies to the event on the asked side, 1 at the event, 0 where unknown.

    `matches` and `idf` are those of the event's words. The event is what the memories that hold
    most of them tell of; none that holds enough, and all is 0. Times are seconds of the epoch.
    """
    near = np.zeros(len(said_at))
    if not len(idf) or not len(near) or idf.sum() <= 0:
        return near
    covered: Floats = matches @ idf / idf.sum()
    if covered.max() < SURE:
        return near
    times = np.where(np.isnan(happened_at), said_at, happened_at)
    for moment in np.unique(times[(covered >= covered.max() - 1e-9) & np.isfinite(times)]):
        days = (times - moment) / _DAY_SECONDS
        if side is Side.BEFORE:
            days = -days
        elif side is Side.DURING:
            days = np.abs(days)
        # What was said the same day may have been on either side.
        near = np.fmax(near, np.where(days >= -1, np.exp(-np.maximum(days, 0) / NEAR_DAYS), 0.0))
    return near
