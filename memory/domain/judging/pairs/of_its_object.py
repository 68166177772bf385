"""What somebody does with another one, and what that other one does: no repetition of each other.

"Lives with her sister", "her sister runs a shop": a repetition says the same of the same subject.
"""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.lexicon import Table
from ..reading.people import POSTS
from ..reading.tables import words
from .change_words import change_word
from .evidence import Evidence
from .nouns import head_noun
from .tellings import verbs_of

_WHOSE = words("his her their its our my your 's")
# Somebody of whom more may be said than how others stand to them.
BEINGS = POSTS | words(
    "parent grandparent grandmother grandfather grandma grandpa child children kid sibling twin "
    "in-law mother-in-law father-in-law sister-in-law brother-in-law stepson stepdaughter "
    "stepmother stepfather boyfriend girlfriend fiance fiancee flatmate roommate landlord "
    "landlady tenant lodger coworker client trainer tutor teammate dog cat horse parrot rabbit "
    "puppy kitten pony"
)


def told_of_object(ev: Evidence) -> str:
    """What one statement is about and the other only names beside its own matter, or ""."""
    found = _object_told(ev)
    return f"one is about the {found.text} that the other only names" if found else ""


def told_of_another(ev: Evidence) -> str:
    """Whom one statement is about and the other only names, where nothing is told to change; or "".

    "Works with her cousin", "her cousin teaches yoga"; but not "her cousin moved out".
    """
    found = _object_told(ev)
    if found is None or not BEINGS & {found.text, found.text.removesuffix("s")}:
        return ""
    if ev.comparison.attributes and not _is_attribute(ev, found):
        return ""
    if ev.signals.change or ev.signals.weak or change_word(ev.new):
        return ""
    if ev.existing.negative != ev.new.negative:
        return ""
    apart = verbs_of(ev.existing, ev.new, ev.comparison)[1]
    return f"one is about the {found.text} that the other only names" if apart else ""


def _object_told(ev: Evidence) -> Word | None:
    """The noun that somebody owns, the subject of one of the two and told of in the other."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if c.oppositions or c.polarity or c.other_values or c.equal_values:
        return None
    if ev.ending or ev.signals.correction:
        return None
    met = [(a, b) for a, b in c.shared if not (a.is_name or b.is_name or _are_verbs(ev, a, b))]
    if len(met) != 1 or met[0][0].stem != met[0][1].stem:
        return None
    mine, theirs = met[0]
    for reading, word, other, left in (
        (e, mine, theirs, ev.left_existing),
        (n, theirs, mine, ev.left_new),
    ):
        tells_more = any(each.position >= reading.verb_at for each in left)
        rest = ev.left_new if reading is e else ev.left_existing
        if any(each.position == other.position - 1 for each in rest):
            # "Has a strict boss".
            continue
        if tells_more and word == _owned_subject(reading) and not other.in_subject:
            return word
    return None


def _is_attribute(ev: Evidence, word: Word) -> bool:
    """Whether the attribute both speak of is just the word for who it is, and has no two names."""
    named = [any(each.is_name for each in left) for left in (ev.left_existing, ev.left_new)]
    return not all(named) and all(
        word.text in {token.lower for token in reading.tokens[mark.start : mark.end]}
        for reading in (ev.existing, ev.new)
        for mark in reading.of(Table.ATTRIBUTE)
        if any(row in ev.comparison.attributes for row, _ in mark.ids)
    )


def _are_verbs(ev: Evidence, a: Word, b: Word) -> bool:
    return a.position == ev.existing.verb_at and b.position == ev.new.verb_at


def _owned_subject(reading: Reading) -> Word | None:
    """The noun of the subject, where it is told whose it is: "her sister", "Nora's sister"."""
    noun = head_noun(reading)
    if noun is None or noun.is_name or not noun.position:
        return None
    before = reading.tokens[max(reading.start, noun.position - 2) : noun.position]
    return noun if any(token.lower in _WHOSE for token in before) else None
