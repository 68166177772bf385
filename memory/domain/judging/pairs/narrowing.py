"""News of one kind of a thing says nothing of the thing: "the budget", "the catering budget"."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.tables import words
from .change_words import FILLERS
from .evidence import Evidence
from .nouns import HANGING, head_noun
from .tellings import verbs_of

_DETERMINERS = words("the a an my our his her its their your 's this that")
# What makes no other thing of it, and what makes a set of it of which the other is one.
_PLAIN = FILLERS | words(
    "old own whole entire full overall official actual final original regular usual planned "
    "revised updated next last first only single latest total main general previous project team "
    "company user average failed"
)
_ALL = words("all every each no any both most many some few several none half")


def narrower_kind(ev: Evidence) -> str:
    """The word that makes the new subject a kind of the existing one's, or "".

    "The budget is 5k", "the catering budget is now 2k": the wider is not told to be otherwise.
    """
    e, n = ev.existing, ev.new
    if ev.same_path or not _ALL.isdisjoint(e.lowers):
        return ""
    if not (ev.comparison.other_values or verbs_of(e, n, ev.comparison)[0]):
        return ""
    mine, theirs = head_noun(e), head_noun(n)
    if mine is None or theirs is None or mine.is_name or theirs.is_name:
        return ""
    if not any(a == mine and b == theirs for a, b in ev.comparison.shared) or not _is_bare(e, mine):
        return ""
    return next(
        (
            word.text
            for word in ev.comparison.left_new
            if word.position == theirs.position - 1 and _modifies(n, word)
        ),
        "",
    )


def periodic_kind(ev: Evidence) -> str:
    """ "CI runs on push", "nightly CI runs at 2": the word for how often that sort of it runs."""
    c = ev.comparison
    if ev.same_path or c.other_values or c.oppositions or c.polarity:
        return ""
    mine, theirs = head_noun(ev.existing), head_noun(ev.new)
    if mine is None or theirs is None or not verbs_of(ev.existing, ev.new, c)[0]:
        return ""
    if not any(a == mine and b == theirs for a, b in c.shared):
        return ""
    often = [each for each in ev.new.quantities if each.kind == "frequency"]
    if any(
        each.kind == "frequency" for each in ev.existing.quantities if each.end <= mine.position
    ):
        return ""
    return next((each.text for each in often if each.end == theirs.position), "")


def _is_bare(reading: Reading, noun: Word) -> bool:
    """Whether no other noun makes a kind of it."""
    i = noun.position
    return i <= reading.start or reading.tokens[i - 1].lower in _DETERMINERS | _PLAIN


def _modifies(reading: Reading, word: Word) -> bool:
    i = word.position
    before = reading.tokens[reading.start : i]
    if word.text in _PLAIN or not word.in_subject or any(t.lower in HANGING for t in before):
        return False
    if i <= reading.start:
        # "Writing tests".
        return not word.text.endswith("ing")
    return reading.tokens[i - 1].lower in _DETERMINERS | _PLAIN
