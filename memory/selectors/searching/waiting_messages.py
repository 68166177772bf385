"""Messages that are not indexed yet: those of a moment ago, or of a large import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from memory.domain.viewer import Viewer
from memory.models import MessageEntry
from memory.models.querysets import heard_by_q
from memory.selectors.conditions import viewer_parameters, viewer_sql
from memory.selectors.known import Known
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision

# Of the team's latest waiting messages so many are looked at for the viewer's: an import under way
# makes no read slow.
_LOOKED_AT = 1_000
_LATEST = """
    SELECT * FROM memory_messageentry e WHERE e.team_id = %(team)s AND e.is_waiting
    ORDER BY e.message_id DESC LIMIT {looked_at}
"""
_COLUMNS = (
    "message_id, conversation_id, position, role, said_at, extract(epoch FROM said_at)::float8"
)
_WAITING = """
SELECT {columns}
FROM ({latest}) AS memory_messageentry
WHERE {visible} AND NOT is_forgotten
LIMIT %(most)s
"""
# Where more wait than are read, as after a post of hundreds: those with most words of the question.
_BY_WORDS = """
WITH wanted AS MATERIALIZED (
    SELECT tsvector_to_array(to_tsvector('english', term)) AS lexemes
    FROM unnest(%(terms)s::text[]) AS t (term)
)
SELECT {columns}
FROM ({latest}) AS memory_messageentry
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(to_tsvector('english', left(m.content, {read_chars}))) AS lexemes
    FROM teams_message m
    WHERE m.team_id = %(team)s AND m.id = memory_messageentry.message_id OFFSET 0
) AS said
WHERE {visible} AND NOT is_forgotten
ORDER BY (
    SELECT count(*) FROM wanted
    WHERE cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
) DESC, message_id DESC
LIMIT %(most)s
"""
_READ_CHARS = 4_000
_HELD = """
SELECT given.id, bit_or(1::bigint << (wanted.number - 1)::int)
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS given (id, text)
CROSS JOIN LATERAL (
    SELECT tsvector_to_array(to_tsvector('english', given.text)) AS lexemes OFFSET 0
) AS said
JOIN (
    SELECT t.number, tsvector_to_array(to_tsvector('english', t.term)) AS lexemes
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
) AS wanted ON cardinality(wanted.lexemes) > 0 AND said.lexemes @> wanted.lexemes
GROUP BY given.id
"""
_none_waits = Known()


class WaitingMessage(NamedTuple):
    """Where a message stands that is not indexed yet; `said` is in seconds of the epoch."""

    message_id: UUID
    conversation_id: UUID
    position: int
    role: str
    said_at: datetime
    said: float


def waiting_messages(
    *, viewer: Viewer, most: int, terms: Sequence[str] = (), revision: Revision | None = None
) -> list[WaitingMessage]:
    """Of the latest waiting messages those that the viewer may see; call it in the team's scope.

    At most `most`: where there are more, those that hold most of the `terms`. `revision` is the
    team's in this transaction: while it stands a process remembers that there are none.
    """
    owner = (viewer.team_id, viewer.agent_id, viewer.end_user_id, viewer.project_id)
    if revision is not None and _none_waits.get(owner) == revision.messages:
        return []
    statement, by_words = _waiting(
        viewer.agent_id is not None,
        viewer.end_user_id is not None,
        viewer.project_id is not None,
    )
    given = {**viewer_parameters(viewer), "most": most + 1}
    rows = fetch_planned(statement, given, is_ordered=True)
    if len(rows) > most:
        given = {**given, "most": most, "terms": list(terms)}
        rows = fetch_planned(by_words, given, is_ordered=True)
    if not rows and revision is not None:
        _none_waits.put(owner, revision.messages)
    return [WaitingMessage._make(row) for row in rows]


def terms_in(*, texts: Mapping[UUID, str], terms: Sequence[str]) -> dict[UUID, int]:
    """Which of the terms each text holds, a bit for each, as the index of words would say it."""
    given = {"ids": list(texts), "texts": list(texts.values()), "terms": list(terms)}
    return {pk: int(held) for pk, held in fetch_planned(_HELD, given)}


@lru_cache
def _waiting(of_agent: bool, of_user: bool, of_project: bool) -> tuple[str, str]:
    """The statements that read what waits for a viewer narrowed like that, and by words."""
    visible = viewer_sql(
        heard_by_q,
        of_agent=of_agent,
        of_user=of_user,
        of_project=of_project,
        model=MessageEntry,
    )
    parts = {
        "columns": _COLUMNS,
        "latest": _LATEST.format(looked_at=_LOOKED_AT),
        "visible": visible,
        "read_chars": _READ_CHARS,
    }
    return _WAITING.format(**parts), _BY_WORDS.format(**parts)
