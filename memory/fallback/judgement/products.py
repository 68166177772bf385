"""What parts two statements, weighed by how surely both speak of one thing."""

from __future__ import annotations

from typing import Final

from .pairing import Features

# Findings that may part two statements, each a sum of others.
SIGNS: Final[dict[str, tuple[str, ...]]] = {
    "other value": ("amounts: differing values",),
    "opposite": ("opposition: opposites apart", "opposition: prefix opposites"),
    "other kind": ("opposition: kinds apart",),
    "denial": (
        "opposition: denied on one side",
        "opposition: opposites same, denied on one side",
    ),
    "other name": ("slots: names in one slot in rests",),
    "other word": ("slots: words in one slot in rests",),
    "change": ("cues: new change told", "cues: new replacing", "cues: new from_now_on"),
    "correction": ("cues: new corrections",),
    "nothing": (),
}
# How surely they speak of one thing, and whether one of them narrows it.
GROUNDS: Final = (
    "overlap: cover subject old",
    "overlap: cover subject new",
    "overlap: cover rest old",
    "overlap: cover rest new",
    "overlap: soft cover old",
    "overlap: soft cover new",
    "overlap: same verb",
    "overlap: left in both subjects",
    "overlap: left in both rests",
    "amounts: equal value",
    "amounts: differing values in one frame",
    "cues: new conditional",
    "cues: new exclusive",
    "cues: old exclusive",
    "subjects: one path",
    "subjects: subject names differ",
    "overlap: left new subject",
    "overlap: left old subject",
    "amounts: differing values in subjects",
    "opposition: kinds apart in subjects",
)


def products(found: Features) -> Features:
    """Each sign times each ground, both at most 1."""
    grounds = {name: min(1.0, found.get(name, 0.0)) for name in GROUNDS}
    result: Features = {}
    present = 0.0
    for sign, names in SIGNS.items():
        size = min(1.0, sum(found.get(name, 0.0) for name in names))
        present = max(present, size)
        if sign == "nothing":
            size = 1.0 - present
        result |= {f"{sign} x {name}": size * ground for name, ground in grounds.items()}
    return result
