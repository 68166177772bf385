"""Whom and what two statements are about: names, the speaker and subject paths."""

from __future__ import annotations

from ..lexicon import word_set
from .pairing import Features, Pair
from .reading import SPEAKER, Reading
from .values import Kind


def subjects(pair: Pair) -> Features:
    """Counts of shared and differing names, and how the subject paths stand to each other."""
    old, new = pair.old, pair.new
    old_names, new_names = _named(old), _named(new)
    old_heads, new_heads = _named(old, in_subject=True), _named(new, in_subject=True)
    one, other = pair.old_path, pair.new_path
    both = bool(one and other)
    return {
        "names shared": len(old_names & new_names),
        "names left old": len(old_names - new_names),
        "names left new": len(new_names - old_names),
        "names left on both": float(bool(old_names - new_names and new_names - old_names)),
        "subject names shared": len(old_heads & new_heads),
        "subject names differ": float(names_differ(pair)),
        "names change sides": len(old_heads & (new_names - new_heads)),
        "speaker in both": float(SPEAKER in old.stems and SPEAKER in new.stems),
        "speaker in one": float((SPEAKER in old.stems) != (SPEAKER in new.stems)),
        "paths": float(both),
        "one path": float(both and one == other),
        "other paths": float(both and one != other),
        "sibling paths": float(both and one != other and _parent(one) == _parent(other)),
        "general path": float(both and one == other and _last(one) in word_set("general_subjects")),
        "days": min(400.0, pair.days),
    }


def names_differ(pair: Pair) -> bool:
    """Whether both statements open with names and neither says the other's."""
    one, other = _named(pair.old, in_subject=True), _named(pair.new, in_subject=True)
    if not one or not other:
        return False
    return one.isdisjoint(_named(pair.new)) and other.isdisjoint(_named(pair.old))


def _named(reading: Reading, *, in_subject: bool = False) -> frozenset[str]:
    return frozenset(
        stem
        for place, stem in enumerate(reading.stems)
        if reading.names[place] and (reading.subject[place] or not in_subject)
    )


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def strangers(pair: Pair) -> str:
    """The names that tell two different subjects apart ("Karim / Leonie"), or ""."""
    numbered = _numbered_apart(pair)
    if numbered:
        return numbered
    if not names_differ(pair):
        return ""
    return " / ".join(sorted(_named(r, in_subject=True))[0] for r in (pair.old, pair.new))


def _numbered_apart(pair: Pair) -> str:
    """The numbers of two things of one name in the subjects ("Room 204 / Room 310"), or ""."""
    named = [
        {v.head: v for v in r.values if v.kind is Kind.IDENTIFIER and r.subject[v.start]}
        for r in (pair.old, pair.new)
    ]
    for head in named[0].keys() & named[1].keys():
        one, other = named[0][head], named[1][head]
        if head and one.size != other.size:
            return f"{head} {one.size:g} / {other.size:g}"
    return ""
