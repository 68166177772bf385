"""What a yes to a consent request does to what stands: replaced texts and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.domain.audience import TEAM_WIDE
from memory.domain.profile_fields import CORE_FIELDS, field_of, filed_subject, matter_of
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import draft_from_json
from memory.satellites.consent.values import field_of_text, texts_beside
from memory.selectors.people import present_values
from memory.writing.drafts import MemoryDraft, draft_of_version

_KINDS = ConsentRequest.Kind


@dataclass(frozen=True, slots=True)
class Effect:
    """A memory that a yes replaces, and what of its text is kept, each as a new memory."""

    memory: Memory
    kept: tuple[str, ...] = ()


def effects_of(row: ConsentRequest) -> list[Effect]:
    """The memories that a yes replaces, the latest first; call it in the team's scope.

    What a memory says beside the field of the request is kept, unless the request corrects that
    very memory. A memory of another field that does not say the one of the request stays.
    """
    if row.kind == _KINDS.TEAM_PREFERENCE:
        return [Effect(row.present)] if row.present and row.present.is_live else []
    if row.kind != _KINDS.PROFILE_FIELD:
        return []
    draft = draft_from_json(row.draft)
    field = field_of(row.field)
    effects = []
    for memory in _told(row, draft):
        is_corrected = memory.pk in draft.replaces
        kept = () if is_corrected else tuple(texts_beside(memory.content, field=field))
        is_of_field = matter_of(
            memory_type=memory.memory_type, subject=memory.subject, fields=(field,)
        )
        if is_corrected or is_of_field or kept:
            effects.append(Effect(memory, kept))
    return effects


def drafts_of_kept(effect: Effect) -> Iterator[MemoryDraft]:
    """The memories that keep what a yes does not change; call it in the team's scope."""
    memory = effect.memory
    for text in effect.kept:
        draft = draft_of_version(
            memory=memory, content=text, extractor=memory.extractor, now=memory.created_at
        )
        field = field_of_text(text)
        is_profile = draft.memory_type is MemoryType.USER_PROFILE
        yield replace(
            draft,
            subject=filed_subject(memory_type="", subject="", sensitive_field=field),
            memory_type=MemoryType.SEMANTIC if is_profile and not field else draft.memory_type,
            # Of each field one memory is pinned.
            is_pinned=field in CORE_FIELDS and not _values(memory, field),
            replaces=(),
            needs_consent=False,
            is_agreed=True,
        )


def _told(row: ConsentRequest, draft: MemoryDraft) -> list[Memory]:
    """The live memories that tell the field, and those that the request names."""
    assert row.end_user_id is not None
    rows = present_values(
        team_id=row.team_id,
        end_user_id=row.end_user_id,
        matter=row.field,
        fields=(field_of(row.field),),
        agent_id=draft.owner.agent_id,
    )
    known = {each.pk for each in rows}
    named = {each for each in (row.present_id, *draft.replaces) if each and each not in known}
    return [*rows, *Memory.objects.live().filter(team_id=row.team_id, pk__in=named).order_by("pk")]


def _values(memory: Memory, field: str) -> list[Memory]:
    assert memory.end_user_id is not None
    return present_values(
        team_id=memory.team_id,
        end_user_id=memory.end_user_id,
        matter=field,
        fields=(field,),
        agent_id=None if memory.memory_type in TEAM_WIDE else memory.agent_id,
    )
