"""The scope in force: which teams the transaction under way may see, and who acts in it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of an answer: one agent or, with None, any, and one person or nobody."""

    agent_id: UUID | None
    end_user_id: UUID | None

    @property
    def settings(self) -> dict[str, str]:
        """The settings by which row-level security knows the reader (memory/sql/audience.sql)."""
        return {
            "palimpsest.reader": "on",
            "palimpsest.reader_agent": str(self.agent_id or ""),
            "palimpsest.reader_person": str(self.end_user_id or ""),
        }


@dataclass(frozen=True, slots=True)
class TeamScope:
    """Which teams a transaction may see, and who acts in it and why."""

    team_ids: tuple[UUID, ...] = ()
    actor: str = ""
    reason: str = ""
    conversation_id: UUID | None = None
    is_planned_once: bool = False
    reader: Reader | None = None


NO_SCOPE = TeamScope()
scope_in_force: ContextVar[TeamScope] = ContextVar("team_scope", default=NO_SCOPE)


def current_scope() -> TeamScope:
    """The scope in force; each `team_scope` makes one of its own, to be told apart by identity."""
    return scope_in_force.get()
