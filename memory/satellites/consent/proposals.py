"""Proposes changes that need consent, with the independent signals for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from audit.services.events import Event, record_events
from memory.domain.forms import Form
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.values import is_same_value
from memory.selectors.zones import zone_of
from memory.writing.drafts import MemoryDraft

# What a yes decides anew.
_LEFT_OUT = frozenset({"rests_on", "needs_consent", "is_agreed", "check"})
_IDS = ("team_id", "agent_id", "author_id", "end_user_id", "project_id", "conversation_id")
_TIMES = ("created_at", "valid_from", "valid_to")


def draft_as_json(draft: MemoryDraft) -> dict[str, Any]:  # Any: a field's value
    """The fields of the draft, as JSON keeps them."""
    kept = {
        each.name: getattr(draft, each.name) for each in fields(draft) if each.name not in _LEFT_OUT
    }
    for name in _IDS:
        kept[name] = str(kept[name]) if kept[name] else None
    for name in _TIMES:
        kept[name] = kept[name].isoformat() if kept[name] else None
    return kept | {
        "memory_type": draft.memory_type.value,
        "form": draft.form.value if draft.form else None,
        "payload": dict(draft.payload),
        "message_ids": [str(each) for each in draft.message_ids],
        "replaces": [str(each) for each in draft.replaces],
        "tags": list(draft.tags),
        "people": list(draft.people),
        "message_external_ids": list(draft.message_external_ids),
    }


def draft_from_json(kept: Mapping[str, Any]) -> MemoryDraft:  # Any: a field's value
    """The draft that a request kept."""
    ids = {name: UUID(kept[name]) if kept[name] else None for name in _IDS}
    times = {name: datetime.fromisoformat(kept[name]) if kept[name] else None for name in _TIMES}
    known = {each.name for each in fields(MemoryDraft)}
    return MemoryDraft(
        **{
            **{name: value for name, value in kept.items() if name in known},
            **ids,
            **times,
            "memory_type": MemoryType(kept["memory_type"]),
            # A request of before there were forms kept none.
            "form": Form(kept["form"]) if kept.get("form") else None,
            "message_ids": tuple(UUID(each) for each in kept["message_ids"]),
            "replaces": tuple(UUID(each) for each in kept.get("replaces", ())),
            "tags": tuple(kept["tags"]),
            "people": tuple(kept["people"]),
            "message_external_ids": tuple(kept["message_external_ids"]),
        }
    )


# Seed 004, section 10: such requests end after a week.
LIFETIME = timedelta(days=7)
SIGNALS_NEEDED = 2


@dataclass(frozen=True, slots=True)
class Signal:
    """One time that a value was proposed: in which conversation and on which day."""

    conversation_id: UUID | None
    day: date
    message_ids: tuple[UUID, ...] = ()


def independent_signals(signals: Iterable[Signal]) -> int:
    """How many signals are of different conversations or days."""
    return len({(each.conversation_id, each.day) for each in signals})


def signal_as_json(signal: Signal) -> dict[str, object]:
    """The signal as a request keeps it."""
    return {
        "conversation": str(signal.conversation_id) if signal.conversation_id else None,
        "day": signal.day.isoformat(),
        "messages": [str(each) for each in signal.message_ids],
    }


def signal_from_json(kept: Mapping[str, object]) -> Signal:
    """The signal that a request kept."""
    messages = kept.get("messages")
    return Signal(
        conversation_id=UUID(str(kept["conversation"])) if kept.get("conversation") else None,
        day=date.fromisoformat(str(kept["day"])),
        message_ids=tuple(UUID(str(each)) for each in messages)
        if isinstance(messages, list)
        else (),
    )


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a draft would change: the field, what it says now, and who asks for it.

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
    """Let a change wait for a yes; call it in the transaction of the write, in the team's scope.

    The same value said again is another signal of the request that waits. None where a request for
    the same value from the same messages was decided or has expired: it is not asked again.
    """
    draft = proposal.draft
    is_of_team = proposal.end_user_id is None
    kinds = ConsentRequest.Kind
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=draft.team_id,
        end_user_id=proposal.end_user_id,
        kind=kinds.TEAM_PREFERENCE if is_of_team else kinds.PROFILE_FIELD,
        field=proposal.matter,
    )
    if is_of_team:
        rows = rows.filter(present=proposal.present)
    alike = [row for row in rows.order_by("id") if _is_same_value(row, proposal)]
    for row in alike:
        if row.is_waiting:
            return _corroborated(row, proposal, now)
    given = set(draft.message_ids)
    if given and any(given <= set(row.source_message_ids) for row in alike):
        return None
    request = ConsentRequest.objects.create(
        team_id=draft.team_id,
        kind=kinds.TEAM_PREFERENCE if is_of_team else kinds.PROFILE_FIELD,
        end_user_id=proposal.end_user_id,
        field=proposal.matter,
        content=draft.content,
        value_key=proposal.key,
        category=draft.category,
        present=proposal.present,
        draft=draft_as_json(draft),
        agent_id=draft.owner.agent_id,
        heard_by_id=draft.author_id or draft.agent_id,
        needs_person=proposal.needs_person,
        source_message_ids=list(draft.message_ids),
        signals=[signal_as_json(_signal(draft, now))],
        proposed_by=proposal.proposed_by,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    note_requests(op="propose", requests=[request])
    return request


def propose_for_team(
    *, memory: Memory, key: bytes, heard_by: UUID | None, proposed_by: str, now: datetime
) -> ConsentRequest | None:
    """Ask whether all of the team may know what the memory of a person or project says.

    None where it was asked before. Call it in the team's scope.
    """
    known = ConsentRequest.objects.filter(
        team_id=memory.team_id, kind=ConsentRequest.Kind.TEAM_PREFERENCE, memory=memory
    )
    is_of_team = memory.end_user_id is None and memory.project_id is None
    if is_of_team or known.exists():
        return None
    request = ConsentRequest.objects.create(
        team_id=memory.team_id,
        kind=ConsentRequest.Kind.TEAM_PREFERENCE,
        end_user_id=memory.end_user_id,
        content=memory.content,
        value_key=key,
        category=memory.category,
        memory=memory,
        draft={"conversation_id": str(memory.conversation_id) if memory.conversation_id else None},
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
    """Record what happened to requests as operational events, without a word of their contents."""
    for team_id in {row.team_id for row in requests}:
        record_events(
            team_id=team_id,
            events=[
                Event(
                    node="consent",
                    op=op,
                    memory_id=row.memory_id,
                    end_user_id=row.end_user_id,
                    meta={"request": str(row.pk), "kind": row.kind, "field": row.field},
                )
                for row in requests
                if row.team_id == team_id
            ],
        )


def signals_of(request: ConsentRequest) -> list[Signal]:
    """The times that the value of a request was proposed."""
    return [signal_from_json(each) for each in request.signals]


def _is_same_value(row: ConsentRequest, proposal: Proposal) -> bool:
    if bytes(row.value_key) == proposal.key:
        return True
    draft = proposal.draft
    if row.agent_id != draft.owner.agent_id:
        return False
    return is_same_value(new=draft.content, known=row.content, subject=draft.subject)


def _corroborated(row: ConsentRequest, proposal: Proposal, now: datetime) -> ConsentRequest:
    draft = proposal.draft
    fresh = [each for each in draft.message_ids if each not in row.source_message_ids]
    if draft.message_ids and not fresh:
        return row
    signal = _signal(draft, now)
    if signal not in signals_of(row):
        row.signals = [*row.signals, signal_as_json(signal)]
    row.source_message_ids = [*row.source_message_ids, *fresh]
    kept = row.draft
    row.draft = kept | {"message_ids": [str(each) for each in row.source_message_ids]}
    row.save(update_fields=["signals", "source_message_ids", "draft"])
    return row


def _signal(draft: MemoryDraft, now: datetime) -> Signal:
    zone = zone_of(team_id=draft.team_id, now=now)
    day = draft.created_at.astimezone(zone).date()
    return Signal(draft.conversation_id, day, draft.message_ids)
