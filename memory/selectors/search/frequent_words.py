"""Words that too many memories of an owner hold to tell one from another.

To find that out takes as long as the rest of a search, so a process remembers it for a while.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from memory.selectors.ttl_cache import SharedTTLCache

_frequent = SharedTTLCache()


def worth_looking_up(*, owner: Hashable, terms: Sequence[str]) -> list[str]:
    """The terms, empty in the place of those that are known as frequent; all if nothing is left."""
    known: frozenset[str] = _frequent.get(owner) or frozenset()
    left = ["" if term in known else term for term in terms]
    return left if any(left) else list(terms)


def remember_frequent(*, owner: Hashable, terms: Iterable[str]) -> None:
    """Know these terms as frequent, beside those known already; empty ones are none."""
    known: frozenset[str] = _frequent.get(owner) or frozenset()
    more = frozenset(terms) - known - {""}
    if more:
        _frequent.put(owner, known | more)


def forget_frequent() -> None:
    """Look at the database again for every owner."""
    _frequent.clear()
