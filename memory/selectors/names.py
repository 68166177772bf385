"""Names: whom those of a request mean, and what the people of rendered memories are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memory.domain.names import heard_name, says_user, with_name
from memory.domain.rendering import Quote
from memory.domain.types import QUOTING, in_zone
from memory.selectors.revisions import (
    REVISION,
    SERVER,
    Revision,
    ServerState,
    note_primary,
)
from memory.selectors.ttl_cache import zone_of
from teams.models import Agent, Role
from teams.prepared import (
    Columns,
    current_scope,
    fetch_planned,
    load_sql_parts,
    run_prepared,
    uuids,
)
from teams.services.keys import HOLDER, Holder, find_holder
from teams.tenancy import team_scope

_AGENT = Columns(Agent)
# Outside of a transaction the statement sets the scope itself: what is set comes back as the team
# that is asked for, and OFFSET 0 keeps each table from being looked at before.
_OWN_SCOPE = "set_config('palimpsest.team_ids', $1::text, true)::uuid"
_STATEMENT = """
WITH scope AS MATERIALIZED (SELECT {team} AS team_id)
SELECT {first}, u.id, coalesce(u.role, t.person_role), p.id, {columns}
FROM scope
{joined}LEFT JOIN LATERAL (
    SELECT * FROM teams_agent WHERE team_id = scope.team_id AND slug = coalesce(
        (
            SELECT o.slug FROM teams_agentalias n
            JOIN teams_agent o ON o.team_id = n.team_id AND o.id = n.agent_id
            WHERE n.team_id = scope.team_id AND n.slug = $2::text
        ),
        $2::text
    ) OFFSET 0
) AS a ON true
LEFT JOIN LATERAL (
    SELECT id, nullif(role, '') AS role FROM teams_enduser
    WHERE team_id = scope.team_id AND external_id = $3::text OFFSET 0
) AS u ON true
LEFT JOIN LATERAL (
    SELECT person_role FROM teams_team WHERE id = scope.team_id OFFSET 0
) AS t ON true
LEFT JOIN LATERAL (
    SELECT id FROM teams_project WHERE team_id = scope.team_id AND slug = $4::text OFFSET 0
) AS p ON true
"""
_ROLE = """
SELECT coalesce(nullif(u.role, ''), t.person_role)
FROM teams_enduser u JOIN teams_team t ON t.id = u.team_id WHERE u.team_id = $1 AND u.id = $2
"""
_WITH_STATE = """LEFT JOIN LATERAL (REVISION) AS r (revision) ON true
CROSS JOIN pg_is_in_recovery() AS is_replica
LEFT JOIN LATERAL (SELECT * FROM palimpsest_api_key($5::bytea) OFFSET 0) AS k ON true
""".replace("REVISION", REVISION.replace("%(team)s", "scope.team_id"))
_FIRST = f"r.revision, {SERVER}, {', '.join(f'k.{name}' for name in HOLDER.split(', '))}"
_ALONE = _STATEMENT.format(
    team=_OWN_SCOPE, first=_FIRST, joined=_WITH_STATE, columns=_AGENT.named("a")
)
# The team is a parameter throughout, as the planner of a distributed database must know it.
_IN_SCOPE = _STATEMENT.format(
    team="$1::text::uuid", first="NULL", joined="", columns=_AGENT.named("a")
).replace("scope.team_id", "$1::text::uuid")
_STATE_COLUMNS, _HOLDER_COLUMNS = 4, HOLDER.count(",") + 1


@dataclass(frozen=True, slots=True)
class Named:
    """Rows of a request's names, None for unknown.

    `holder` is that of the key that was looked up with them, () for an unknown one; None if none
    was, as in a transaction.
    """

    agent: Agent | None
    end_user_id: UUID | None
    project_id: UUID | None
    is_guest: bool = True
    holder: Holder | None = None


def role_of(*, team_id: UUID, end_user_id: UUID) -> str:
    """Returns the person's role in the team, "member" or "guest"; call it in the team's scope."""
    rows = run_prepared(_ROLE, [team_id, end_user_id])
    return str(rows[0][0]) if rows else Role.GUEST.value


def is_guest(*, team_id: UUID, end_user_id: UUID) -> bool:
    """Returns whether the person is a guest of the team; call it in the team's scope."""
    return role_of(team_id=team_id, end_user_id=end_user_id) != Role.MEMBER


