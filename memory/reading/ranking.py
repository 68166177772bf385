"""Questions and candidates: parses and embeds a question, and scores what was found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.forms import Form
from memory.domain.retrieval.fusion import NO_CONVERSATION, Candidates, Rarity, Relevance, fuse
from memory.domain.retrieval.question import Asked, Term, read_question
from memory.domain.scoring import (
    INSIGHT_FACTOR,
    SAME_CONVERSATION,
    Signals,
    SignalTable,
    Weights,
    final_scores,
    importance_signal,
    recency,
    relative_to_best,
    usage_signal,
    weighted_means,
)
from memory.domain.types import MemoryType, Status
from memory.selectors.search.signal_rows import CandidateRow, Pool, SignalRow, Sought
from memory.selectors.zones import zone_of
from memory.understanding.tools import Tools
from teams.errors import UnavailableError
from teams.prepared import Uuids
from teams.tracing import step

logger = logging.getLogger(__name__)

BY_WORDS_ALONE = "the embedding model gave no usable answer, so words alone decided what was found"
# The longest question that may be asked.
MAX_QUERY_CHARS = 8_000
# Of what each part adds to relevance, which people read.
_DECIMALS = 4
_INSIGHT = MemoryType.INSIGHT.value
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
    """A question taken apart, with its vector: all that the database is asked with.

    `prefetched` are the memories that were predicted before it came, with the chance of each, 0-1.
    """

    asked: Asked
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None
    in_view: tuple[int, ...] | None = None
    warnings: tuple[str, ...] = ()
    prefetched: Mapping[UUID, float] = field(default_factory=dict)

    @property
    def has_vector(self) -> bool:
        """Whether the embedder answered."""
        return bool(self.vector.any())

    @property
    def words(self) -> list[str]:
        """The terms that are searched for."""
        return [term.word for term in self.asked.terms]

    def sought(
        self,
        *,
        only: Uuids | None = None,
        with_cold: bool = False,
        least: int = 0,
        with_project: bool = False,
        also: Sequence[UUID] = (),
    ) -> Sought:
        """What the database is asked for it; the options are those of `Sought`."""
        return Sought(
            terms=self.words,
            vector=self.vector,
            embedding_model=self.embedding_model,
            conversation_id=self.conversation_id,
            only=only,
            with_cold=with_cold,
            least=least,
            with_project=with_project,
            also=also,
        )


class Ranked(NamedTuple):
    """A memory that is not loaded yet, with its score 0-1; there are hundreds a question.

    `rank` is what it is chosen by: the score that it would have without a dispute, which halves
    the score and hides no answer.
    """

    row: SignalRow
    score: float
    rank: float
    table: SignalTable
    place: int

    @property
    def signals(self) -> Signals:
        """The signals behind the score."""
        return self.table.at(self.place)


class Scores(NamedTuple):
    """The scores of candidates, and their ranks: the scores before a dispute halves them."""

    scores: NDArray[np.float64]
    ranks: NDArray[np.float64]


Score = Callable[[Sequence[CandidateRow], SignalTable], Scores]


@step("retrieve.question")
def read_with_vector(
    question: Question, *, team_id: UUID, tools: Tools, now: datetime
) -> ReadQuestion:
    """Take the question apart and embed it; call it in no transaction.

    The days of its times begin in the team's zone. Without an embedder the vector is nothing but
    zeros, so that words decide alone, and a warning says so.
    """
    asked = read_question(question.text, now=now)
    if asked.periods:
        now = now.astimezone(zone_of(team_id=team_id, now=now))
        if now.utcoffset():
            asked = read_question(question.text, now=now)
    warnings: tuple[str, ...] = ()
    try:
        vector = tools.embedder.embed([asked.meaning])[0]
    except UnavailableError:
        logger.warning("A question was answered by words alone: the embedder is away.")
        vector, warnings = np.zeros(1, dtype=np.float32), (BY_WORDS_ALONE,)
    where, in_view = question.conversation_id, question.in_view
    return ReadQuestion(asked, vector, tools.embedder.name, where, in_view, warnings)


def by_relevance(weights: Weights) -> Score:
    """The scores of a search: a pinned memory has no claim to every result."""

    def score(rows: Sequence[CandidateRow], table: SignalTable) -> Scores:
        scores = weighted_means(table, weights=weights) * _shares(rows)
        return Scores(scores, scores)

    return score


def by_policy(weights: Weights) -> Score:
    """The scores of a prompt: an agent's weights under the seed's policies.

    Relevance counts relative to the best candidate's. `signals.semantic` stays as it was found.
    """

    def score(rows: Sequence[CandidateRow], table: SignalTable) -> Scores:
        table = replace(table, semantic=relative_to_best(table.semantic))
        is_disputed = np.array([row.status == _DISPUTED for row in rows])
        scored = partial(
            final_scores,
            table,
            weights=weights,
            is_identity=np.array([row.memory_type == _IDENTITY for row in rows]),
            is_pinned=np.array([row.is_pinned for row in rows]),
        )
        scores = scored(is_disputed=is_disputed)
        ranks = scored(is_disputed=np.zeros_like(is_disputed)) if is_disputed.any() else scores
        shares = _shares(rows)
        return Scores(scores * shares, ranks * shares)

    return score


def _shares(rows: Sequence[CandidateRow]) -> NDArray[np.float64]:
    """What share of its score each keeps: an insight half, unless somebody pinned it."""
    return np.array(
        [
            INSIGHT_FACTOR if row.memory_type == _INSIGHT and not row.is_pinned else 1.0
            for row in rows
        ]
    )


@step("retrieve.score")
def score_pool(
    *, question: ReadQuestion, pool: Pool[CandidateRow], score: Score, now: datetime
) -> tuple[SignalTable, Scores]:
    """The signals and the scores of candidates that are compared with each other; never none."""
    table = _signals(question, pool, now)
    return table, score(pool.rows, table)


def ordered(rows: Sequence[SignalRow], table: SignalTable, found: Scores) -> list[Ranked]:
    """The memories, which are the first rows of the table, best first; equal ones by their ids."""
    scores, ranks = found.scores.tolist(), found.ranks.tolist()
    ranked = [
        Ranked(row, scores[place], ranks[place], table, place) for place, row in enumerate(rows)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.row.memory_id.int))


def chosen(ranked: Sequence[Ranked], *, keep: Callable[[Ranked], bool]) -> list[Ranked]:
    """The memories to keep, highest rank first; both sides of a dispute by the higher rank."""
    ranks = {each.row.memory_id: each.rank for each in ranked if keep(each)}
    raised = dict(ranks)
    for each in ranked:
        for other in each.row.contradicts or ():
            highest = max(ranks.get(each.row.memory_id, -1.0), ranks.get(other, -1.0))
            if highest >= 0:
                for key in (each.row.memory_id, other):
                    raised[key] = max(raised.get(key, 0.0), highest)
    found = [
        each._replace(rank=raised[each.row.memory_id])
        for each in ranked
        if each.row.memory_id in raised
    ]
    return sorted(found, key=lambda each: -each.rank)


def _signals(question: ReadQuestion, pool: Pool[CandidateRow], now: datetime) -> SignalTable:
    rows, relevance = pool.rows, relevance_of(question.asked, pool)
    here = question.conversation_id
    return SignalTable(
        semantic=relevance.score,
        recency=recency((now.timestamp() - floats([row.accessed for row in rows])) / 3600),
        importance=importance_signal(
            importance=floats([row.importance for row in rows]),
            is_pinned=np.array([row.is_pinned for row in rows]),
        ),
        continuity=SAME_CONVERSATION
        * floats([here is not None and row.conversation_id == here for row in rows]),
        relation=floats([row.relation or 0.0 for row in rows]),
        cosine=np.clip(np.nan_to_num(floats([row.cosine for row in rows])), 0.0, 1.0),
        lexical=relevance.words,
        usage=usage_signal(
            cited=floats([row.cited for row in rows]), ignored=floats([row.ignored for row in rows])
        ),
        prefetched=_prefetched(rows, question.prefetched),
        parts=relevance.shares.round(_DECIMALS),
    )


def _prefetched(rows: Sequence[CandidateRow], chances: Mapping[UUID, float]) -> NDArray[np.float64]:
    if not chances:
        return np.zeros(len(rows))
    return floats([chances.get(row.memory_id, 0.0) if row.memory_id else 0.0 for row in rows])


def relevance_of(asked: Asked, found: Pool[CandidateRow]) -> Relevance:
    """The relevance of every candidate of a pool."""
    rows = found.rows
    people = [row.people for row in rows]
    names = _names(asked.terms, people, without_lexeme=found.without_lexeme)
    naming = names.sum(axis=0)
    held = np.array([row.terms for row in rows], dtype=np.int64)
    matches = (held[:, None] >> np.arange(len(found.holding)) & 1).astype(bool)
    matching = np.array(found.holding, dtype=np.int64)
    # "Will" is no word to search for, but may be a name.
    kept = [
        each
        for each, bearers in enumerate(naming.tolist())
        if bearers or each not in found.without_lexeme
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
            # What tells a whole talk lends nothing to what happens to stand where that begins.
            conversation=_numbered(
                [None if row.form == Form.EPISODE else row.conversation_id for row in rows]
            ),
            position=np.array([row.position or 0 for row in rows]),
            said_at=floats([row.said for row in rows]),
            held_from=floats([row.held_from for row in rows]),
            held_until=floats([row.held_until for row in rows]),
            is_episode=np.array([row.form == Form.EPISODE for row in rows], dtype=bool),
            evidence=floats([row.evidence for row in rows]),
        ),
    )


def _names(
    terms: Sequence[Term], people: Sequence[str], *, without_lexeme: Collection[int]
) -> NDArray[np.bool_]:
    """Which terms are a name of the people of each candidate; few of those are different.

    A word that is too common to be searched for is one only where it is written as a name.
    """
    places: dict[str, int] = {}
    rows = [places.setdefault(each, len(places)) for each in people]
    called = np.zeros((len(places), len(terms)), dtype=bool)
    for number, term in enumerate(terms):
        if term.may_name and (term.is_written_name or number not in without_lexeme):
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
