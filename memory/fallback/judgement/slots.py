"""Words that stand in one place of the sentence frame that both statements share."""

from __future__ import annotations

from ..lexicon import word_set
from .pairing import Features, Pair
from .reading import Reading

_NO_LIKENESS = -0.2


def slots(pair: Pair) -> Features:
    """Counts of left-over words that stand beside the same word or preposition."""
    old, new = pair.old, pair.new
    found: Features = {}
    best = _NO_LIKENESS
    beside_old = {i: (_beside(old, i, -1), _beside(old, i, 1)) for i in pair.old_left}
    beside_new = {j: (_beside(new, j, -1), _beside(new, j, 1)) for j in pair.new_left}
    for i, (before_i, behind_i) in beside_old.items():
        for j, (before_j, behind_j) in beside_new.items():
            before = _is_one(pair, before_i, before_j)
            behind = _is_one(pair, behind_i, behind_j)
            if not (before or behind):
                continue
            named = old.names[i] + new.names[j]
            kind = ("words", "a word and a name", "names")[named]
            where = "in subjects" if old.subject[i] and new.subject[j] else "in rests"
            _count(found, f"{kind} in one slot {where}")
            _count(found, "slot before" if behind else "slot behind")
            if not named:
                best = max(best, float(pair.cosines[i, j]))
    found["best cosine in a slot"] = best
    return found


def _beside(reading: Reading, place: int, step: int) -> int | None:
    """The next word with meaning or preposition before or behind a place, in its clause."""
    at = place + step
    while 0 <= at < len(reading.tokens) and reading.tokens[at].is_word:
        if reading.content[at] or reading.tokens[at].lower in word_set("prepositions"):
            return at
        at += step
    return None


def _is_one(pair: Pair, i: int | None, j: int | None) -> bool:
    if i is None or j is None:
        return False
    if pair.old_to_new.get(i) == j:
        return True
    word = pair.old.tokens[i].lower
    return word == pair.new.tokens[j].lower and word in word_set("prepositions")


def _count(found: Features, name: str) -> None:
    found[name] = found.get(name, 0.0) + 1