def names_of(
    *,
    team_id: UUID,
    agent: str | None,
    user: str | None = None,
    project: str | None = None,
    key: bytes | None = None,
) -> Named:
    """Returns the team's agent by slug or alias, end user by external id and project by slug.

    Call it in the team's scope or in none: outside of a transaction it is one statement with a
    scope of its own, which also looks the key with the digest `key` up and notes the team's state.
    """
    if agent is None and user is None and project is None and key is None:
        return Named(None, None, None)
    given = [str(team_id), agent, user, project]
    holder: Holder | None = None
    if not (connection.in_atomic_block or settings.DATABASE_DISTRIBUTED):
        (row,) = run_prepared(_ALONE, [*given, key])
        columns = iter(row)
        counts, *server = islice(columns, _STATE_COLUMNS)
        if counts is not None:
            note_primary(team_id=team_id, state=ServerState(Revision(*counts), *server))
        key_row = tuple(islice(columns, _HOLDER_COLUMNS))
        if key is not None:
            holder = key_row if key_row[0] is not None else ()
    else:
        if key is not None and not connection.in_atomic_block:
            holder = find_holder(key)
        is_seen = team_id in current_scope().team_ids
        with nullcontext() if is_seen else team_scope(team_ids=[team_id], actor="names"):
            ((_, *values),) = run_prepared(_IN_SCOPE, given)
        columns = iter(values)
    end_user_id, role, project_id = islice(columns, 3)
    return Named(
        agent=_AGENT.take(columns),
        end_user_id=end_user_id,
        project_id=project_id,
        is_guest=role != Role.MEMBER,
        holder=holder,
    )


_SQL = load_sql_parts(__file__, "names.sql")
# Of a conversation so many messages, the latest, say what their speaker is called.
_LATEST = 20


@dataclass(frozen=True, slots=True)
class PersonNames:
    """Names for "User" by a memory's id, as far as known, and the quotes among the memories.

    `is_heard` says that one of the names is known from messages alone.
    """

    known: Mapping[UUID, str] = field(default_factory=dict)
    quotes: Mapping[UUID, Quote] = field(default_factory=dict)
    is_heard: bool = False

    def told(self, key: UUID, text: str) -> str:
        """Returns the text with the person's name, or verbatim."""
        name = self.known.get(key)
        return with_name(text, name=name) if name else text

    def joined(self, other: PersonNames) -> PersonNames:
        """Returns the names of both."""
        return PersonNames(
            {**self.known, **other.known},
            {**self.quotes, **other.quotes},
            self.is_heard or other.is_heard,
        )


def person_names(
    *,
    team_id: UUID,
    texts: Iterable[tuple[UUID, str]],
    conversation_id: UUID | None = None,
) -> PersonNames:
    """Returns the people of those texts, each of a memory's id; call it in the team's scope.

    For "User" a display name counts first, then the one name in the messages of the memory's
    conversation. `conversation_id` is of one whose person's name is wanted too, under that id.
    """
    stored = dict(texts)
    quotes = _quotes(team_id, list(stored)) if stored else {}
    ids = [key for key, text in stored.items() if key not in quotes and says_user(text)]
    if not ids and conversation_id is None:
        return PersonNames(quotes=quotes)
    given = {
        "team": team_id,
        "ids": uuids(ids),
        "conversation": conversation_id,
        "latest": _LATEST,
    }
    known: dict[UUID, str] = {}
    is_heard = False
    for key, display, external_id, heard in fetch_planned(_SQL["names"], given):
        name = display.strip()
        if not name and heard:
            name = heard_name(heard, external_id=external_id)
            is_heard = is_heard or bool(name)
        if name:
            known[key] = name
    return PersonNames(known, quotes, is_heard)


def _quotes(team_id: UUID, ids: list[UUID]) -> dict[UUID, Quote]:
    given = {"team": team_id, "ids": uuids(ids), "quoting": QUOTING}
    rows = list(fetch_planned(_SQL["quotes"], given))
    zone = zone_of(team_id=team_id, now=timezone.now()) if rows else None
    return {
        key: Quote(speaker, *(at and in_zone(at, zone) for at in times))
        for key, speaker, *times in rows
    }
