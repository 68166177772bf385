"""What changes a profile: what a person says of themselves, of the very thing that it tells."""

from __future__ import annotations

import re

from ...types import Statement
from ..reading.frames import Reading, Word
from ..reading.tables import words
from ..relatedness import Change, names_change
from .evidence import Evidence, weigh
from .replacing import values_left

_OPENING = re.compile(
    r"^(?:(?:on|in|by|since|for|at) [^,.]{3,40}(?:, \d{4})?, |turns out |now |actually,? )+",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(r"(?:the )?user\b(?!['\u2019])", re.IGNORECASE)
# "Quit the job at X", "moved into a flat in Y": these name no other thing.
_OWN = words(
    "job position role post work employer company place home house flat apartment city town here "
    "anymore longer back finally just turn out actually week weekend month year day today "
    "yesterday morning january february march april may june july august september october "
    "november december"
)


def is_of_the_user(text: str) -> bool:
    """Whether the user is who a sentence tells of, and not somebody or something of theirs."""
    return bool(_OF_THE_USER.match(_OPENING.sub("", text)))


def changes_profile(existing: Statement, new: Statement) -> bool:
    """Whether the new statement ends, replaces or denies just what the existing one tells.

    Stricter than a judge, for it makes every agent see what one of them heard: "left X" ends
    "works at X", "left a phone at X" and "left X early" do not.
    """
    change = names_change(existing=existing, new=new)
    ev = weigh(existing, new)
    if change is Change.ENDED:
        return not _others(ev.new, ev)
    if change is Change.OF_ASPECT:
        others = _others(ev.new, ev)
        return bool(others) and all(word.is_name for word in others)
    return _is_denied(ev)


def _is_denied(ev: Evidence) -> bool:
    """ "Is allergic to nuts", "is not allergic to nuts"."""
    mine = [word for word in values_left(ev.left_existing) if word.text not in _OWN]
    return ev.comparison.polarity is not None and not mine and not _others(ev.new, ev)


def _others(reading: Reading, ev: Evidence) -> list[Word]:
    """What the new statement tells beside its verb, the existing one's words and idle ones."""
    return [
        word
        for word in values_left(ev.left_new)
        if word.position != reading.verb_at and word.text not in _OWN
    ]
