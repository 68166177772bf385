"""What agents learned of people before that was shared: given to the people, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import QuerySet

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Scope, Status
from memory.models import Memory
from memory.services.decisions.moving import Move, move_memory
from memory.understanding.quoting import Said, confided
from memory.understanding.tools import Tools
from teams.errors import ConflictError, NotFoundError
from teams.models import Message
from teams.tenancy import team_scope

ACTOR = "command:share_learned"
_SHARED = "what an agent learns of a person belongs to the person"
_CONFIDED = "it was told in confidence"
_TYPES = (MemoryType.SEMANTIC.value, MemoryType.EPISODIC.value)
# So many messages around those of a memory may say that it was told in confidence.
_AROUND = 6


class Fate(StrEnum):
    """What becomes, or became, of a memory."""

    SHARED = "shared"
    PRIVATE = "private"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Share:
    """A memory that talk gave to an agent, and what is to become of it."""

    memory: Memory
    fate: Fate


def learned_memories(*, team_id: UUID) -> QuerySet[Memory]:
    """The current memories of talk about a person that belong to an agent; call it in scope.

    Not those of agents that keep to themselves, nor what stays with an agent by its type.
    """
    return Memory.objects.filter(
        team_id=team_id,
        status=Status.ACTIVE.value,
        memory_type__in=_TYPES,
        extraction_pass__isnull=False,
        agent__isnull=False,
        agent__keeps_to_itself=False,
        end_user__isnull=False,
    ).order_by("id")


def planned_shares(*, team_id: UUID, batch: int) -> Iterator[Share]:
    """What would become of each of them, a batch at a time, in the order of their ids."""
    last: UUID | None = None
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = learned_memories(team_id=team_id)
            if last is not None:
                rows = rows.filter(id__gt=last)
            found = list(rows.select_related("agent", "end_user")[:batch])
            shares = [Share(row, _fate(row)) for row in found]
        if not found:
            return
        last = found[-1].pk
        yield from shares


def carry_out(*, share: Share, tools: Tools) -> Fate:
    """Give the memory to its person, or make it private; REFUSED where others stand in its way.

    Refused is what changed meanwhile, what is in dispute, and what stands there already.
    """
    memory = share.memory
    viewer = Viewer(team_id=memory.team_id, actor=ACTOR)
    if share.fate is Fate.PRIVATE:
        move, reason = Move(memory_type=MemoryType.AGENT_PRIVATE), _CONFIDED
    elif memory.project_id is not None:
        user = memory.end_user.external_id if memory.end_user else None
        move, reason = Move(scope=Scope.PROJECT, user=user), _SHARED
    else:
        move, reason = Move(scope=Scope.USER), _SHARED
    try:
        move_memory(viewer=viewer, memory_id=memory.pk, move=move, tools=tools, reason=reason)
    except (ConflictError, NotFoundError):
        return Fate.REFUSED
    return share.fate


def _fate(memory: Memory) -> Fate:
    return Fate.PRIVATE if _was_confided(memory) else Fate.SHARED


def _was_confided(memory: Memory) -> bool:
    """Whether one of its messages was told in confidence, by the talk around it."""
    sources = Message.objects.filter(team_id=memory.team_id, pk__in=memory.source_message_ids)
    secret: set[object] = set()
    for conversation_id, places in _places(list(sources)).items():
        around = Message.objects.filter(
            team_id=memory.team_id,
            conversation_id=conversation_id,
            position__range=(min(places) - _AROUND, max(places) + _AROUND),
        ).order_by("position")
        secret |= confided([Said(row.pk, row.content, row.role == "user") for row in around])
    return not secret.isdisjoint(memory.source_message_ids)


def _places(messages: Sequence[Message]) -> dict[UUID, list[int]]:
    found: dict[UUID, list[int]] = {}
    for row in messages:
        found.setdefault(row.conversation_id, []).append(row.position)
    return found
