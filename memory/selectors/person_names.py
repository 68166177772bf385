"""Names of the people in rendered memories: speakers of quotes, and names in place of "User"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.utils import timezone

from memory.domain.names import heard_name, says_user, with_name
from memory.domain.rendering import Quote
from memory.domain.types import QUOTING
from memory.selectors.sql_files import load_sql_parts
from memory.selectors.zones import zone_of
from teams.prepared import fetch_planned

_SQL = load_sql_parts(__file__, "person_names.sql")
# Of a conversation so many messages, the latest, say what their speaker is called.
_LATEST = 20


@dataclass(frozen=True, slots=True)
class PersonNames:
    """By a memory's id whom it calls "User", as far as that is known, and whom it quotes.

    `is_heard` says that one of the names is known from messages alone.
    """

    known: Mapping[UUID, str] = field(default_factory=dict)
    quotes: Mapping[UUID, Quote] = field(default_factory=dict)
    is_heard: bool = False

    def told(self, key: UUID, text: str) -> str:
        """The text as it is told: with the person's name, or as it is stored."""
        name = self.known.get(key)
        return with_name(text, name=name) if name else text

    def joined(self, other: PersonNames) -> PersonNames:
        """The names of both."""
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
    """The people of those texts, each of a memory's id: who said it, or who "User" is.

    Of "User" a display name counts first, then the one name in the messages of the memory's
    conversation. `conversation_id` is of one whose person's name is asked for too, under that id.
    Call it in the team's scope.
    """
    stored = dict(texts)
    quotes = _quotes(team_id, list(stored)) if stored else {}
    ids = [key for key, text in stored.items() if key not in quotes and says_user(text)]
    if not ids and conversation_id is None:
        return PersonNames(quotes=quotes)
    given = {"team": team_id, "ids": ids, "conversation": conversation_id, "latest": _LATEST}
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
    """Who said those of the memories that are sentences as they were said, and when."""
    given = {"team": team_id, "ids": ids, "quoting": QUOTING}
    rows = list(fetch_planned(_SQL["quotes"], given))
    zone = zone_of(team_id=team_id, now=timezone.now()) if rows else None
    return {
        key: Quote(speaker, *(at and at.astimezone(zone) for at in times))
        for key, speaker, *times in rows
    }
