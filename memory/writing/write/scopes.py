"""To whom a memory of a stated scope belongs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.profile_fields import is_preference
from memory.domain.types import Scope
from teams.errors import ForbiddenError, InvalidError

# The scopes that a caller may state; the others belong to work under way.
STATED_SCOPES = (Scope.USER, Scope.PROJECT, Scope.TEAM)


@dataclass(frozen=True, slots=True)
class Belonging:
    """The person and the project that a memory belongs to; None for none."""

    end_user_id: UUID | None = None
    project_id: UUID | None = None


def check_team_preference(*, category: str, subject: str) -> None:
    """Raise InvalidError for a preference: nobody said yes to its being the whole team's."""
    if is_preference(category=category, subject=subject):
        raise InvalidError(
            "A preference of the whole team needs a yes: send `confirm: true` with a key of the"
            " team, or state it for a project and promote that, which asks for one.",
            field="confirm",
        )


def check_may_confirm(*, viewer: Viewer, confirm: bool) -> None:
    """Raise ForbiddenError where an agent confirms what the whole team is told."""
    if confirm and viewer.agent_id is not None:
        raise ForbiddenError(
            "An agent cannot confirm what the whole team is told: use a key of the team.",
            field="confirm",
        )


def belonging(*, scope: Scope, named: Belonging, known: Belonging) -> Belonging:
    """Whose a memory of that scope is: `named` by the caller, else as is `known` already.

    `user` is one person's and of no project, `project` everybody's in the project unless a person
    is named, `team` nobody's. Raises InvalidError where the names do not fit the scope or one is
    missing.
    """
    if scope is Scope.TEAM:
        for field, value in (("user", named.end_user_id), ("project", named.project_id)):
            if value is not None:
                raise InvalidError(
                    f"A memory of scope team belongs to no {field}: leave it out.", field=field
                )
        return Belonging()
    if scope is Scope.PROJECT:
        project_id = named.project_id or known.project_id
        if project_id is None:
            raise InvalidError("A memory of scope project needs one: name it.", field="project")
        return Belonging(named.end_user_id, project_id)
    if named.project_id is not None:
        raise InvalidError(
            "A memory of scope user holds in all projects: leave the project out.", field="project"
        )
    end_user_id = named.end_user_id or known.end_user_id
    if end_user_id is None:
        raise InvalidError("A memory of scope user needs a person: name the user.", field="user")
    return Belonging(end_user_id)
