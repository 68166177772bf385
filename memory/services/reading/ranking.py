"""From a question to ranked candidates: read it, embed it, fetch the signals, fuse and score."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.retrieval.fusion import Candidates, Rarity, Relevance, fuse
from memory.domain.retrieval.question import Asked, Term, read_question
from memory.domain.retrieval.sketch import Ids
from memory.domain.retrieval.surroundings import NO_CONVERSATION
from memory.domain.scoring import (
    SAME_CONVERSATION,
    Signals,
    SignalTable,
    Weights,
    final_scores,
    importance_signal,
    recency,
    weighted_means,
)
from memory.domain.types import MemoryType, Status
from memory.domain.viewer import Viewer
from memory.selectors.revisions import Revision
from memory.selectors.searching.candidates import CandidateRow, Pool
from memory.selectors.searching.signal_rows import Found, SignalRow, Sought
from memory.selectors.searching.signals import find_candidates
from teams.errors import UnavailableError

logger = logging.getLogger(__name__)

_IDENTITY, _DISPUTED = MemoryType.IDENTITY.value, Status.DISPUTED.value

# A search asks what is said about something: relevance decides, the rest breaks ties.
SEARCH_WEIGHTS = Weights(semantic=0.9, recency=0.02, importance=0.05, continuity=0.0, relation=0.03)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; `conversation_id` is where, for continuity.

    `in_view` are the positions of that conversation's messages that whoever asks has before them;
    None where nobody says.
    """

    text: str
    conversation_id: UUID | None = None
    in_view: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question taken apart, with its vector: all that the database is asked with."""

    asked: Asked
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None
    in_view: tuple[int, ...] | None = None

    @property
    def has_vector(self) -> bool:
        """Whether the embedder answered."""
        return bool(self.vector.any())


class Ranked(NamedTuple):
    """A candidate that is not loaded yet, with its score 0-1; there are hundreds a question."""

    row: SignalRow
    score: float
    table: SignalTable
    place: int

    @property
    def signals(self) -> Signals:
        """The signals behind the score."""
        return self.table.at(self.place)

    @property
    def is_mandatory(self) -> bool:
        """Whether every prompt of its audience holds it."""
        return self.row.is_pinned or self.row.memory_type == _IDENTITY


Score = Callable[[Sequence[CandidateRow], SignalTable], NDArray[np.float64]]


def read(question: Question, *, tools: Tools, now: datetime) -> ReadQuestion:
    """Take the question apart and embed it; call it in no transaction.

    Without an embedder the vector is nothing but zeros, so that words decide alone.
    """
    asked = read_question(question.text, now=now)
    try:
        vector = tools.embedder.embed([asked.meaning])[0]
    except UnavailableError:
        logger.warning("A question was answered by words alone: the embedder is away.")
        vector = np.zeros(1, dtype=np.float32)
    where, in_view = question.conversation_id, question.in_view
    return ReadQuestion(asked, vector, tools.embedder.name, where, in_view)


def by_relevance(rows: Sequence[CandidateRow], table: SignalTable) -> NDArray[np.float64]:
    """The scores of a search: a pinned memory has no claim to every result."""
    del rows
    return weighted_means(table, weights=SEARCH_WEIGHTS)


def by_policy(weights: Weights) -> Score:
    """The scores of a retrieval: an agent's weights under the seed's policies."""

    def score(rows: Sequence[CandidateRow], table: SignalTable) -> NDArray[np.float64]:
        return final_scores(
            table,
            weights=weights,
            is_identity=np.array([row.memory_type == _IDENTITY for row in rows]),
            is_pinned=np.array([row.is_pinned for row in rows]),
            is_disputed=np.array([row.status == _DISPUTED for row in rows]),
        )

    return score


def find(
    *,
    viewer: Viewer,
    question: ReadQuestion,
    only: Ids | None = None,
    with_cold: bool = False,
    revision: Revision | None = None,
) -> Found:
    """The candidates for a question, not ranked yet; call it in the team's scope.

    With `only`, among those memories alone; `with_cold` also among what is cold or past.
    `revision` is the team's in this transaction.
    """
    return find_candidates(
        viewer=viewer,
        sought=sought_by(question, only=only, with_cold=with_cold),
        revision=revision,
    )


def sought_by(
    question: ReadQuestion, *, only: Ids | None = None, with_cold: bool = False
) -> Sought:
    """What the database is asked for a question."""
    return Sought(
        terms=[term.word for term in question.asked.terms],
        vector=question.vector,
        embedding_model=question.embedding_model,
        conversation_id=question.conversation_id,
        only=only,
        with_cold=with_cold,
    )


def score_pool(
    *, question: ReadQuestion, pool: Pool, score: Score, now: datetime
) -> tuple[SignalTable, list[float]]:
    """The signals and the scores of candidates that are compared with each other; never none."""
    table = _signals(question, pool, now)
    return table, score(pool.rows, table).tolist()


def ordered(rows: Sequence[SignalRow], table: SignalTable, scores: Sequence[float]) -> list[Ranked]:
    """The memories, which are the first rows of the table, best first."""
    ranked = [
        Ranked(row, value, table, place)
        for place, (row, value) in enumerate(zip(rows, scores, strict=False))
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.row.memory_id))


def _signals(question: ReadQuestion, found: Pool, now: datetime) -> SignalTable:
    rows, relevance = found.rows, _relevance(question.asked, found)
    here = question.conversation_id
    return SignalTable(
        semantic=relevance.score,
        recency=recency((now.timestamp() - _floats([row.accessed for row in rows])) / 3600),
        importance=importance_signal(
            importance=_floats([row.importance for row in rows]),
            is_pinned=np.array([row.is_pinned for row in rows]),
        ),
        continuity=SAME_CONVERSATION
        * _floats([here is not None and row.conversation_id == here for row in rows]),
        relation=_floats([row.relation or 0.0 for row in rows]),
        cosine=np.clip(np.nan_to_num(_floats([row.cosine for row in rows])), 0.0, 1.0),
        lexical=relevance.words,
    )


def _relevance(asked: Asked, found: Pool) -> Relevance:
    rows = found.rows
    kept = [each for each in range(len(asked.terms)) if each not in found.without_lexeme]
    asked = replace(asked, terms=tuple(asked.terms[each] for each in kept))
    terms = asked.terms
    held = np.array([row.terms for row in rows], dtype=np.int64)
    matches = (held[:, None] >> np.arange(len(found.holding)) & 1).astype(bool)
    names = _names(terms, [row.people for row in rows])
    return fuse(
        asked=asked,
        rarity=Rarity(
            total=found.total,
            matching=np.array(found.holding, dtype=np.int64)[kept],
            naming=names.sum(axis=0),
        ),
        candidates=Candidates(
            matches=matches[:, kept],
            names=names,
            cosine=_floats([row.cosine for row in rows]),
            conversation=_numbered([row.conversation_id for row in rows]),
            position=np.array([row.position or 0 for row in rows]),
            said_at=_floats([row.said for row in rows]),
            held_from=_floats([row.held_from for row in rows]),
            held_until=_floats([row.held_until for row in rows]),
        ),
    )


def _names(terms: Sequence[Term], people: Sequence[str]) -> NDArray[np.bool_]:
    """Which terms are a name of the people of each candidate; few of those are different."""
    known = dict.fromkeys(people)
    places = {each: place for place, each in enumerate(known)}
    called = np.zeros((len(known), len(terms)), dtype=bool)
    for number, term in enumerate(terms):
        if term.may_name:
            called[:, number] = [_is_called(each, term) for each in known]
    found: NDArray[np.bool_] = called[[places[each] for each in people]]
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


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)
