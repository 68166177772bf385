"""Opposite poles, things of different kinds and denials between two statements."""

from __future__ import annotations

from .pairing import Features, Pair
from .reading import Reading

_PREFIXES = ("un", "in", "im", "ir", "dis", "non")


def opposition(pair: Pair) -> Features:
    """Counts of opposite poles and other kinds by place, and of words denied on one side only."""
    old, new = pair.old, pair.new
    found = _poles(pair, "opposites") | _poles(pair, "kinds")
    aligned = pair.old_to_new.items()
    found["denied on one side"] = sum(old.denied[i] != new.denied[j] for i, j in aligned)
    found["denied on both"] = sum(old.denied[i] and new.denied[j] for i, j in aligned)
    found["prefix opposites"] = sum(
        _are_prefixed(old.tokens[i].lower, new.tokens[j].lower)
        for i in pair.old_left
        for j in pair.new_left
    )
    return found


def _poles(pair: Pair, table: str) -> Features:
    """How the rows of a table that both statements touch are met."""
    found: Features = {}
    old_rows, new_rows = _rows(pair.old, table), _rows(pair.new, table)
    for row in old_rows.keys() & new_rows.keys():
        olds, news = old_rows[row], new_rows[row]
        poles = set(olds) | set(news)
        if set(olds) & set(news):
            name = f"{table} same" if len(poles) == 1 else f"{table} mixed"
            found[name] = found.get(name, 0.0) + 1
            shared = next(iter(set(olds) & set(news)))
            if pair.old.denied[olds[shared]] != pair.new.denied[news[shared]]:
                name = f"{table} same, denied on one side"
                found[name] = found.get(name, 0.0) + 1
            continue
        i, j = next(iter(olds.values())), next(iter(news.values()))
        denied = pair.old.denied[i] != pair.new.denied[j]
        subjects = pair.old.subject[i] + pair.new.subject[j]
        where = ("in rests", "across", "in subjects")[subjects]
        met = i in pair.old_to_new and j in pair.new_to_old
        for name in (
            f"{table} apart" + (", denied" if denied else ""),
            f"{table} apart {where}",
            f"{table} apart, aligned" if met else "",
        ):
            if name:
                found[name] = found.get(name, 0.0) + 1
    return found


def _rows(reading: Reading, table: str) -> dict[int, dict[int, int]]:
    """The first place of each pole met, by row."""
    found: dict[int, dict[int, int]] = {}
    for mark in reading.marks.get(table, ()):
        found.setdefault(mark.row, {}).setdefault(mark.pole, mark.start)
    return found


def _are_prefixed(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return any(long == prefix + short for prefix in _PREFIXES)
