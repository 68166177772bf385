"""The English words of grammar, by which the date reader tells a noun behind a number."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as plain text."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a about after all also am an and any are as at be been before being but by can could
    did do does doing done for from had has have having he her here hers him his how i
    if in into is it its just me more most my no nor not now of off on once only or
    other our ours out over own please same she should so some such tell than that the
    their theirs them then there these they this those through to too under until up us
    very was we were what when where which while who whom whose why will with would you
    your yours
    """
)
