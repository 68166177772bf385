"""The words that PostgreSQL's index knows a term by."""

from __future__ import annotations

from collections.abc import Sequence

from teams.prepared import run_prepared

_LEXEMES = """
SELECT term, tsvector_to_array(to_tsvector('english', term)) FROM unnest($1::text[]) AS t (term)
"""
_MOST_KNOWN = 20_000
_known: dict[str, tuple[str, ...]] = {}


def words_of(terms: Sequence[str]) -> list[tuple[str, ...]]:
    """The words that each term becomes in the index; none for a term that is no word."""
    found: dict[str, tuple[str, ...] | None] = {term: _known.get(term) for term in terms}
    unknown = [term for term, words in found.items() if words is None]
    if unknown:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        for term, words in run_prepared(_LEXEMES, [unknown]):
            found[term] = _known[term] = tuple(words)
    return [found[term] or () for term in terms]
