"""The search statement and its candidates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet, visible_to_q
from memory.models.search import Place
from memory.selectors.filters import indexed_owners, pattern_of, viewer_parameters, viewer_sql
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
from memory.selectors.search.vectors import VectorSearch
from memory.selectors.ttl_cache import SharedTTLCache
from teams.prepared import Uuids, fetch_planned, load_sql_parts, uuids
from teams.tracing import step

_SQL = load_sql_parts(__file__, "memories.sql")
_SHARED = load_sql_parts(__file__, "search.sql")
# The owners of what an end user's viewer may see: theirs and nobody's, each a range of an index.
_OWNERS = (
    "memory_searchentry.end_user_id = %(end_user)s",
    "memory_searchentry.end_user_id IS NULL",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a search that its statement depends on.

    `pattern` is the viewer's; `is_narrowed` says that the search is held to given memories,
    `with_cold` that cold and past ones are searched, `with_project` that the most important ones of
    the project are proposed.
    """

    pattern: Viewer
    is_narrowed: bool = False
    with_cold: bool = False
    with_project: bool = False

    @classmethod
    def of(cls, viewer: Viewer, *, is_narrowed: bool = False, with_cold: bool = False) -> Shape:
        return cls(pattern_of(viewer), is_narrowed=is_narrowed, with_cold=with_cold)

    @property
    def visible(self) -> str:
        """The rule of visibility as SQL, with the parameters of `viewer_parameters`."""
        return viewer_sql(visible_to_q, pattern=self.pattern)

    @property
    def owners(self) -> tuple[str, ...]:
        """Conditions that share out what the viewer may see, each by a range of an index."""
        if self.pattern.names_nobody:
            return _OWNERS[1:]
        return _OWNERS if self.pattern.end_user_id else ("TRUE",)

    @property
    def placed(self) -> str:
        """The condition of the place of searched entries."""
        looks_back = self.with_cold or self.is_narrowed
        last = Place.PAST if looks_back else Place.FOUND
        sign = "<=" if looks_back else "="
        return f"memory_searchentry.place {sign} {last.value}"

    @property
    def condition(self) -> str:
        """The whole condition of a searched entry."""
        return f"{self.visible} AND {self.placed} {_only('memory_id', self.is_narrowed)}"


def _only(column: str, is_narrowed: bool) -> str:
    return f"AND memory_searchentry.{column} = ANY (%(only)s::uuid[])" if is_narrowed else ""


def shared_parts(
    *, table: str, key: str, condition: str, found: str, near: str | None
) -> dict[str, str]:
    """Returns the parts of search.sql for search entries of that table, which `key` names.

    `found` finds what holds a word, `near` what is nearest to the vector, None for nothing.
    """
    near = near or _SHARED["near_nothing"].format(key=key)
    names = {"table": table, "key": key, "condition": condition, "found": found, "near": near}
    return {name: text.format(**LIMITS, **names) for name, text in _SHARED.items()}


@lru_cache
def signal_statement(shape: Shape, near: str | None) -> str:
    """Returns the statement for the shape; `near` finds what is nearest to the vector."""
    # Every prompt holds what the agent knows of itself and, in talk about a person, who that is.
    pattern = shape.pattern
    is_of_owner = shape.owners != ("TRUE",)
    always = "'identity', 'user_profile'" if pattern.end_user_id else "'identity'"
    parts = {
        **LIMITS,
        "condition": shape.condition,
        "visible": shape.visible,
        "placed": shape.placed,
        "only": _only("memory_id", shape.is_narrowed),
        "only_memory": _only("id", shape.is_narrowed),
        "always": always,
        "agent": "%(agent)s" if pattern.agent_id else "NULL",
        "project": "%(project)s" if pattern.project_id else "NULL",
        "forwards": "memory_searchentry.end_user_id, " if is_of_owner else "",
        "backwards": "memory_searchentry.end_user_id DESC, memory_searchentry.place DESC, "
        if is_of_owner
        else "",
    }

    def by_owner(name: str) -> str:
        branches = [_SQL[name].format(**parts, owner=owner) for owner in shape.owners]
        return " UNION ALL ".join(branches)

    found = "found_among_given" if shape.is_narrowed else "found_by_index"
    shared = shared_parts(
        table="memory_searchentry",
        key="memory_id",
        condition=shape.condition,
        found=_SQL[found].format(**parts),
        near=near,
    )
    return _SQL["search"].format(
        **parts,
        **shared,
        recent=by_owner("recent"),
        mandatory=by_owner("mandatory"),
        important=by_owner("important"),
        given=_SQL["given"] if shape.is_narrowed else "",
        of_project=_SQL["of_project"].format(**parts) if shape.with_project else "",
    )


# The terms of each owner that too many of its entries hold.
frequent_terms = SharedTTLCache()
# As one value: so many ids take longer to be read than to be found.
_AS_ONE = "SELECT string_agg(uuid_send(id), ''::bytea) FROM ({rows}) AS chosen"


@step("retrieve.signals")
def find_candidates(*, viewer: Viewer, sought: Sought) -> Found:
    """Returns the candidates among what the viewer may see, with all signals; call it in scope.

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
    """Returns the terms, empty for known frequent ones; all if nothing is left."""
    known: frozenset[str] = frequent_terms.get(owner) or frozenset()
    left = ["" if term in known else term for term in terms]
    return left if any(left) else list(terms)


def remember_frequent(*, owner: Hashable, terms: Iterable[str]) -> None:
    """Adds these terms, except empty ones, to the known frequent ones."""
    known: frozenset[str] = frequent_terms.get(owner) or frozenset()
    more = frozenset(terms) - known - {""}
    if more:
        frequent_terms.put(owner, known | more)


def narrowed(*, viewer: Viewer, rows: MemoryQuerySet) -> Uuids | None:
    """Returns what the viewer may see of the rows, or None if those are too many to name.

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
