"""The candidates that a sketch of a team proposes, with all their signals, by one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import Near, Places
from memory.domain.retrieval.sketch import Ids
from memory.domain.retrieval.word_places import Words
from memory.domain.viewer import Viewer
from memory.selectors.conditions import viewer_parameters
from memory.selectors.prepared import fetch_planned
from memory.selectors.searching.lexemes import words_of
from memory.selectors.searching.search_statement import LIMITS, most_of_a_term
from memory.selectors.searching.signal_rows import Found, SignalRow, Sought
from memory.selectors.searching.signal_statement import Shape
from memory.selectors.searching.sketched_statement import LEADING_COLUMNS, sketched_statement
from memory.selectors.searching.sketches import MOST_CHANGED, note_changed, sketch_of
from memory.selectors.searching.team_sketches import Part, TeamSketch
from teams.prepared import Bits, Uuids, uuids

# So many that a sketch takes for the nearest hold all of the ten nearest, and of the fifty nearest
# among 100,000 memories 99.9 %, among 300,000 99.8 %. Each more is looked up in three tables.
_NEAR_LIMIT = 80
# Where the columns of a candidate's row stand in what the statement answers.
_ID = LEADING_COLUMNS + SignalRow._fields.index("memory_id")
_TERMS = LEADING_COLUMNS + SignalRow._fields.index("terms")

_Row = tuple[Any, ...]  # Any: columns of each type


@dataclass(frozen=True, slots=True)
class _Proposed:
    """What a sketch proposes: places, the terms that each holds, and the most promising of them."""

    places: Places
    terms: NDArray[np.int64]
    core: Places
    promises: NDArray[np.float64]

    @classmethod
    def of(cls, part: Part, near: Near, words: Words) -> _Proposed:
        """What is near, what holds most of the words, and what every question is answered from."""
        hits = np.concatenate([near.places, words.best])
        hits, numbers = np.unique(hits, return_inverse=True)
        promises = np.zeros(len(hits))
        np.add.at(promises, numbers, np.concatenate([near.products, words.shares]))
        core = np.lexsort((hits, -promises))[: LIMITS["CORE_LIMIT"]]
        places = np.unique(np.concatenate([hits, part.standing]))
        return cls(places, words.held.at(places), hits[core], promises[core])


def find_sketched(*, viewer: Viewer, sought: Sought, total: int) -> Found | None:
    """The candidates among `total` memories that the viewer may see; call it in the team's scope.

    The sketch proposes, and all that was changed since is proposed as well. None where there is no
    sketch that holds, or where too many of the given memories are unknown to it.
    """
    known = sketch_of(team_id=viewer.team_id, embedding_model=sought.embedding_model)
    if known is None:
        return None
    unknown = known.sketch.ids[:0]
    if sought.only is not None:
        part, unknown = known.part_of(sought.only, of_user=viewer.end_user_id is not None)
    else:
        part = known.seen_by(viewer)
        if viewer.allowed_categories:
            total = len(part)
    if len(unknown) > MOST_CHANGED:
        return None
    lexemes = words_of(sought.terms)
    words = part.with_words(lexemes, most=most_of_a_term(total), limit=LIMITS["LEXICAL_LIMIT"])
    near = part.nearest(sought.vector, limit=max(_NEAR_LIMIT, sought.least))
    rows = _read(viewer, sought, known, _Proposed.of(part, near, words), words, unknown)
    if not rows:
        return None  # which leaves open how much was changed
    changed = rows[0][0]
    if len(unknown):
        holds = changed <= MOST_CHANGED
    else:
        holds = note_changed(team_id=viewer.team_id, made=known, count=changed)
    if not holds:
        return None
    found = _completed(rows, part, words, unknown, is_given=sought.only is not None)
    return Found(
        rows=found.rows,
        total=total,
        holding=tuple(
            total
            if number in words.frequent
            else seen + sum(terms >> number & 1 for terms in found.new)
            for number, seen in enumerate(words.counts)
        ),
        without_lexeme=frozenset(number for number, each in enumerate(lexemes) if not each),
    )


def _read(
    viewer: Viewer,
    sought: Sought,
    known: TeamSketch,
    proposed: _Proposed,
    words: Words,
    unknown: Ids,
) -> list[_Row]:
    """The rows of what is proposed, of what was changed and of what was asked for beside it."""
    ids = known.sketch.ids
    shape = Shape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
        # Given memories stand in any place.
        with_cold=sought.only is not None,
    )
    categories = ["", *viewer.allowed_categories] if viewer.allowed_categories else []
    return fetch_planned(
        sketched_statement(shape, has_categories=bool(categories)),
        {
            **viewer_parameters(viewer),
            "vector": sought.vector,
            "model": sought.embedding_model,
            "conversation": sought.conversation_id,
            "categories": categories,
            "terms": [
                "" if number in words.frequent else term for number, term in enumerate(sought.terms)
            ],
            "position": known.position,
            "most_changed": MOST_CHANGED + 1,
            "lacking": np.concatenate([known.lacking, unknown]).view(Uuids),
            "given_ids": ids[proposed.places].view(Uuids),
            "given_terms": proposed.terms.view(Bits),
            "core_ids": ids[proposed.core].view(Uuids),
            "core_promises": proposed.promises,
        },
    )


@dataclass(frozen=True, slots=True)
class _Completed:
    """Candidates, and the terms that those hold of which the sketch knows nothing."""

    rows: list[SignalRow]
    new: list[int]


def _completed(
    rows: Sequence[_Row], part: Part, words: Words, unknown: Ids, *, is_given: bool
) -> _Completed:
    """The rows with the terms that the sketch knows them to hold.

    The statement has looked for the words in what was changed alone. With `is_given`, what is in
    neither the part nor `unknown` is left out.
    """
    # All but what the sketch proposed itself.
    others = [number for number, each in enumerate(rows) if each[1] or each[_TERMS] is None]
    ids = uuids([rows[number][_ID] for number in others])
    places = part.sketch.places_of(ids)
    terms = words.held.at(places).tolist()
    is_in = (part.holds(places) | np.isin(ids, unknown)).tolist()
    found: list[SignalRow | None] = [SignalRow._make(each[LEADING_COLUMNS:]) for each in rows]
    new = []
    for number, place, held, is_one in zip(others, places.tolist(), terms, is_in, strict=True):
        row = found[number]
        if row is None or (is_given and not is_one):
            found[number] = None
        elif row.terms is None:
            found[number] = row._replace(terms=held)
        elif place < 0:
            new.append(row.terms)
    return _Completed([row for row in found if row is not None], new)
