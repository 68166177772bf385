"""How much of each statement the other one says too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .pairing import Features, Pair, Sameness, cosine
from .reading import Reading

_NOTHING = -0.5


def overlap(pair: Pair) -> Features:
    """Coverage of both sides by weight, and the likeness of wholes, subjects and rests."""
    old, new = pair.old, pair.new
    shared = list(pair.old_to_new.items())
    cover_old = _share(old, list(pair.old_to_new), old.matter)
    cover_new = _share(new, list(pair.new_to_old), new.matter)
    subjects = [[i for i in r.matter if r.subject[i]] for r in (old, new)]
    rests = [[i for i in r.matter if not r.subject[i]] for r in (old, new)]
    left_cosines = sorted(
        (
            max((float(pair.cosines[i, j]) for j in pair.new_left), default=0.0)
            for i in pair.old_left
        ),
        reverse=True,
    )
    found = {
        "cosine": cosine(old.mean(old.matter), new.mean(new.matter)),
        "cover old": cover_old,
        "cover new": cover_new,
        "cover both": min(cover_old, cover_new),
        "cover either": max(cover_old, cover_new),
        "cover subject old": _share(old, list(pair.old_to_new), subjects[0]),
        "cover subject new": _share(new, list(pair.new_to_old), subjects[1]),
        "cover rest old": _share(old, list(pair.old_to_new), rests[0]),
        "cover rest new": _share(new, list(pair.new_to_old), rests[1]),
        "soft cover old": _soft_share(old, old.matter, pair.old_to_new, pair.cosines),
        "soft cover new": _soft_share(new, new.matter, pair.new_to_old, pair.cosines.T),
        "left in both subjects": float(
            any(old.subject[i] for i in pair.old_left)
            and any(new.subject[j] for j in pair.new_left)
        ),
        "left in both rests": float(
            any(not old.subject[i] for i in pair.old_left)
            and any(not new.subject[j] for j in pair.new_left)
        ),
        "subject cosine": _likeness(old, new, *subjects),
        "rest cosine": _likeness(old, new, *rests),
        "left cosine": _likeness(old, new, pair.old_left, pair.new_left),
        "best left cosine": left_cosines[0] if left_cosines else 0.0,
        "mean left cosine": sum(left_cosines) / len(left_cosines) if left_cosines else 0.0,
        "nothing left": float(not pair.old_left and not pair.new_left),
        "shared subject": sum(old.subject[i] and new.subject[j] for i, j in shared),
        "shared rest": sum(not old.subject[i] and not new.subject[j] for i, j in shared),
        "shared across": sum(old.subject[i] != new.subject[j] for i, j in shared),
        "same verb": float(_verb(old) == _verb(new) != ""),
    }
    for sameness in Sameness:
        count = sum(how is sameness for how in pair.how.values())
        found[f"shared {sameness.name.lower()}"] = count
    for side, reading, left in (("old", old, pair.old_left), ("new", new, pair.new_left)):
        found[f"left {side} weight"] = float(reading.weight[list(left)].sum())
        found[f"left {side} subject"] = sum(reading.subject[i] for i in left)
        found[f"left {side} rest"] = sum(not reading.subject[i] for i in left)
    return found


def _verb(reading: Reading) -> str:
    return reading.stems[reading.verb] if reading.verb < len(reading.tokens) else ""


def _share(reading: Reading, places: Sequence[int], of: Sequence[int]) -> float:
    """By weight, what share of the words `of` stands at `places`; 1 where there are none."""
    whole = float(reading.weight[list(of)].sum())
    return float(reading.weight[list(places)].sum()) / whole if whole else 1.0


def _soft_share(
    reading: Reading,
    places: Sequence[int],
    aligned: Mapping[int, int],
    cosines: NDArray[np.float32],
) -> float:
    """The mean likeness of the words to what is most like them on the other side, by weight."""
    whole = float(reading.weight[list(places)].sum())
    if not whole:
        return 1.0
    best = np.maximum(cosines.max(axis=1, initial=0.0), 0.0)
    liked = sum(
        float(reading.weight[place]) * (1.0 if place in aligned else float(best[place]))
        for place in places
    )
    return liked / whole


def _likeness(old: Reading, new: Reading, olds: Sequence[int], news: Sequence[int]) -> float:
    if not olds or not news:
        return 1.0 if not olds and not news else _NOTHING
    return cosine(old.mean(olds), new.mean(news))
