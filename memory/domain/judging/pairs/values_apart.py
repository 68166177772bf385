"""What two statements leave over of each other: one value each, of one kind, in one place."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.lexicon import VALUE_ROWS, Table, kinds_of_words
from ..reading.slots import ASIDE, SUBJECT, VERB
from .change_words import FILLERS, change_word
from .evidence import Evidence
from .tellings import verbs_of

_CONTINENTS = kinds_of_words("asia europe africa america abroad")
ANY_PLACE = -1
"""Stands for the kinds of towns and countries, of whichever continent."""


def only_opposed(ev: Evidence) -> bool:
    """ "Wants long answers", "wants short answers": opposites of one object, and no second one."""
    quoted = {
        word for _, *quotes in ev.comparison.oppositions for each in quotes for word in each.split()
    }
    left = values_left((*ev.left_existing, *ev.left_new))
    return bool(quoted) and all(word.text in quoted for word in left)


def figures_part(ev: Evidence) -> bool:
    """ "Is deployed on Fridays", "is now deployed on Tuesdays": all that differs is one figure."""
    c = ev.comparison
    if len(c.other_values) != 1 or c.oppositions or c.polarity:
        return False
    if values_left(c.left_existing) or values_left(c.left_new):
        return False
    if len(ev.existing.quantities) - len(ev.new.quantities):
        return False
    ((a, b),) = c.other_values
    return ev.existing.slots[a.start] == ev.new.slots[b.start] != SUBJECT


def figure_is_now(ev: Evidence) -> bool:
    """ "The budget for Q1 is 40,000", "the budget is now 55,000, finance agreed": another figure.

    The new statement speaks of nothing else that the existing one does not, but for what follows
    behind a comma.
    """
    c, e, n = ev.comparison, ev.existing, ev.new
    if ev.elsewhere or ev.signals.additive or ev.signals.unreal or n.negative or not change_word(n):
        return False
    if len(c.other_values) != 1 or not verbs_of(e, n, c)[0]:
        return False
    ((a, b),) = c.other_values
    if SUBJECT in {e.slots[a.start], n.slots[b.start]}:
        return False
    met = [b for a, b in c.shared if a.in_subject and b.in_subject and not a.is_name]
    close = next((i for i in range(b.end, len(n.tokens)) if n.tokens[i].separator), len(n.tokens))
    return bool(met) and all(
        word.position > close or word.text in FILLERS for word in ev.comparison.left_new
    )


def values_part(ev: Evidence) -> bool:
    """Whether one value of each is left over in the same place, and they may be of one kind."""
    c = ev.comparison
    mine = values_told(ev.existing, ev.left_existing)
    theirs = values_told(ev.new, ev.left_new)
    if c.oppositions:
        return len(mine) <= 2 and len(theirs) <= 2
    if not mine or not theirs or len(mine) > 3 or len(theirs) > 3 or c.equal_values:
        return False
    places_e = {ev.existing.slots[w.position] for w in mine}
    places_n = {ev.new.slots[w.position] for w in theirs}
    if places_e != places_n or not places_e - {ASIDE, VERB}:
        return False
    return of_a_kind(mine, theirs)


def of_a_kind(mine: list[Word], theirs: list[Word]) -> bool:
    """Whether nothing is known of the two that makes them things of different kinds."""
    kinds_e, kinds_n = kinds_left(mine), kinds_left(theirs)
    return not (kinds_e and kinds_n) or not kinds_e.isdisjoint(kinds_n)


def kinds_left(left: list[Word]) -> set[int]:
    """The kinds of things the words stand for; towns of any two continents are places."""
    rows = {row for word in left for row, _ in word.kinds}
    return rows - _CONTINENTS | {ANY_PLACE} if rows & _CONTINENTS else rows


def rows_left(reading: Reading, left: list[Word]) -> set[tuple[Table, int]]:
    """What the tables know the words to be: the kinds of them, and the sets they are one of."""
    places = {word.position for word in left}
    return {(Table.KIND, row) for row in kinds_left(left)} | {
        (Table.CONTRAST, row)
        for mark in reading.of(Table.CONTRAST)
        if not places.isdisjoint(range(mark.start, mark.end))
        for row, _ in mark.ids
        if row in VALUE_ROWS
    }


def values_left(left: tuple[Word, ...]) -> list[Word]:
    """The left-over words that say something of the subject."""
    return [w for w in left if not w.in_subject and w.text not in FILLERS]


def values_told(reading: Reading, left: tuple[Word, ...]) -> list[Word]:
    """Those of them that no later clause tells: "is led by Fay, who joined from Berlin"."""
    return [word for word in values_left(left) if reading.slots[word.position] != ASIDE]
