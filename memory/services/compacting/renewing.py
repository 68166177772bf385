"""A summary made anew because what it tells has changed, although no message had to go."""

from __future__ import annotations

from dataclasses import replace

from audit.services.events import Event, record_events
from memory.clients.tools import Tools
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Compaction
from memory.services.compacting.compaction_plan import CompactionPlan
from memory.services.compacting.summaries import (
    SummaryBasis,
    is_up_to_date,
    latest_compaction,
    standing_points,
    standing_summary,
    summary_basis,
)
from memory.services.compacting.summary_memory import sum_up, take_turn
from memory.services.writing.write_path import store
from memory.services.writing.written import count_written
from teams.errors import ConflictError
from teams.tenancy import team_scope


def renew_summary(*, viewer: Viewer, plan: CompactionPlan, tools: Tools) -> None:
    """Write the last summary anew where a memory that it tells was taken away or changed since.

    One that was deleted or put into words by somebody stays as it is. Raises ConflictError when
    others changed the conversation's memories meanwhile, UnavailableError without an embedder.
    """
    previous = plan.previous
    if previous is None:
        return
    plan = replace(plan, first=previous.from_position, last=previous.to_position)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        if not _is_stale(previous):
            return
        basis = _basis(plan, previous)
    _, prepared = sum_up(viewer=viewer, plan=plan, basis=basis, tools=tools)
    with team_scope(
        team_ids=[viewer.team_id],
        actor=viewer.actor,
        reason=f"renewed the summary of messages up to {plan.last}",
        conversation_id=plan.conversation.pk,
    ):
        take_turn(plan.conversation)
        latest = latest_compaction(team_id=viewer.team_id, conversation_id=plan.conversation.pk)
        if latest is None or latest.pk != previous.pk or not _is_stale(latest):
            raise ConflictError("Another summary came first.")
        if _basis(plan, latest).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        (result,) = store(viewer=viewer, prepared=prepared, tools=tools)
        count_written([result])
        event = Event(
            node="compact",
            op="update",
            memory_id=result.memory.pk,
            end_user_id=plan.conversation.end_user_id,
            conversation_id=plan.conversation.pk,
            meta={"to": plan.last, "points": len(basis.points)},
        )
        record_events(team_id=viewer.team_id, events=[event])


def _is_stale(compaction: Compaction) -> bool:
    memory = standing_summary(compaction)
    if memory.status == Status.SOFT_DELETED:
        return False
    heads = standing_points(compaction)
    return not is_up_to_date(memory=memory, compaction=compaction, heads=heads)


def _basis(plan: CompactionPlan, previous: Compaction) -> SummaryBasis:
    """What the last summary's points are now, and those of no further message."""
    after = previous.to_position
    return summary_basis(
        conversation=plan.conversation, previous=previous, first=after + 1, last=after
    )
