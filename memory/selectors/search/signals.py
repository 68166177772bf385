"""The memories that may answer a question, with the five signals of seed 000, in one statement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection

from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.conditions import indexed_owners, viewer_parameters
from memory.selectors.search.signal_rows import (
    FREQUENT_FROM,
    LIMITS,
    QUESTION_COLUMNS,
    Found,
    Holding,
    Pool,
    SignalRow,
    Sought,
    most_of_a_term,
)
from memory.selectors.search.signal_statement import Shape, signal_statement
from memory.selectors.search.vectors import VectorSearch
from memory.selectors.ttl_cache import SharedTTLCache
from teams.prepared import Uuids, fetch_planned, uuids
from teams.tracing import step

_frequent = SharedTTLCache()
# As one value: so many ids take longer to be read than to be found.
_AS_ONE = "SELECT string_agg(uuid_send(id), ''::bytea) FROM ({rows}) AS chosen"


@step("retrieve.signals")
def find_candidates(*, viewer: Viewer, sought: Sought) -> Found:
    """The candidates among what the viewer may see, with all their signals; call it in scope.

    Each signal proposes its best; every signal is then read for every proposed memory, so the
    outcome does not depend on which signal found it.
    """
    if sought.only is None and viewer.allowed_categories:
        # So that nothing the agent may not read competes with what it may.
        allowed = Memory.objects.searchable(include_cold=sought.with_cold)
        sought = replace(sought, only=narrowed(viewer=viewer, rows=allowed))
    shape = replace(
        Shape.of(viewer, is_narrowed=sought.only is not None, with_cold=sought.with_cold),
        with_project=sought.with_project and viewer.project_id is not None,
    )
    search = VectorSearch(
        team_id=viewer.team_id,
        condition=shape.condition,
        parameters=viewer_parameters(viewer)
        | ({} if sought.only is None else {"only": sought.only}),
        vector=sought.vector,
        embedding_model=sought.embedding_model,
        limit=max(LIMITS["NEAR_LIMIT"], sought.least),
        is_exact=sought.only is not None,
        owners=shape.owners,
    )
    total = len(sought.only) if sought.only is not None else search.total()
    most = most_of_a_term(total)
    parameters = {
        **search.all_parameters(),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if sought.has_vector else None,
        "owners": indexed_owners(viewer),
        "with_cold": sought.with_cold,
        "most": most,
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "total": total,
        "conversation": sought.conversation_id,
        "least": sought.least,
        "also": uuids(sought.also),
    }
    near = search.statement() if sought.has_vector else None
    planning = search.planning() if sought.has_vector else {}
    statement = signal_statement(shape, near)
    terms = list(sought.terms)
    if sought.only is None:
        terms = worth_looking_up(owner=search.owner, terms=terms)
    while True:
        # Planning the statement takes longer than running it: it is planned once, except where a
        # plan for every list of memories would search a long one row by row.
        given = {**parameters, "terms": terms}
        rows = fetch_planned(statement, given, once=sought.only is None, **planning)
        holding = Holding.of(rows, terms=terms, total=total, most=most)
        if all(terms) or not holding.only_frequent:
            break
        # Where frequent terms are all there is, all of them count.
        terms = list(sought.terms)
    if sought.only is None and total > FREQUENT_FROM:
        frequent = (terms[number] for number in holding.frequent)
        remember_frequent(owner=search.owner, terms=frequent)
    return Pool(
        rows=[SignalRow._make(each[QUESTION_COLUMNS:]) for each in rows],
        total=total,
        holding=holding.counts,
        without_lexeme=holding.without_lexeme,
    )


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


def narrowed(*, viewer: Viewer, rows: MemoryQuerySet) -> Uuids | None:
    """What the viewer may see of the rows, or None where those are too many to name.

    A filter that leaves no more than FILTERED_FIRST is applied before the search, else after it.
    """
    most = settings.FILTERED_FIRST
    chosen = rows.visible_to(viewer).order_by().values_list("id", flat=True)[: most + 1]
    found = b""
    try:
        statement, values = chosen.query.sql_with_params()
    except EmptyResultSet:
        pass
    else:
        with connection.cursor() as cursor:
            cursor.execute(_AS_ONE.format(rows=statement), values)
            ((found,),) = cursor.fetchall()
    ids = np.frombuffer(found or b"", dtype="S16").view(Uuids)
    return ids if len(ids) <= most else None
