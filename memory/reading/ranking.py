"""Scores of candidates: their signals, the weights and policies, and their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.forms import Form
from memory.domain.judgements import is_same_matter, shared_words, usual_words
from memory.domain.retrieval.fusion import NO_CONVERSATION, Candidates, Rarity, Relevance, fuse
from memory.domain.retrieval.question import Asked, Term
from memory.domain.scoring import (
    INSIGHT_FACTOR,
    LEAST_BEST,
    SAME_CONVERSATION,
    UNCONFIRMED_FACTOR,
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
from memory.reading.questions import Read
from memory.selectors.search.signal_rows import CandidateRow, Pool, SignalRow
from teams.tracing import step

# Of what each part adds to relevance, which people read.
_DECIMALS = 4
_INSIGHT = MemoryType.INSIGHT.value
_IDENTITY, _DISPUTED = MemoryType.IDENTITY.value, Status.DISPUTED.value

# A search asks what is said about something: relevance decides, the rest breaks ties.
SEARCH_WEIGHTS = Weights(semantic=0.9, recency=0.02, importance=0.05, continuity=0.0, relation=0.03)


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


def by_relevance(weights: Weights) -> Score:
    """Returns the scoring of a search, in which pinned memories have no privilege."""

    def score(rows: Sequence[CandidateRow], table: SignalTable) -> Scores:
        scores = weighted_means(table, weights=weights) * _shares(rows)
        return _confirmed_first(Scores(scores, scores), table, _are_confirmed(rows))

    return score


def by_policy(weights: Weights) -> Score:
    """Returns the scoring of a prompt: an agent's weights under the seed's policies.

    Relevance counts relative to the best candidate's. `signals.semantic` stays as it was found.
    """

    def score(rows: Sequence[CandidateRow], table: SignalTable) -> Scores:
        is_confirmed = _are_confirmed(rows)
        relative = relative_to_best(table.semantic, is_confirmed=is_confirmed)
        relevance, table = table, replace(table, semantic=relative)
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
        return _confirmed_first(Scores(scores * shares, ranks * shares), relevance, is_confirmed)

    return score


def _shares(rows: Sequence[CandidateRow]) -> NDArray[np.float64]:
    """The share of its score that each keeps: an insight half, unless it is pinned."""
    return np.array(
        [
            INSIGHT_FACTOR if row.memory_type == _INSIGHT and not row.is_pinned else 1.0
            for row in rows
        ]
    )


def _are_confirmed(rows: Sequence[CandidateRow]) -> NDArray[np.bool_]:
    return np.array([not row.is_unconfirmed for row in rows], dtype=bool)


def _confirmed_first(found: Scores, table: SignalTable, is_confirmed: NDArray[np.bool_]) -> Scores:
    """The scores, halved for what is unconfirmed, and below the best confirmed answer."""
    is_answer = is_confirmed & (table.semantic >= LEAST_BEST)
    if is_confirmed.all():
        return found

    def lowered(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        most = BEHIND * scores[is_answer].max() if is_answer.any() else 1.0
        return np.where(is_confirmed, scores, np.minimum(scores * UNCONFIRMED_FACTOR, most))

    return Scores(lowered(found.scores), lowered(found.ranks))


def ordered(rows: Sequence[SignalRow], table: SignalTable, found: Scores) -> list[Ranked]:
    """Returns the memories, which are the first rows of the table, best first, then by id."""
    scores, ranks = found.scores.tolist(), found.ranks.tolist()
    ranked = [
        Ranked(row, scores[place], ranks[place], table, place) for place, row in enumerate(rows)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.row.memory_id.int))


def chosen(ranked: Sequence[Ranked], *, keep: Callable[[Ranked], bool]) -> list[Ranked]:
    """Returns the memories to keep, highest rank first; both sides of a dispute rank equally."""
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


@step("retrieve.score")
def signals_of(*, read: Read, asked: Asked, pool: Pool[CandidateRow]) -> SignalTable:
    """Returns the signals of candidates that are compared with each other, at least one."""
    rows, relevance = pool.rows, _relevance(asked, pool)
    here = read.question.conversation_id
    return SignalTable(
        semantic=relevance.score,
        recency=recency((read.now.timestamp() - _floats([row.accessed for row in rows])) / 3600),
        importance=importance_signal(
            importance=_floats([row.importance for row in rows]),
            is_pinned=np.array([row.is_pinned for row in rows]),
        ),
        continuity=SAME_CONVERSATION
        * _floats([here is not None and row.conversation_id == here for row in rows]),
        relation=_floats([row.relation or 0.0 for row in rows]),
        cosine=np.clip(np.nan_to_num(_floats([row.cosine for row in rows])), 0.0, 1.0),
        lexical=relevance.words,
        usage=usage_signal(
            cited=_floats([row.cited for row in rows]),
            ignored=_floats([row.ignored for row in rows]),
        ),
        prefetched=_floats(
            [read.predicted.get(row.memory_id, 0.0) if row.memory_id else 0.0 for row in rows]
        ),
        parts=relevance.shares.round(_DECIMALS),
    )


def _relevance(asked: Asked, found: Pool[CandidateRow]) -> Relevance:
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
        rarity=Rarity(total=found.total, matching=matching, naming=naming),
        candidates=Candidates(
            matches=matches,
            names=names,
            cosine=_floats([row.cosine for row in rows]),
            # What tells a whole talk lends nothing to what happens to stand where that begins.
            conversation=_numbered(
                [None if row.form == Form.EPISODE else row.conversation_id for row in rows]
            ),
            position=np.array([row.position or 0 for row in rows]),
            said_at=_floats([row.said for row in rows]),
            held_from=_floats([row.held_from for row in rows]),
            held_until=_floats([row.held_until for row in rows]),
            is_episode=np.array([row.form == Form.EPISODE for row in rows], dtype=bool),
            evidence=_floats([row.evidence for row in rows]),
        ),
    )


def _names(
    terms: Sequence[Term], people: Sequence[str], *, without_lexeme: Collection[int]
) -> NDArray[np.bool_]:
    """Returns the terms that name the people of each candidate; few of those are different.

    A word that is too common to be searched for is one only if it is written as a name.
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
    """Equal numbers for equal conversations; an id itself takes longer to be looked up."""
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


