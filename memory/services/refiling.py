"""What somebody says anew of their own person belongs beside what it changes: in their profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from memory.domain.judging.paths import as_compared
from memory.domain.judging.rules import RulesJudge
from memory.domain.types import MemoryType, Role, Statement, Verdict
from memory.models import Memory
from memory.models.memory import LIVE
from memory.services.drafts import MemoryDraft
from memory.services.extraction import MessageRange
from memory.services.readers import readers_in
from teams.tenancy import team_scope

# As sure as a change told in talk must be at least.
SURE = 0.6
_MOST_OF_A_PROFILE = 200
_REFILED = frozenset({MemoryType.SEMANTIC, MemoryType.EPISODIC})


def filed_with_profile(
    *, source: MessageRange, drafts: Sequence[MemoryDraft], actor: str
) -> list[MemoryDraft]:
    """The drafts, and those that change or deny what the user's profile says as part of it.

    Every agent sees a profile, and what one agent alone sees retires nothing that others see: "I
    quit my job" would leave "works at ..." standing for all of them. Only the user's own words
    count, and of the profile what the agent may read. Call it outside any transaction.
    """
    told = {row.id for row in source.messages if row.role == Role.USER.value}
    if not any(_may_change(draft, told) for draft in drafts):
        return list(drafts)
    conversation = source.conversation
    with team_scope(team_ids=[conversation.team_id], actor=actor):
        rows = Memory.objects.filter(
            team_id=conversation.team_id,
            end_user_id=conversation.end_user_id,
            memory_type=MemoryType.USER_PROFILE.value,
            status__in=LIVE,
        ).order_by("-created_at")[:_MOST_OF_A_PROFILE]
        allowlists = readers_in(team_id=conversation.team_id).allowlists
        profile = [
            Statement(content, at, subject)
            for content, at, subject, category in rows.values_list(
                "content", "created_at", "subject", "category"
            )
            if allowlists.may_read(agent_id=conversation.agent_id, category=category)
        ]
    return [
        _as_profile(draft) if _may_change(draft, told) and _changes(draft, profile) else draft
        for draft in drafts
    ]


def _may_change(draft: MemoryDraft, told: set[UUID]) -> bool:
    return draft.memory_type in _REFILED and not told.isdisjoint(draft.message_ids)


def _changes(draft: MemoryDraft, profile: Sequence[Statement]) -> bool:
    judge = RulesJudge()
    new = Statement(draft.content, draft.created_at, draft.subject)
    for existing in profile:
        if existing.at > new.at:
            continue
        first, second = as_compared(existing, new)
        judgement = judge.judge(existing=first, new=second)
        is_conflict = judgement.verdict in (Verdict.SUPERSEDE, Verdict.DISPUTE)
        if is_conflict and judgement.confidence >= SURE:
            return True
    return False


def _as_profile(draft: MemoryDraft) -> MemoryDraft:
    return replace(draft, memory_type=MemoryType.USER_PROFILE, agent_id=None, project_id=None)
