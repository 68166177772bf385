"""The messages that may answer a question, among those a viewer may see."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings

from memory.domain.audience import Viewer
from memory.models import MessageEntry
from memory.models.querysets import heard_by_q
from memory.selectors.filters import indexed_owners, pattern_of, viewer_parameters, viewer_sql
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import (
    LIMITS,
    QUESTION_COLUMNS,
    FoundMessages,
    Holding,
    MessageRow,
    Pool,
    Sought,
    most_of_a_term,
)
from memory.selectors.search.signals import shared_parts
from memory.selectors.ttl_cache import SharedTTLCache
from teams.prepared import fetch_planned, load_sql_parts
from teams.tracing import step

_SQL = load_sql_parts(__file__, "messages.sql")
# Of the team's latest messages that wait to be indexed so many are looked at for the viewer's, and
# of each its beginning: an import under way makes no read slow.
_WAITING_LIMITS = {"LOOKED_AT": 1_000, "READ_CHARS": 4_000}
# Of an end user's viewer: what is theirs and what others said for the team, each of an index.
_OWNERS = (
    "end_user_id = %(end_user)s",
    "audience = 'team' AND end_user_id <> %(end_user)s",
)
_OF_TEAM = "audience = 'team'"
_totals, _none_waits = SharedTTLCache(), SharedTTLCache()


@step("retrieve.messages")
def find_messages(
    *, viewer: Viewer, sought: Sought, revision: Revision | None = None
) -> FoundMessages:
    """Returns the candidates among the indexed messages that the viewer may see; in scope.

    Of an owner with more messages than are searched exactly, words alone propose; the cosine is
    read for all proposed ones. `revision` is the team's in this transaction: while it stands a
    process remembers how many messages there are.
    """
    parameters: dict[str, Any] = {  # Any: a parameter of any type
        "agent": None,
        "project": None,
        **viewer_parameters(viewer),
        "owners": indexed_owners(viewer),
        "with_others": not viewer.allowed_categories,
        "terms": list(sought.terms),
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if sought.has_vector else None,
        "vector": sought.vector,
        "counted": settings.EXACT_SEARCH_LIMIT + 1,
    }
    total = _total(viewer, parameters, revision)
    if not total:
        return Pool([], 0, (0,) * len(sought.terms))
    by_vector = sought.has_vector and total <= settings.EXACT_SEARCH_LIMIT
    most = most_of_a_term(total)
    statement = _statement("search", pattern_of(viewer), by_vector)
    rows = fetch_planned(statement, {**parameters, "total": total, "most": most})
    holding = Holding.of(rows, terms=sought.terms, total=total, most=most)
    return Pool(
        rows=[MessageRow._make(each[QUESTION_COLUMNS:]) for each in rows],
        total=total,
        holding=holding.counts,
        without_lexeme=holding.without_lexeme,
    )


def waiting_messages(
    *, viewer: Viewer, most: int, terms: Sequence[str] = (), revision: Revision | None = None
) -> list[MessageRow]:
    """Returns the viewer's among the latest messages that wait to be indexed; in scope.

    At most `most`: of more, those that hold most of the `terms`. `revision` is the team's in this
    transaction: while it stands a process remembers that there are none.
    """
    parameters, pattern, owner = viewer_parameters(viewer), pattern_of(viewer), _owner(viewer)
    if revision is not None and _none_waits.get(owner) == revision.messages:
        return []
    given = {**parameters, "most": most + 1}
    rows = fetch_planned(_statement("waiting", pattern), given, is_ordered=True)
    if len(rows) > most:
        given = {**parameters, "most": most, "terms": list(terms)}
        rows = fetch_planned(_statement("waiting_by_words", pattern), given, is_ordered=True)
    if not rows and revision is not None:
        _none_waits.put(owner, revision.messages)
    return [MessageRow(*row) for row in rows]


def terms_in(*, texts: Mapping[UUID, str], terms: Sequence[str]) -> dict[UUID, tuple[int, int]]:
    """Returns each text's terms, a bit for each, and its number of words, as the index has them."""
    given = {"ids": list(texts), "texts": list(texts.values()), "terms": list(terms)}
    rows = fetch_planned(_SQL["terms_in_texts"], given)
    return {pk: (int(held), words) for pk, held, words in rows}


def _total(
    viewer: Viewer,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    revision: Revision | None,
) -> int:
    counted = parameters["counted"]
    owner = _owner(viewer)
    known = _totals.get(owner)
    if revision is not None and known is not None and known[0] == (revision.messages, counted):
        return int(known[1])
    ((total,),) = fetch_planned(_statement("count", pattern_of(viewer)), parameters)
    if revision is not None:
        _totals.put(owner, ((revision.messages, counted), total))
    return int(total)


def _owner(viewer: Viewer) -> Hashable:
    return (*viewer_parameters(viewer).items(), pattern_of(viewer))


@cache
def _statement(name: str, pattern: Viewer, by_vector: bool = False) -> str:
    visible = viewer_sql(heard_by_q, pattern=pattern, model=MessageEntry)
    parts = {**LIMITS, **_WAITING_LIMITS, "visible": visible}
    near = None
    if by_vector:
        owners: tuple[str, ...] = (_OF_TEAM,) if pattern.names_nobody else ("TRUE",)
        if pattern.end_user_id:
            owners = _OWNERS[:1] if pattern.is_guest else _OWNERS
        each = [_SQL["compared"].format(**parts, owner=owner) for owner in owners]
        near = _SQL["near"].format(**parts, compared=" UNION ALL ".join(each))
    shared = shared_parts(
        table="memory_messageentry",
        key="message_id",
        condition=visible,
        found=_SQL["found"].format(**parts),
        near=near,
    )
    return _SQL[name].format(**parts, **shared)