# Of the best candidates so many are compared with each other.
_COMPARED = 20
# Of labelled conflicts two thirds share so much of their words; with .3 other statements of talk
# share as much, which costs LoCoMo one point of R@5.
_ONE_MATTER = 0.4
# A later statement of less than this share of the earlier one's rank is about something else.
CLOSE = 0.8
# Of the score of what took its place, what is past has at most this share.
BEHIND = 0.99


def updates_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Returns the candidates, best first, no statement behind an earlier one on its matter.

    The later one gets the score and the rank of the earlier, so that nothing is pushed away.
    """
    best = [*ranked[:_COMPARED]]
    usual = usual_words([each.row.content for each in best])
    for place, earlier in enumerate(best):
        for other in range(place + 1, len(best)):
            later = best[other]
            is_close = later.rank >= CLOSE * earlier.rank
            if (
                is_close
                and later.row.said > earlier.row.said
                and _may_update(later, earlier, usual)
            ):
                best[other] = later._replace(
                    score=max(later.score, earlier.score), rank=max(later.rank, earlier.rank)
                )
    best.sort(key=lambda each: (-each.score, -each.row.said))
    return [*best, *ranked[_COMPARED:]]


def _may_update(later: Ranked, earlier: Ranked, usual: Collection[str]) -> bool:
    new, old = later.row, earlier.row
    if not new.status == old.status == Status.ACTIVE:
        # A dispute has halved the score; raising it would undo that.
        return False
    if old.is_pinned or old.memory_type == MemoryType.IDENTITY:
        return False
    if new.is_unconfirmed and not old.is_unconfirmed:
        return False
    if (new.end_user_id, new.project_id) != (old.end_user_id, old.project_id):
        return False
    return (
        is_same_matter(old.subject, new.subject)
        or shared_words(old.content, new.content, usual=usual) >= _ONE_MATTER
    )
