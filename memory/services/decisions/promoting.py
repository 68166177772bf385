"""A memory of a project becomes the whole team's; a preference only with a yes (seed 003, §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.profile_fields import is_preference
from memory.domain.text.normalise import dedupe_key
from memory.domain.types import Scope, Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import propose_for_team
from memory.services.decisions.disputes import draft_of_version
from memory.services.decisions.moving import Move, move_memory
from memory.services.decisions.state import locked_memory
from memory.services.retrying import retried
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
    """What there is to say without a move; None where it is to be made."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.scope == Scope.TEAM:
            return Promoted(memory)
        if memory.scope != Scope.PROJECT or memory.end_user_id is not None:
            raise ConflictError(
                "Only what belongs to a project, and to no person, can be promoted; PATCH gives"
                " other memories to the team."
            )
        is_of_taste = is_preference(category=memory.category, subject=memory.subject)
        if is_confirmed or not is_of_taste or memory.status != Status.ACTIVE:
            return None
        return Promoted(memory, _request_of(viewer, memory, now))


def _request_of(viewer: Viewer, memory: Memory, now: datetime) -> UUID:
    """The request that waits for a yes, made where there is none."""
    known = ConsentRequest.objects.filter(
        team_id=memory.team_id, kind=ConsentRequest.Kind.TEAM_PREFERENCE, memory=memory
    )
    before = known.order_by("-id").first()
    if before is not None and not before.is_waiting:
        raise ConflictError(f"That it becomes the whole team's was asked before: {before.state}.")
    if before is None:
        draft = draft_of_version(
            memory=memory, content=memory.content, extractor=memory.extractor, now=now
        )
        before = propose_for_team(
            memory=memory,
            key=dedupe_key(memory.content, draft.owner),
            heard_by=viewer.agent_id,
            proposed_by=viewer.actor,
            now=now,
        )
    assert before is not None
    return before.pk
