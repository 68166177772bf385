"""Consent requests: who may see them, and how they are proposed from independent signals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from pydantic import TypeAdapter

from audit.services.events import Event, record_events
from memory.domain.audience import Viewer
from memory.domain.types import in_zone
from memory.models import Memory
from memory.models.querysets import allowed_q
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.values import is_same_value
from memory.selectors.people import ListFilters, filtered_people
from memory.selectors.ttl_cache import zone_of
from memory.writing.drafts import MemoryDraft
from teams.models import EndUser

# Seed 004, section 10: such requests end after a week.
LIFETIME = timedelta(days=7)
SIGNALS_NEEDED = 2
_DECIDED_ANEW = {"rests_on", "needs_consent", "is_agreed", "check"}
_Kind = ConsentRequest.Kind
_DRAFT = TypeAdapter(MemoryDraft)


@dataclass(frozen=True, slots=True)
class Signal:
    """One time that a value was proposed: in which conversation and on which day."""

    conversation: UUID | None
    day: date
    messages: tuple[UUID, ...] = ()


_SIGNALS = TypeAdapter(list[Signal])


def draft_of(request: ConsentRequest) -> MemoryDraft:
    """Returns the draft that a yes to the request writes."""
    return _DRAFT.validate_python(request.draft)


def signals_of(request: ConsentRequest) -> list[Signal]:
    """Returns the times that the value of a request was proposed."""
    return _SIGNALS.validate_python(request.signals)


def independent_signals(signals: Iterable[Signal]) -> int:
    """Returns how many signals are of different conversations or days."""
    return len({(each.conversation, each.day) for each in signals})


def requests_visible_to(viewer: Viewer) -> QuerySet[ConsentRequest, ConsentRequest]:
    """Returns the consent requests that the viewer may see.

    An agent sees those of people that it knows, of projects' memories that it may see and of its
    own workflows, in categories that it may read, and none that are another agent's own. It sees no
    proposed fact of the team: several people's words stand behind it.
    """
    rows = ConsentRequest.objects.filter(allowed_q(viewer), team_id=viewer.team_id)
    if viewer.project_ids:
        of_none = Q(draft__project_id=None) | Q(draft__project_id__isnull=True)
        named = [str(each) for each in viewer.project_ids]
        of_memory = Q(memory__project_id=None) | Q(memory__project_id__in=viewer.project_ids)
        rows = rows.filter(of_none | Q(draft__project_id__in=named), of_memory)
    if viewer.end_user_id is not None:
        rows = rows.filter(Q(end_user_id=viewer.end_user_id) | Q(end_user__isnull=True))
    elif viewer.names_nobody:
        rows = rows.filter(end_user__isnull=True)
    if viewer.agent_id is not None:
        known = filtered_people(viewer=viewer, filters=ListFilters()).values("pk")
        seen = Memory.objects.visible_to(viewer).values("pk")
        rows = rows.filter(
            Q(agent_id__isnull=True) | Q(agent_id=viewer.agent_id),
            Q(end_user__in=known)
            | Q(end_user__isnull=True, memory__in=seen)
            | Q(end_user__isnull=True, present__in=seen)
            | Q(kind=_Kind.WORKFLOW, end_user__isnull=True),
        ).exclude(kind=_Kind.TEAM_FACT)
    return rows.select_related("end_user", "present")


def waiting_for(viewer: Viewer, person: EndUser) -> QuerySet[ConsentRequest, ConsentRequest]:
    """Returns the pending requests about a person that the viewer may see, the oldest first."""
    rows = requests_visible_to(viewer)
    return rows.filter(end_user=person, state=ConsentRequest.State.WAITING).order_by("id")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A draft that would change what a profile field says now (`present`), and who asks for it.

    `key` is equal for the same words for the same readers; `end_user_id` is whose profile it is,
    None where `present` is a preference of the team.
    """

    draft: MemoryDraft
    key: bytes
    matter: str
    end_user_id: UUID | None
    proposed_by: str
    present: Memory | None = None
    needs_person: bool = True


