"""Renewing a summary whose memories have changed, without compacting further messages."""

from __future__ import annotations

from dataclasses import replace

from memory.clients.tools import Tools
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Compaction
from memory.services.compaction.compaction_plan import CompactionPlan
from memory.services.compaction.summaries import (
    SummaryBasis,
    is_up_to_date,
    latest_compaction,
    standing_points,
    standing_summary,
    summary_basis,
)
from memory.services.compaction.summary_memory import lock_summaries, store_summary, sum_up
from teams.errors import ConflictError
from teams.tenancy import team_scope


def renew_summary(*, viewer: Viewer, plan: CompactionPlan, tools: Tools) -> None:
    """Rewrite the last summary if a memory it covers was removed or changed.

    A summary that was deleted or rewritten by a person stays as it is. Raises ConflictError when
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
        lock_summaries(plan.conversation)
        latest = latest_compaction(team_id=viewer.team_id, conversation_id=plan.conversation.pk)
        if latest is None or latest.pk != previous.pk or not _is_stale(latest):
            raise ConflictError("Another summary came first.")
        if _basis(plan, latest).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        store_summary(
            viewer=viewer,
            plan=plan,
            prepared=prepared,
            tools=tools,
            op="update",
            meta={"to": plan.last, "points": len(basis.points)},
        )


def _is_stale(compaction: Compaction) -> bool:
    memory = standing_summary(compaction)
    if memory.status == Status.SOFT_DELETED:
        return False
    heads = standing_points(compaction)
    return not is_up_to_date(memory=memory, compaction=compaction, heads=heads)


def _basis(plan: CompactionPlan, previous: Compaction) -> SummaryBasis:
    """The current form of the last summary's points, without further messages."""
    after = previous.to_position
    return summary_basis(
        conversation=plan.conversation, previous=previous, first=after + 1, last=after
    )
