"""What the people are called of whom memories say "User", for one answer in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

from memory.domain.personal_names import (
    NAME_SUBJECTS,
    heard_name,
    says_user,
    stated_name,
    with_name,
)
from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.selectors.conditions import viewer_parameters, viewer_sql
from memory.selectors.sql_files import load_sql_parts
from teams.prepared import fetch_planned

_SQL = load_sql_parts(__file__, "person_names.sql")
# Of a conversation so many messages, the latest, say what their speaker is called.
_LATEST = 20


@dataclass(frozen=True, slots=True)
class PersonNames:
    """The name of whom each memory calls "User", by its id, as far as it is known.

    `is_heard` says that one of them is known from messages alone.
    """

    known: Mapping[UUID, str] = field(default_factory=dict)
    is_heard: bool = False

    def told(self, key: UUID, text: str) -> str:
        """The text as it is told: with the person's name, or as it is stored."""
        name = self.known.get(key)
        return with_name(text, name=name) if name else text


def person_names(
    *,
    viewer: Viewer,
    texts: Iterable[tuple[UUID, str]],
    conversation_id: UUID | None = None,
) -> PersonNames:
    """The names for those of the texts, each of a memory's id, that say "User".

    A display name counts first, then what an active profile that the viewer may see tells, then
    the one name in the messages of the memory's conversation. `conversation_id` is of one whose
    person's name is asked for too, under that id. The database is asked only where a text says
    "User" or a conversation is given; call it in the team's scope.
    """
    ids = list(dict.fromkeys(key for key, text in texts if says_user(text)))
    if not ids and conversation_id is None:
        return PersonNames()
    given = {
        **viewer_parameters(viewer),
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "ids": ids,
        "conversation": conversation_id,
        "subjects": list(NAME_SUBJECTS),
        "latest": _LATEST,
    }
    statement = _statement(
        viewer.agent_id is not None, viewer.end_user_id is not None, viewer.project_id is not None
    )
    known: dict[UUID, str] = {}
    is_heard = False
    for key, display, external_id, stated, heard in fetch_planned(statement, given):
        name = display.strip() or stated_name(stated)
        if not name and heard:
            name = heard_name(heard, external_id=external_id)
            is_heard = is_heard or bool(name)
        if name:
            known[key] = name
    return PersonNames(known, is_heard)


@cache
def _statement(of_agent: bool, of_user: bool, of_project: bool) -> str:
    visible = viewer_sql(visible_to_q, of_agent=of_agent, of_user=of_user, of_project=of_project)
    return _SQL["names"].format(visible=visible)
