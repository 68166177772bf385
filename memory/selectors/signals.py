"""The five signals of seed 000 for what a viewer may see, in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.domain.viewer import Viewer
from memory.models.memory import LIVE
from memory.selectors.conditions import viewer_parameters
from memory.selectors.frequent_words import remember_frequent, worth_looking_up
from memory.selectors.known import Known
from memory.selectors.known_rows import Version
from memory.selectors.lexemes import words_of
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision
from memory.selectors.search_statement import (
    FREQUENT_FROM,
    LIMITS,
    QUESTION_COLUMNS,
    Holding,
    most_of_a_term,
)
from memory.selectors.signal_statement import (
    GIVEN,
    NOWHERE,
    OWNERS,
    SEMANTIC_LIMIT,
    SKETCHED,
    Shape,
    signal_statement,
)
from memory.selectors.sketches import MOST_CHANGED, sketch_of, sketched_total
from memory.selectors.team_sketches import TeamSketch
from memory.selectors.vectors import VectorSearch, know_total, known_total
from teams.prepared import Uuids

_NOBODY = "nobody"
# So many that a sketch takes for the nearest hold nearly all of the hundred nearest: 98 % of them
# among 126,000 memories, and all of the first fifty.
SKETCHED_LIMIT = 120
_cold = Known()


class SignalRow(NamedTuple):
    """What the database found of one candidate: what scores it, and what a prompt shows of it.

    `cosine` is None without a vector, `terms` has a bit for each of the question's terms that it
    holds, `people` are words with spaces between, `position` is that of its first source message in
    its conversation. `accessed`, `said`, `held_from` and `held_until` are seconds of the epoch.
    The last four are `version`. A tuple, as there are hundreds for each question.
    """

    memory_id: UUID
    memory_type: str
    status: str
    importance: int
    is_pinned: bool
    accessed: float
    conversation_id: UUID | None
    position: int | None
    said: float
    held_from: float | None
    held_until: float | None
    people: str
    terms: int
    cosine: float | None
    relation: float | None
    end_user_id: UUID | None
    project_id: UUID | None
    content: str
    subject: str
    category: str
    scope: str
    tags: list[str] | None
    contradicts: list[UUID] | None
    confidence: float
    succeeded: int
    failed: int
    memory_xmin: bytes
    memory_ctid: bytes
    usage_xmin: bytes | None
    usage_ctid: bytes | None

    @property
    def version(self) -> Version:
        """Which versions of the memory's row and of its usage's were read, as PostgreSQL tells."""
        return self[-4:]

    @property
    def created_at(self) -> datetime:
        """When it was said, in UTC."""
        return datetime.fromtimestamp(self.said, UTC)

    @property
    def at(self) -> datetime:
        """When it happened, or else was said, in UTC."""
        return datetime.fromtimestamp(self.held_from or self.said, UTC)

    @property
    def is_live(self) -> bool:
        """Whether readers see it by default."""
        return self.status in LIVE


# Where the terms stand in what the statement answers.
_TERMS = QUESTION_COLUMNS + SignalRow._fields.index("terms")


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a question, and how rare its terms are among `total` memories.

    `holding` says of each term how many memories hold it; a term that too many hold counts as
    held by all and is in no candidate's `terms`. `without_lexeme` are the numbers of terms that
    the database knows for too common to be a word to search for.
    """

    rows: list[SignalRow]
    total: int
    holding: tuple[int, ...]
    without_lexeme: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Sought:
    """What candidates are looked for.

    `vector` is a unit vector, or zeros where words alone decide. `only` narrows the search to
    those memories, in whatever tier; `with_cold` adds what is cold or past.
    """

    terms: Sequence[str]
    vector: NDArray[np.float32]
    embedding_model: str
    conversation_id: UUID | None = None
    only: Sequence[UUID] | None = None
    with_cold: bool = False


def find_candidates(*, viewer: Viewer, sought: Sought, revision: Revision | None = None) -> Found:
    """The candidates among what the viewer may see, with all their signals; call it in scope.

    Each signal proposes its best; every signal is then read for every proposed memory, so the
    outcome does not depend on which signal found it. `revision` is the team's in this transaction,
    None in one that has written.
    """
    shape = _shape(viewer, is_narrowed=sought.only is not None, with_cold=sought.with_cold)
    search = VectorSearch(
        team_id=viewer.team_id,
        condition=shape.condition,
        parameters=viewer_parameters(viewer)
        | ({} if sought.only is None else {"only": list(sought.only)}),
        vector=sought.vector,
        embedding_model=sought.embedding_model,
        limit=SEMANTIC_LIMIT,
        is_exact=sought.only is not None,
        owners=OWNERS if shape.of_user else ("TRUE",),
    )
    has_vector = bool(sought.vector.any())
    total = len(sought.only) if sought.only is not None else _total(search, viewer, sought)
    most = most_of_a_term(total)
    parameters = {
        **search.all_parameters(),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if has_vector else None,
        "owners": [""] if viewer.end_user_id is None else [str(viewer.end_user_id), _NOBODY],
        "with_cold": sought.with_cold or sought.only is not None,
        "most": most,
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "total": total,
        "conversation": sought.conversation_id,
    }
    if (
        total > settings.SKETCH_FROM
        and revision is not None
        and (sought.only is not None or not sought.with_cold)
        and has_vector
        # What an agent may not read must not take the place of what is pinned or important.
        and not viewer.allowed_categories
    ):
        sketched = sketch_of(team_id=viewer.team_id, embedding_model=sought.embedding_model)
        found = sketched and _sketched(viewer, sought, parameters, *sketched)
        if found:
            return found
    if not has_vector:
        near = NOWHERE
    elif search.graph() is None:
        near = search.statement()
    else:
        # A plan for every team would miss the approximate index, so that is asked by itself.
        nearest, near = search.fetch(), GIVEN
        parameters["near_ids"] = [pk for pk, _ in nearest]
        parameters["near_cosines"] = [cosine for _, cosine in nearest]
    statement = signal_statement(shape, near)
    terms = list(sought.terms)
    if sought.only is None:
        terms = worth_looking_up(owner=search.owner, terms=terms)
    while True:
        # Planning the statement takes longer than running it: it is prepared and planned once,
        # except where a plan for every list of memories would search a long one row by row.
        given = {**parameters, "terms": terms}
        rows = fetch_planned(statement, given, once=sought.only is None)
        holding = Holding.of(rows, terms=terms, total=total, most=most)
        if all(terms) or not holding.only_frequent:
            break
        # Where frequent terms are all there is, all of them count.
        terms = list(sought.terms)
    if sought.only is None and total > FREQUENT_FROM:
        frequent = (terms[number] for number in holding.frequent)
        remember_frequent(owner=search.owner, terms=frequent)
    return Found(
        rows=[SignalRow._make(each[QUESTION_COLUMNS:]) for each in rows],
        total=total,
        holding=holding.counts,
        without_lexeme=holding.without_lexeme,
    )


