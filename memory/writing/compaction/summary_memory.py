"""The memory that holds a summary: made, stored and renewed, by one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from audit.services.events import Event, record_events
from memory.domain.audience import Viewer
from memory.domain.talk import SUMMARY_TAG, WrittenSummary
from memory.domain.types import DELETED, Asker, MemoryType, Point
from memory.models import Compaction, Memory
from memory.understanding.tools import Tools
from memory.writing.compaction.compaction_plan import CompactionPlan
from memory.writing.compaction.summaries import (
    EXTRACTOR,
    POINTS,
    SummaryBasis,
    is_up_to_date,
    latest_compaction,
    standing_points,
    standing_summary,
    summary_basis,
)
from memory.writing.write.drafts import MemoryDraft
from memory.writing.write.write_path import prepare, store
from teams.errors import ConflictError
from teams.models import Message
from teams.tenancy import hold_lock, team_scope

SUMMARY_IMPORTANCE = 5


@dataclass(frozen=True, slots=True)
class NewSummary:
    """The text of a summary, the points it was made of, and its memory."""

    text: str
    points: Sequence[Point]
    memory: Memory


def renew_summary(*, viewer: Viewer, plan: CompactionPlan, tools: Tools) -> None:
    """Rewrite the last summary if a memory it covers was removed or changed.

    A summary that was deleted or rewritten by a person stays as it is. Raises ConflictError when
    others changed the conversation's memories meanwhile, UnavailableError without an embedder.
    """
    previous = plan.previous
    if previous is None:
        return
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        if not _is_stale(previous):
            return
    plan = replace(plan, first=previous.from_position, last=previous.to_position)
    with new_summary(viewer=viewer, plan=plan, tools=tools, is_renewed=True):
        pass


@contextmanager
def new_summary(
    *, viewer: Viewer, plan: CompactionPlan, tools: Tools, is_renewed: bool = False
) -> Iterator[NewSummary]:
    """Write the episodic memory of a summary; the block is a part of that transaction.

    It supersedes the last summary; a renewed one has that one's points, as they are now, and no
    further messages. Call it in no transaction: the summariser and the embedder may be remote.
    Raises ConflictError when what it rests on has changed meanwhile, and UnavailableError when the
    embedder does not answer.
    """
    conversation, team_id = plan.conversation, viewer.team_id
    with team_scope(team_ids=[team_id], actor=viewer.actor):
        basis = _basis(plan, plan.previous, is_renewed)
    asker = Asker(team_id, conversation.agent_id, conversation.end_user_id)
    summary = tools.summariser.summarise(
        points=basis.points, since=basis.since, until=basis.until, asker=asker
    )
    with team_scope(team_ids=[team_id], actor=viewer.actor):
        draft = _draft(plan=plan, basis=basis, summary=summary)
    prepared = prepare(drafts=[draft], tools=tools)
    meta: dict[str, object] = {"to": plan.last, "points": len(basis.points)}
    if is_renewed:
        op, reason = "update", f"renewed the summary of messages up to {plan.last}"
    else:
        op, reason = "create", f"compacted messages {plan.first} to {plan.last}"
        meta["from"] = plan.first
    with team_scope(
        team_ids=[team_id], actor=viewer.actor, reason=reason, conversation_id=conversation.pk
    ):
        # The conversation's row is no lock for compactions: writers of memories hold a share of it
        # already when they come to change it.
        hold_lock(f"compaction|{team_id}|{conversation.pk}")
        latest = latest_compaction(team_id=team_id, conversation_id=conversation.pk)
        if (latest and latest.pk) != (plan.previous and plan.previous.pk):
            raise ConflictError("Another compaction came first.")
        if is_renewed and (latest is None or not _is_stale(latest)):
            raise ConflictError("Another summary came first.")
        if _basis(plan, latest, is_renewed).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        (result,) = store(viewer=viewer, prepared=prepared, tools=tools)
        event = Event(
            node="compact",
            op=op,
            memory_id=result.memory.pk,
            end_user_id=conversation.end_user_id,
            conversation_id=conversation.pk,
            meta=meta,
        )
        record_events(team_id=team_id, events=[event])
        yield NewSummary(summary.text, basis.points, result.memory)


def _basis(plan: CompactionPlan, previous: Compaction | None, is_renewed: bool) -> SummaryBasis:
    first = plan.last + 1 if is_renewed else plan.first
    return summary_basis(
        conversation=plan.conversation, previous=previous, first=first, last=plan.last
    )


def _is_stale(compaction: Compaction) -> bool:
    memory = standing_summary(compaction)
    if memory.status in DELETED:
        return False
    heads = standing_points(compaction)
    return not is_up_to_date(memory=memory, compaction=compaction, heads=heads)


def _draft(*, plan: CompactionPlan, basis: SummaryBasis, summary: WrittenSummary) -> MemoryDraft:
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
        content=summary.text,
        memory_type=MemoryType.EPISODIC,
        importance=SUMMARY_IMPORTANCE,
        extractor=f"{EXTRACTOR}:{summary.writer}",
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
