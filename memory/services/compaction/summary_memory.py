"""The memory that holds a summary: made, stored, and written by one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from audit.services.events import Event, record_events
from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.compaction.compaction_plan import CompactionPlan
from memory.services.compaction.summaries import (
    EXTRACTOR,
    POINTS,
    SUMMARY_TAG,
    SummaryBasis,
    standing_summary,
)
from memory.services.write.drafts import MemoryDraft
from memory.services.write.inserting import PreparedDraft
from memory.services.write.write_path import prepare, store
from teams.models import Conversation, Message
from teams.tenancy import hold_lock, team_scope

SUMMARY_IMPORTANCE = 5


def sum_up(
    *, viewer: Viewer, plan: CompactionPlan, basis: SummaryBasis, tools: Tools
) -> tuple[str, list[PreparedDraft]]:
    """The summary's text, and the prepared episodic memory, which supersedes the last summary.

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


def store_summary(
    *,
    viewer: Viewer,
    plan: CompactionPlan,
    prepared: list[PreparedDraft],
    tools: Tools,
    op: str,
    meta: Mapping[str, object],
) -> Memory:
    """Write the memory of a summary and the event `op` of it; call it in the team's scope."""
    (result,) = store(viewer=viewer, prepared=prepared, tools=tools)
    event = Event(
        node="compact",
        op=op,
        memory_id=result.memory.pk,
        end_user_id=plan.conversation.end_user_id,
        conversation_id=plan.conversation.pk,
        meta=meta,
    )
    record_events(team_id=viewer.team_id, events=[event])
    return result.memory


def lock_summaries(conversation: Conversation) -> None:
    """Let compactions of one conversation end one after the other.

    The conversation's row is no lock for that: writers of memories hold a share of it already
    when they come to change it.
    """
    hold_lock(f"compaction|{conversation.team_id}|{conversation.pk}")
