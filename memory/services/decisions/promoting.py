"""A memory of a project becomes the whole team's; a preference only with a yes (seed 003, §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.types import Scope, Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.decisions.moving import Move, move_memory
from memory.services.decisions.state import locked_memory
from memory.services.retrying import retried
from memory.services.write.consent import consent
from memory.services.write.scopes import check_may_confirm
from memory.understanding.tools import Tools
from teams.errors import ConflictError
from teams.tenancy import team_scope

_WHY = "promoted from its project to the team"


@dataclass(frozen=True, slots=True)
class Promoted:
    """The memory as it stands, and the request that waits where it is not the team's yet."""

    memory: Memory
    consent_request: UUID | None = None


def promote_memory(
    *,
    viewer: Viewer,
    memory_id: UUID,
    is_confirmed: bool,
    tools: Tools,
    now: datetime,
    reason: str = "",
) -> Promoted:
    """Give a project's memory to the whole team, or ask for a yes where it is a preference.

    What is the team's already stays as it is. Raises NotFoundError when the viewer may not see it,
    ConflictError when it is of no project, of a person, not active, stands in the team already or
    was refused before, and ForbiddenError where an agent confirms.
    """
    check_may_confirm(viewer=viewer, confirm=is_confirmed)
    request = _ask(viewer, memory_id, is_confirmed, now)
    if request is not None:
        return request
    move = Move(scope=Scope.TEAM, is_agreed=True)
    why = f"{_WHY}: {reason}" if reason else _WHY
    moved = move_memory(viewer=viewer, memory_id=memory_id, move=move, tools=tools, reason=why)
    return Promoted(moved)


@retried
def _ask(viewer: Viewer, memory_id: UUID, is_confirmed: bool, now: datetime) -> Promoted | None:
    """Returns the answer without a move; None where the memory is to be moved."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.scope == Scope.TEAM:
            return Promoted(memory)
        if memory.scope != Scope.PROJECT or memory.end_user_id is not None:
            raise ConflictError(
                "Only what belongs to a project, and to no person, can be promoted; PATCH gives"
                " other memories to the team."
            )
        if is_confirmed or memory.status != Status.ACTIVE:
            return None
        request = consent().hold_promotion(viewer=viewer, memory=memory, now=now)
        return None if request is None else Promoted(memory, request)
