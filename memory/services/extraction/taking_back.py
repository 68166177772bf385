"""Makes private what was stored before its person asked for silence about it."""

from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Status
from memory.models import Memory
from memory.services.decisions.moving import Move, move_memory
from memory.services.extraction.extraction import MessageRange
from memory.understanding.tools import Tools
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

_WHY = "told in confidence"


def take_back_confided(
    *, source: MessageRange, confided: AbstractSet[UUID], tools: Tools, actor: str
) -> None:
    """Give memories of earlier messages to the agent alone, where a later one asks for silence.

    `confided` are the ids of messages that were told in confidence. Call it outside any
    transaction, once the range is extracted; again it changes nothing. What is in dispute stays
    until that is settled, and a line in the log names it.
    """
    conversation = source.conversation
    earlier = confided & {row.pk for row in source.context}
    if not earlier:
        return
    with team_scope(team_ids=[conversation.team_id], actor=actor):
        ids = list(
            Memory.objects.filter(
                team_id=conversation.team_id,
                conversation=conversation,
                agent=None,
                source_message_ids__overlap=list(earlier),
                status__in=(Status.ACTIVE, Status.DISPUTED),
            ).values_list("pk", flat=True)
        )
    move = Move(memory_type=MemoryType.AGENT_PRIVATE, agent=conversation.agent.slug)
    for pk in ids:
        try:
            move_memory(
                viewer=Viewer(team_id=conversation.team_id, actor=actor),
                memory_id=pk,
                move=move,
                tools=tools,
                reason=_WHY,
            )
        except (ConflictError, NotFoundError) as error:
            logger.warning("Memory %s was told in confidence and stays shared: %s", pk, error)
