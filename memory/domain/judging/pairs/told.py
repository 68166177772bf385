"""Which statements distilled from talk can contradict each other at all.

Talk is full of sentences about one matter that exclude nothing: praise, two parts of a story. A
conflict is borne by two plain statements that differ in little.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ...extraction.language.sentences import split_sentences
from ...types import Statement
from ..reading.frames import Reading
from ..reading.slots import OBJECT
from .change_words import change_word
from .evidence import Evidence, weigh
from .roles import turned_round
from .tellings import tells_event, verbs_of
from .values_apart import values_left

# What is left of either statement beside the other is a value, not another story.
MOST_LEFT = 4
_OPENING_DATE = re.compile(r"^(?:on|in|by|since|for) [^,.]{3,40}(?:, \d{4})?, ", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:said|says|asked|asks|wrote|replied|answered)(?:: |,? [\"“])", re.IGNORECASE
)
# What it points at is not there.
_LEANING = re.compile(
    r"(?:\[|(?:it|they|he|she|we|this|that|these|those|let['’]s)\b)", re.IGNORECASE
)


def may_contradict(existing: Statement, new: Statement) -> bool:
    """Whether what the two say is plain and near enough for one to exclude the other."""
    if not (_is_plain(existing.content) and _is_plain(new.content)):
        return False
    evidence = weigh(existing, new)
    if evidence.other_person or evidence.other_scope:
        return False
    if any(is_so(evidence) for is_so in _OF_SOMETHING_ELSE):
        return False
    return all(
        len(values_left(left)) <= MOST_LEFT for left in (evidence.left_existing, evidence.left_new)
    )


def is_reported(statement: Statement) -> bool:
    """Whether the statement gives somebody's words as they were said."""
    return bool(_REPORTED.search(statement.content))


@lru_cache(maxsize=2_048)
def _is_plain(text: str) -> bool:
    """Whether a text is one sentence that leans on nothing which is not there."""
    if _REPORTED.search(text) or _LEANING.match(_OPENING_DATE.sub("", text)):
        return False
    return len(split_sentences(text)) == 1


def _only_goes_on(evidence: Evidence) -> bool:
    """ "Got back from the party", "has a new cat": what came up replaces nothing by itself."""
    signals, c = evidence.signals, evidence.comparison
    if not signals.weak.lower().startswith(("got", "new ")):
        return False
    if signals.change or signals.correction or evidence.ending:
        return False
    return not (c.oppositions or c.polarity or c.other_values or c.attributes or evidence.clash)


def _turns_otherwise(evidence: Evidence) -> bool:
    """ "Has to tell Ann", "Ann is there to help": names in other places with another verb."""
    e, n, c = evidence.existing, evidence.new, evidence.comparison
    return not verbs_of(e, n, c)[0] and bool(turned_round(e, n, c))


def _follows_a_deed(evidence: Evidence) -> bool:
    """ "Went to Oslo in May", "the flight was rescheduled": what was done then stays done."""
    e = evidence.existing
    dated = any(value.kind == "date" for value in e.quantities)
    if not (dated and tells_event(e)) or evidence.ending or change_word(e):
        return False
    return not verbs_of(e, evidence.new, evidence.comparison)[0]


def _used_to_do_otherwise(evidence: Evidence) -> bool:
    """ "Plays tennis", "used to play football": over is what one used to do, and no more."""
    e, n = evidence.existing, evidence.new
    over = next((i + 2 for i, pair in enumerate(pairwise(_lowers(n))) if pair == _USED_TO), None)
    if over is None:
        return False
    met = any(a.position == e.verb_at and b.position == over for a, b in evidence.comparison.shared)
    return not met or any(e.slots[word.position] == OBJECT for word in evidence.left_existing)


_USED_TO = ("used", "to")


def _lowers(reading: Reading) -> list[str]:
    return [token.lower for token in reading.tokens]


def _denies_something_else(evidence: Evidence) -> bool:
    """ "Will not let Ann down", "calls Ann": what is denied is not what the other says of her."""
    c = evidence.comparison
    if c.polarity is None or c.oppositions or c.other_values or evidence.ending:
        return False
    _, apart = verbs_of(evidence.existing, evidence.new, c)
    denied = [(a, b) for a, b in c.shared if a.denied != b.denied]
    return apart and all(
        a.is_name
        and a.stem == b.stem
        and OBJECT in {evidence.existing.slots[a.position], evidence.new.slots[b.position]}
        for a, b in denied
    )


_OF_SOMETHING_ELSE = (
    _only_goes_on,
    _turns_otherwise,
    _follows_a_deed,
    _used_to_do_otherwise,
    _denies_something_else,
)
