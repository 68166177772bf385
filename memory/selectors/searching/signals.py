"""The five signals of seed 000 for what a viewer may see, in one statement."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.conditions import viewer_parameters
from memory.selectors.known import Known
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision
from memory.selectors.searching.frequent_words import remember_frequent, worth_looking_up
from memory.selectors.searching.narrowing import narrowed
from memory.selectors.searching.search_statement import (
    FREQUENT_FROM,
    QUESTION_COLUMNS,
    Holding,
    most_of_a_term,
)
from memory.selectors.searching.signal_rows import Found, SignalRow, Sought
from memory.selectors.searching.signal_statement import (
    GIVEN,
    NOWHERE,
    OWNERS,
    SEMANTIC_LIMIT,
    Shape,
    signal_statement,
)
from memory.selectors.searching.sketched_signals import find_sketched
from memory.selectors.searching.sketches import sketched_total
from memory.selectors.searching.small_owners import find_among_few
from memory.selectors.searching.vectors import VectorSearch, know_total, known_total
from teams.prepared import Uuids

_NOBODY = "nobody"
_cold = Known()


def find_candidates(*, viewer: Viewer, sought: Sought, revision: Revision | None = None) -> Found:
    """The candidates among what the viewer may see, with all their signals; call it in scope.

    Each signal proposes its best; every signal is then read for every proposed memory, so the
    outcome does not depend on which signal found it. `revision` is the team's in this transaction,
    None in one that has written.
    """
    search = _vector_search(viewer, sought)
    total = len(sought.only) if sought.only is not None else _total(search, viewer, sought)
    if (
        total > settings.SKETCH_FROM
        and revision is not None
        and (sought.only is not None or not sought.with_cold)
        and sought.vector.any()
    ):
        found = find_sketched(viewer=viewer, sought=sought, total=total)
        if found is not None:
            return found
    if _is_small(viewer, sought, total):
        found = find_among_few(viewer=viewer, sought=sought, total=total)
        if found is not None:
            return found
    if sought.only is None and viewer.allowed_categories:
        # So that nothing the agent may not read competes with what it may.
        rows = Memory.objects.searchable(include_cold=sought.with_cold)
        sought = replace(sought, only=narrowed(viewer=viewer, rows=rows))
        if sought.only is not None:
            search, total = _vector_search(viewer, sought), len(sought.only)
    return _find_whole(viewer, sought, search, total)


def _is_small(viewer: Viewer, sought: Sought, total: int) -> bool:
    """Whether all that is searched can be read."""
    is_whole = sought.only is None and not (sought.with_cold or viewer.allowed_categories)
    return is_whole and 0 < settings.READ_WHOLE_UP_TO >= total


def _vector_search(viewer: Viewer, sought: Sought) -> VectorSearch:
    shape = _shape(viewer, is_narrowed=sought.only is not None, with_cold=sought.with_cold)
    only = {} if sought.only is None else {"only": sought.only.view(Uuids)}
    return VectorSearch(
        team_id=viewer.team_id,
        condition=shape.condition,
        parameters=viewer_parameters(viewer) | only,
        vector=sought.vector,
        embedding_model=sought.embedding_model,
        limit=max(SEMANTIC_LIMIT, sought.least),
        is_exact=sought.only is not None,
        owners=OWNERS if shape.of_user else ("TRUE",),
    )


def _find_whole(viewer: Viewer, sought: Sought, search: VectorSearch, total: int) -> Found:
    """The candidates by the database alone."""
    has_vector = bool(sought.vector.any())
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
        "least": sought.least,
    }
    if not has_vector:
        near = NOWHERE
    elif search.graph() is None:
        near = search.statement()
    else:
        # A plan for every team would miss the approximate index, so that is asked by itself.
        nearest, near = search.fetch(), GIVEN
        parameters["near_ids"] = [pk for pk, _ in nearest]
        parameters["near_cosines"] = [cosine for _, cosine in nearest]
    shape = _shape(viewer, is_narrowed=sought.only is not None, with_cold=sought.with_cold)
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
    """`VectorSearch.total`, by a sketch where it tells: of a large owner that takes long.

    Whatever the agent may read of it: that tells how large the owner is.
    """
    if known_total(search.owner) is None and not sought.with_cold:
        seen = sketched_total(
            viewer=replace(viewer, allowed_categories=()), embedding_model=sought.embedding_model
        )
        # A small one may have grown since, and then a sketch of it is to be made.
        if seen is not None and seen > settings.SKETCH_FROM:
            know_total(search.owner, seen)
    return search.total()


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
