"""From what the database says of candidates to how relevant they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.fusion import Candidates, Rarity, Relevance, fuse
from memory.domain.retrieval.question import Asked, Term
from memory.domain.retrieval.surroundings import NO_CONVERSATION
from memory.selectors.search.signal_rows import CandidateRow, Pool


def relevance_of(asked: Asked, found: Pool[CandidateRow]) -> Relevance:
    """The relevance of every candidate of a pool."""
    rows = found.rows
    people = [row.people for row in rows]
    names = _names(asked.terms, people)
    naming = names.sum(axis=0)
    held = np.array([row.terms for row in rows], dtype=np.int64)
    matches = (held[:, None] >> np.arange(len(found.holding)) & 1).astype(bool)
    matching = np.array(found.holding, dtype=np.int64)
    # "Will" is no word to search for, but may be a name.
    kept = [
        each
        for each, (term, bearers) in enumerate(zip(asked.terms, naming.tolist(), strict=True))
        if bearers or not (term.only_name or each in found.without_lexeme)
    ]
    if len(kept) < len(asked.terms):
        asked = replace(asked, terms=tuple(asked.terms[each] for each in kept))
        names, naming = names[:, kept], naming[kept]
        matches, matching = matches[:, kept], matching[kept]
    if "" in people and naming.any():
        # What is nobody's is about the people that it names.
        of_nobody = np.array([not each for each in people])
        names = names | (of_nobody[:, None] & matches & (naming > 0))
    return fuse(
        asked=asked,
        rarity=Rarity(
            total=found.total,
            matching=matching,
            naming=naming,
        ),
        candidates=Candidates(
            matches=matches,
            names=names,
            cosine=floats([row.cosine for row in rows]),
            conversation=_numbered([row.conversation_id for row in rows]),
            position=np.array([row.position or 0 for row in rows]),
            said_at=floats([row.said for row in rows]),
            held_from=floats([row.held_from for row in rows]),
            held_until=floats([row.held_until for row in rows]),
        ),
    )


def _names(terms: Sequence[Term], people: Sequence[str]) -> NDArray[np.bool_]:
    """Which terms are a name of the people of each candidate; few of those are different."""
    places: dict[str, int] = {}
    rows = [places.setdefault(each, len(places)) for each in people]
    called = np.zeros((len(places), len(terms)), dtype=bool)
    for number, term in enumerate(terms):
        if term.may_name:
            called[:, number] = [_is_called(each, term) for each in places]
    found: NDArray[np.bool_] = called[rows]
    return found


def _numbered(conversations: Sequence[UUID | None]) -> NDArray[np.int64]:
    """The same number for the same conversation; an id itself takes longer to be looked up."""
    numbers: dict[int, int] = {}
    return np.array(
        [
            NO_CONVERSATION if each is None else numbers.setdefault(each.int, len(numbers))
            for each in conversations
        ],
        dtype=np.int64,
    )


def _is_called(people: str, term: Term) -> bool:
    # Most are not, which the whole text tells at once.
    return term.word in people and any(
        name == term.word or (term.may_shorten and name.startswith(term.word))
        for name in people.split()
    )


def floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    """A column; None is NaN."""
    return np.array(values, dtype=np.float64)