def propose(*, proposal: Proposal, now: datetime) -> ConsentRequest | None:
    """Makes a change wait for a yes; call it in the transaction of the write, in the team's scope.

    The same value said again is another signal of the request that waits. None where a request for
    the same value from the same messages was decided or has expired: it is not asked again.
    """
    draft = proposal.draft
    kind = _Kind.TEAM_PREFERENCE if proposal.end_user_id is None else _Kind.PROFILE_FIELD
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=draft.team_id, end_user_id=proposal.end_user_id, kind=kind, field=proposal.matter
    )
    if kind is _Kind.TEAM_PREFERENCE:
        rows = rows.filter(present=proposal.present)
    alike = [row for row in rows.order_by("id") if _is_same_value(row, proposal)]
    for row in alike:
        if row.is_waiting:
            return _corroborated(row, draft, now)
    given = set(draft.message_ids)
    if given and any(given <= set(row.source_message_ids) for row in alike):
        return None
    request = new_request(
        draft=draft,
        signals=[_signal(draft, now)],
        now=now,
        kind=kind,
        end_user_id=proposal.end_user_id,
        field=proposal.matter,
        value_key=proposal.key,
        present=proposal.present,
        agent_id=draft.owner.agent_id,
        heard_by_id=draft.author_id or draft.agent_id,
        needs_person=proposal.needs_person,
        proposed_by=proposal.proposed_by,
    )
    note_requests(op="propose", requests=[request])
    return request


def new_request(
    *,
    draft: MemoryDraft,
    signals: Sequence[Signal],
    now: datetime,
    beside_draft: Mapping[str, object] | None = None,
    **columns: Any,  # Any: a column's value
) -> ConsentRequest:
    """Stores a request to write the draft; call it in the team's scope."""
    kept = _DRAFT.dump_python(draft, mode="json", exclude=_DECIDED_ANEW)
    return ConsentRequest.objects.create(
        team_id=draft.team_id,
        content=draft.content,
        category=draft.category,
        draft=kept | dict(beside_draft or {}),
        source_message_ids=list(draft.message_ids),
        signals=_as_json(signals),
        created_at=now,
        expires_at=now + LIFETIME,
        **columns,
    )


def propose_for_team(
    *, memory: Memory, key: bytes, heard_by: UUID | None, proposed_by: str, now: datetime
) -> ConsentRequest | None:
    """Asks whether all may know a person's or project's memory, once; call it in scope."""
    known = ConsentRequest.objects.filter(
        team_id=memory.team_id, kind=_Kind.TEAM_PREFERENCE, memory=memory
    )
    is_of_team = memory.end_user_id is None and memory.project_id is None
    if is_of_team or known.exists():
        return None
    request = ConsentRequest.objects.create(
        team_id=memory.team_id,
        kind=_Kind.TEAM_PREFERENCE,
        end_user_id=memory.end_user_id,
        content=memory.content,
        value_key=key,
        category=memory.category,
        memory=memory,
        draft={
            name: str(value) if value else None
            for name, value in (
                ("conversation_id", memory.conversation_id),
                ("project_id", memory.project_id),
            )
        },
        agent_id=memory.agent_id,
        heard_by_id=heard_by,
        source_message_ids=memory.source_message_ids,
        proposed_by=proposed_by,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    note_requests(op="propose", requests=[request])
    return request


def note_requests(*, op: str, requests: Sequence[ConsentRequest]) -> None:
    """Records what happened to a team's requests as events, without a word of their contents."""
    events = [
        Event(
            node="consent",
            op=op,
            memory_id=row.memory_id,
            end_user_id=row.end_user_id,
            meta={"request": str(row.pk), "kind": row.kind, "field": row.field},
        )
        for row in requests
    ]
    if events:
        record_events(team_id=requests[0].team_id, events=events)


def _is_same_value(row: ConsentRequest, proposal: Proposal) -> bool:
    draft = proposal.draft
    return bytes(row.value_key) == proposal.key or (
        row.agent_id == draft.owner.agent_id
        and is_same_value(new=draft.content, known=row.content, subject=draft.subject)
    )


def _corroborated(row: ConsentRequest, draft: MemoryDraft, now: datetime) -> ConsentRequest:
    fresh = [each for each in draft.message_ids if each not in row.source_message_ids]
    if draft.message_ids and not fresh:
        return row
    signal, known = _signal(draft, now), signals_of(row)
    if signal not in known:
        row.signals = _as_json([*known, signal])
    row.source_message_ids = [*row.source_message_ids, *fresh]
    row.draft = row.draft | {"message_ids": [str(each) for each in row.source_message_ids]}
    row.save(update_fields=["signals", "source_message_ids", "draft"])
    return row


def _signal(draft: MemoryDraft, now: datetime) -> Signal:
    zone = zone_of(team_id=draft.team_id, now=now)
    day = in_zone(draft.created_at, zone).date()
    return Signal(draft.conversation_id, day, draft.message_ids)


def _as_json(signals: Sequence[Signal]) -> Any:  # Any: JSON
    return _SIGNALS.dump_python(list(signals), mode="json")
