"""Environments, plans, seasons and the like: what holds in one says nothing of another."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.lexicon import VALUE_ROWS, Mark
from ..reading.tokens import stem
from .compare import Comparison
from .subjects import excludes


def other_scope(e: Reading, n: Reading, c: Comparison) -> str:
    """Why the two hold in different environments, plans, seasons or the like, or "" (none)."""
    if excludes(e) or excludes(n):
        # "Only staff may", "guests may as well".
        return ""
    for a, b in c.contrasts:
        if _in_long_name(e, a) or _in_long_name(n, b):
            continue
        if e.start <= a.start < e.head and n.start <= b.start < n.head:
            return f"different scopes: {_span(e, a)} / {_span(n, b)}"
        shared = {row for row, _ in a.ids} & {row for row, _ in b.ids}
        if shared <= VALUE_ROWS:
            continue
        if _is_post(e, a) and _is_post(n, b):
            continue
        opening = b.start < n.start
        aside = _is_adjunct(e, a) and not _is_target(n, b)
        if (opening or aside) and _differs_besides(c, a, b):
            return f"different scopes: {_span(e, a)} / {_span(n, b)}"
    return ""


_POSTED = frozenset(stem(v) for v in ("work", "employ", "serve", "join", "place", "post"))


def _is_post(reading: Reading, mark: Mark) -> bool:
    """ "Works in sales": where somebody works is what is said, and no scope of it."""
    before = reading.tokens[max(0, mark.start - 4) : mark.start]
    return any(token.stem in _POSTED for token in before)


def _is_adjunct(reading: Reading, mark: Mark) -> bool:
    before = {token.lower for token in reading.tokens[max(0, mark.start - 2) : mark.start]}
    return bool(before & {"in", "on", "at", "for", "during", "with", "by"})


def _in_long_name(reading: Reading, mark: Mark) -> bool:
    """Whether the words are part of a longer name ("Central European Time")."""
    return any(
        name.start <= mark.start < name.end and name.end - name.start > 1 for name in reading.names
    )


def _is_target(reading: Reading, mark: Mark) -> bool:
    """Whether a change leads to or from the marked words, so that they are its value."""
    before = {token.lower for token in reading.tokens[max(0, mark.start - 3) : mark.start]}
    return bool(before & {"to", "into", "from", "with", "by", "instead", "for", "now"})


def _differs_besides(c: Comparison, a: Mark, b: Mark) -> bool:
    """Whether the two part in more than the contrasted words themselves."""
    if c.other_values or c.polarity:
        return True
    rest_e = [w for w in c.left_existing if not a.start <= w.position < a.end]
    rest_n = [w for w in c.left_new if not b.start <= w.position < b.end]
    return bool(rest_e and rest_n)


def _span(reading: Reading, mark: Mark) -> str:
    return " ".join(token.text for token in reading.tokens[mark.start : mark.end])
