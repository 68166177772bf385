"""The memory that holds a summary, and the turns of those who write one."""

from __future__ import annotations

from django.db import connection

from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.services.compacting.compaction_plan import CompactionPlan
from memory.services.compacting.summaries import (
    EXTRACTOR,
    POINTS,
    SUMMARY_TAG,
    SummaryBasis,
    standing_summary,
)
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.inserting import PreparedDraft
from memory.services.writing.write_path import prepare
from teams.models import Conversation, Message
from teams.tenancy import team_scope

SUMMARY_IMPORTANCE = 5


def sum_up(
    *, viewer: Viewer, plan: CompactionPlan, basis: SummaryBasis, tools: Tools
) -> tuple[str, list[PreparedDraft]]:
    """The summary's text, and the episodic memory of it that supersedes what it continues.

    Call it in no transaction: the summariser and the embedder may be remote. Raises
    UnavailableError when the embedder does not answer.
    """
    summary = tools.summariser.summarise(points=basis.points, since=basis.since, until=basis.until)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        draft = _draft(plan=plan, basis=basis, summary=summary, tools=tools)
    return summary, prepare(drafts=[draft], tools=tools)


def _draft(*, plan: CompactionPlan, basis: SummaryBasis, summary: str, tools: Tools) -> MemoryDraft:
    conversation = plan.conversation
    old = standing_summary(plan.previous) if plan.previous else None
    rows = Message.objects.filter(
        team_id=conversation.team_id,
        conversation=conversation,
        position__range=(plan.first, plan.last),
    ).order_by("position")
    sources = list(rows.values_list("id", "external_id", "created_at"))
    return MemoryDraft(
        team_id=conversation.team_id,
        content=summary,
        memory_type=MemoryType.EPISODIC,
        importance=SUMMARY_IMPORTANCE,
        extractor=f"{EXTRACTOR}:{tools.summariser.name}",
        created_at=sources[-1][2],
        category="event",
        tags=(SUMMARY_TAG,),
        agent_id=conversation.agent_id,
        people=(str(conversation.end_user),),
        end_user_id=conversation.end_user_id,
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        message_ids=tuple(each[0] for each in sources),
        message_external_ids=tuple(each[1] for each in sources if each[1]),
        check=False,
        replaces=(old.pk,) if old and old.is_live else (),
        rests_on={POINTS: [each for point in basis.points for each in point.memory_ids]},
    )


def take_turn(conversation: Conversation) -> None:
    """Let compactions of one conversation end one after the other.

    The conversation's row is no lock for that: writers of memories hold a share of it already
    when they come to change it.
    """
    turn = f"compaction|{conversation.team_id}|{conversation.pk}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [turn])