def _total(search: VectorSearch, viewer: Viewer, sought: Sought) -> int:
    """`VectorSearch.total`, by a sketch where it tells: of a large owner that takes long."""
    if known_total(search.owner) is None and not sought.with_cold:
        seen = sketched_total(viewer=viewer, embedding_model=sought.embedding_model)
        # A small one may have grown since, and then a sketch of it is to be made.
        if seen is not None and seen > settings.SKETCH_FROM:
            know_total(search.owner, seen)
    return search.total()


def _sketched(
    viewer: Viewer,
    sought: Sought,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    known: TeamSketch,
    changed: list[UUID],
) -> Found | None:
    """The candidates that a sketch of the team proposes, and all that was changed since.

    None where too many of the given memories are unknown to it.
    """
    if sought.only is None:
        part = known.seen_by(viewer)
    else:
        part, unknown = known.part_of(sought.only)
        given = set(sought.only)
        changed = list({*unknown, *(each for each in changed if each in given)})
        if len(changed) > MOST_CHANGED:
            return None
    near = part.nearest(sought.vector, limit=SKETCHED_LIMIT)
    lexemes = words_of(sought.terms)
    words = part.with_words(lexemes, most=parameters["most"], limit=LIMITS["LEXICAL_LIMIT"])
    counted = [number for number in range(len(lexemes)) if number not in words.frequent]
    rows = fetch_planned(
        # Given memories stand in any place; those that are not given are left out here.
        signal_statement(_shape(viewer, with_cold=sought.only is not None), SKETCHED),
        {
            **parameters,
            "terms": list(sought.terms),
            "changed": changed,
            "near_ids": near.view(Uuids),
            "worded_ids": known.sketch.ids[words.best].view(Uuids),
            "worded_shares": words.shares,
            "known_terms": [number + 1 for number in counted],
            "known_counts": [words.counts[number] for number in counted],
        },
    )
    # The statement has looked for the words in what was changed alone.
    is_changed = set(changed)
    ids = [each[QUESTION_COLUMNS] for each in rows]
    places = known.sketch.places_of(np.array([pk.bytes for pk in ids], dtype="S16"))
    held = words.held.at(places).tolist()
    new = [each[_TERMS] for each, place in zip(rows, places.tolist(), strict=True) if place < 0]
    is_given = [True] * len(rows) if sought.only is None else part.holds(places).tolist()
    total = int(parameters["total"])
    return Found(
        rows=[
            _sketched_row(each, bits=0 if pk in is_changed else bits)
            for each, pk, bits, is_one in zip(rows, ids, held, is_given, strict=True)
            if is_one or pk in is_changed
        ],
        total=total,
        holding=tuple(
            total if number in words.frequent else seen + sum(terms >> number & 1 for terms in new)
            for number, seen in enumerate(words.counts)
        ),
        without_lexeme=frozenset(number for number, each in enumerate(lexemes) if not each),
    )


def _sketched_row(columns: tuple[Any, ...], *, bits: int) -> SignalRow:  # Any: of any type
    """The row with the terms that the sketch knows it to hold, if any."""
    if not bits:
        return SignalRow._make(columns[QUESTION_COLUMNS:])
    return SignalRow._make((*columns[QUESTION_COLUMNS:_TERMS], bits, *columns[_TERMS + 1 :]))


def has_cold(*, viewer: Viewer, revision: Revision | None = None) -> bool:
    """Whether the viewer may see a memory that is live, but cold; call it in scope.

    `revision` is the team's in this transaction: while it stands a process remembers the answer.
    """
    owner = (viewer.team_id, viewer.agent_id, viewer.end_user_id, viewer.project_id)
    known = _cold.get(owner)
    if revision is not None and known is not None and known[0] == revision.memories:
        return bool(known[1])
    ((found,),) = fetch_planned(_shape(viewer).has_cold(), viewer_parameters(viewer))
    if revision is not None:
        _cold.put(owner, (revision.memories, found))
    return bool(found)


def _shape(viewer: Viewer, *, is_narrowed: bool = False, with_cold: bool = False) -> Shape:
    return Shape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
        is_narrowed=is_narrowed,
        with_cold=with_cold,
    )
