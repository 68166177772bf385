"""What somebody says anew of their own person belongs beside what it changes: in their profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from memory.domain.judging.pairs.profiles import changes_profile, may_tell_of_profile
from memory.domain.judging.paths import as_compared
from memory.domain.types import MemoryType, Role, Statement
from memory.models import Memory
from memory.models.memory import LIVE
from memory.services.extracting.extraction import MessageRange
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.readers import readers_in
from teams.tenancy import team_scope

_MOST_OF_A_PROFILE = 200
_REFILED = frozenset({MemoryType.SEMANTIC, MemoryType.EPISODIC})


def filed_with_profile(
    *, source: MessageRange, drafts: Sequence[MemoryDraft], actor: str
) -> list[MemoryDraft]:
    """The drafts, and those that change or deny what the user's profile says as part of it.

    Every agent sees a profile, and what one agent alone sees retires nothing that others see: "I
    quit my job" would leave "works at ..." standing for all of them. Only the user's own words
    about themselves and their animals count, and of the profile what the agent may read and what
    these drafts give it. What the same messages once gave the profile stays there, so that reading
    them again gives it no second time. Call it outside any transaction.
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
        )
        allowlists = readers_in(team_id=conversation.team_id).allowlists
        profile = [
            Statement(content, at, subject)
            for content, at, subject, category in rows.filter(status__in=LIVE)
            .order_by("-created_at")
            .values_list("content", "created_at", "subject", "category")[:_MOST_OF_A_PROFILE]
            if allowlists.may_read(agent_id=conversation.agent_id, category=category)
        ]
        profile += [
            Statement(draft.content, draft.created_at, draft.subject)
            for draft in drafts
            if draft.memory_type == MemoryType.USER_PROFILE
        ]
        filed = set(
            rows.filter(source_message_ids__overlap=list(told)).values_list("content", flat=True)
        )
    return [
        _as_profile(draft)
        if _may_change(draft, told) and (draft.content in filed or _changes(draft, profile))
        else draft
        for draft in drafts
    ]


def _may_change(draft: MemoryDraft, told: set[UUID]) -> bool:
    return (
        draft.memory_type in _REFILED
        and not told.isdisjoint(draft.message_ids)
        and may_tell_of_profile(draft.content)
    )


def _changes(draft: MemoryDraft, profile: Sequence[Statement]) -> bool:
    new = Statement(draft.content, draft.created_at, draft.subject)
    return any(
        existing.at <= new.at and changes_profile(*as_compared(existing, new))
        for existing in profile
    )


def _as_profile(draft: MemoryDraft) -> MemoryDraft:
    return replace(draft, memory_type=MemoryType.USER_PROFILE, agent_id=None, project_id=None)
