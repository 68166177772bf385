"""Who is the youngest, the tallest, the only one: there is one of them at a time."""

from __future__ import annotations

from ...types import Verdict
from ..reading.frames import Reading, Word
from ..reading.quantities import Quantity
from ..reading.slots import is_copular
from ..reading.superlatives import HIGHER, HIGHEST, form_of, superlative_of
from .evidence import Evidence
from .tellings import tells_event

_YEARS = 365.0 * 86_400
_MAX_AGE = 120


_AGES = {"young": -1, "old": 1}


def on_superlative(ev: Evidence) -> tuple[Verdict, str] | None:
    """How a newcomer or another holder stands to who was told to be first; None for no such pair.

    "Ines, 26, is the youngest of the crew", "a girl of seventeen joined the crew".
    """
    e, n = ev.existing, ev.new
    quality = superlative_of(e)
    if not quality or n.negative or ev.signals.unreal or not _meet(ev):
        return None
    if any(a.is_name and a.in_subject and b.in_subject for a, b in ev.comparison.shared):
        return None
    if superlative_of(n) == quality:
        return _two_firsts(ev, quality)
    if any(HIGHER.get(token.lower) == quality for token in n.tokens):
        is_plain = is_copular(n.tokens, n.verb_at)
        return (
            Verdict.DISPUTE if is_plain else Verdict.SUPERSEDE
        ), f"a {form_of(quality, 'er')} one"
    if quality in _AGES and tells_event(n):
        first, then = _age(e), _age(n)
        if first is not None and then is not None:
            is_further = (then - first) * _AGES[quality] > 0
            ages = f"{first:g} / {then:g}"
            return (Verdict.SUPERSEDE if is_further else Verdict.COEXIST), f"an age of {ages}"
    return None


def _two_firsts(ev: Evidence, quality: str) -> tuple[Verdict, str] | None:
    """ "The Arden is the tallest tower", "the Brenner is": of one group only one can be."""
    c = ev.comparison
    if ev.signals.change or ev.other_scope:
        return None
    mine = [w for w in c.left_existing if not w.in_subject]
    theirs = [w for w in c.left_new if not w.in_subject]
    if mine or theirs:
        return None
    return Verdict.DISPUTE, f"two of whom each is the {form_of(quality, 'est')}"


def _meet(ev: Evidence) -> bool:
    """Whether both speak of one group: a noun behind the verb of the one is in the other."""
    return any(
        not a.is_name and not a.in_subject and not _is_quality(a) for a, _ in ev.comparison.shared
    )


def _is_quality(word: Word) -> bool:
    return word.text in HIGHEST or word.text in HIGHER


def _age(reading: Reading) -> float | None:
    """The age in years of the one that the statement is about, if it is told."""
    return next((age for each in reading.quantities if (age := _years(each)) is not None), None)


def _years(quantity: Quantity) -> float | None:
    if quantity.kind == "duration" and "year" in quantity.text.lower():
        return quantity.raw or round(quantity.value / _YEARS)
    plain = quantity.kind in {"number", "count"} and quantity.end - quantity.start == 1
    return quantity.value if plain and 0 < quantity.value <= _MAX_AGE else None
