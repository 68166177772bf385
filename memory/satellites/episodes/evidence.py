"""What insights about a person may rest on: what every agent who talks with them may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import Audience
from memory.domain.episodes import (
    CATEGORY,
    MOST_ACTIVITIES,
    MOST_FACTS,
    TALK_CHARS,
    Evidence,
    Noted,
)
from memory.domain.prompt_guards import without_rendered_memory
from memory.domain.secrets import mask_secrets
from memory.domain.types import Asker, MemoryType, Role, Status
from memory.models import Memory, MessageEntry
from memory.models.querysets import MemoryQuerySet
from teams.models import Agent, EndUser, Message

WINDOW = timedelta(days=28)
_SHARED = (Audience.PERSON.value, Audience.TEAM.value)
_MOST_RECENT, _MOST_MESSAGES, _MOST_TALK, _LONGEST_CHAIN = 200, 2_000, 30, 20
_PREFERENCES = Q(category="preferences") | Q(subject__startswith="user.preference")
_TYPES = (MemoryType.SEMANTIC.value, MemoryType.EPISODIC.value)


def project_of_latest(*, person: EndUser, now: datetime) -> UUID | None:
    """The project of what was last learned of the person, in which insights stay; in scope."""
    latest = open_memories(person=person, now=now).order_by("-created_at", "-id")
    return latest.values_list("project_id", flat=True).first()


def open_memories(*, person: EndUser, now: datetime) -> MemoryQuerySet:
    """Of the last four weeks, current, about the person and for every agent; call it in scope.

    Without what an agent of the team may not read that reads insights.
    """
    rows = Memory.objects.filter(
        team_id=person.team_id,
        end_user=person,
        agent=None,
        status=Status.ACTIVE.value,
        memory_type__in=_TYPES,
        created_at__gt=now - WINDOW,
        created_at__lte=now,
    )
    for allowed in _allowlists(person.team_id):
        rows = rows.filter(category__in=["", *allowed])
    return rows


def evidence_about(
    *, person: EndUser, project_id: UUID | None, now: datetime, zone: tzinfo
) -> Evidence:
    """What is known of the person in a project, or in none; call it in the team's scope."""
    in_project = Q(project_id__isnull=True) | Q(project_id=project_id)
    rows = open_memories(person=person, now=now).filter(in_project)
    latest = rows.order_by("-created_at", "-id")
    happened = latest.filter(memory_type=MemoryType.EPISODIC.value)[:MOST_ACTIVITIES]
    learned = latest.filter(memory_type=MemoryType.SEMANTIC.value)[:MOST_FACTS]
    agents = Agent.objects.filter(team_id=person.team_id, keeps_to_itself=False)
    said = list(
        Message.objects.filter(
            Q(conversation__project_id__isnull=True) | Q(conversation__project_id=project_id),
            team_id=person.team_id,
            conversation__end_user=person,
            conversation__agent__in=agents,
            role=Role.USER.value,
            created_at__gt=now - WINDOW,
            created_at__lte=now,
        )
        .filter(Q(name="") | Q(name__in=person.names))
        .order_by("-created_at", "-id")[:_MOST_MESSAGES]
    )
    shared = _shared(person.team_id, said)
    talk, talk_ids = ("", ()) if _allowlists(person.team_id) else _talk(shared[:_MOST_TALK])
    chains = [_versions(head, zone) for head in latest.filter(_PREFERENCES)[:_MOST_RECENT]]
    return Evidence(
        person=str(person),
        asker=Asker(person.team_id, None, person.pk),
        activities=tuple(_noted(row, zone) for row in happened),
        facts=tuple(_noted(row, zone) for row in learned),
        talk=talk,
        talk_ids=talk_ids,
        recent=tuple(_noted(row, zone) for row in latest[:_MOST_RECENT]),
        changes=tuple(chain for chain in chains if len(chain) > 1),
        spoke_at=tuple((row.created_at.astimezone(zone), row.pk) for row in shared),
        names=tuple(agents.values_list("name", flat=True)),
    )


def _allowlists(team_id: UUID) -> list[Sequence[str]]:
    """The categories of each agent that reads some only, insights among them."""
    lists = Agent.objects.filter(team_id=team_id).values_list("allowed_categories", flat=True)
    return [each for each in lists if each and CATEGORY in each]


def _shared(team_id: UUID, said: Sequence[Message]) -> list[Message]:
    """Those that every agent may find: nothing that was confided or forgotten."""
    ids = [row.pk for row in said]
    entries = MessageEntry.objects.filter(team_id=team_id, message_id__in=ids)
    found = set(
        entries.filter(audience__in=_SHARED, is_forgotten=False).values_list(
            "message_id", flat=True
        )
    )
    return [row for row in said if row.pk in found]


def _talk(said: Sequence[Message]) -> tuple[str, tuple[UUID, ...]]:
    """The last words of at most TALK_CHARS, in their order, and whose messages they are."""
    lines: list[str] = []
    ids: list[UUID] = []
    room = TALK_CHARS
    for row in said:
        text = " ".join(without_rendered_memory(text=mask_secrets(text=row.content)).split())
        if not text or len(text) + 1 > room:
            break
        room -= len(text) + 1
        lines.append(text)
        ids.append(row.pk)
    return "\n".join(reversed(lines)), tuple(reversed(ids))


def _versions(head: Memory, zone: tzinfo) -> tuple[Noted, ...]:
    """The memory and what it took the place of over time, oldest first.

    A correction of the same words is no change, and what was deleted is told by nothing.
    """
    chain = [head]
    while chain[-1].supersedes_id is not None and len(chain) < _LONGEST_CHAIN:
        earlier = Memory.objects.get(team_id=head.team_id, pk=chain[-1].supersedes_id)
        owner = (earlier.agent_id, earlier.end_user_id, earlier.project_id, earlier.status)
        if owner != (None, head.end_user_id, head.project_id, Status.SUPERSEDED):
            break
        is_corrected = set(earlier.source_message_ids) & set(chain[-1].source_message_ids)
        if is_corrected:
            break
        chain.append(earlier)
    return tuple(_noted(row, zone) for row in reversed(chain))


def _noted(row: Memory, zone: tzinfo) -> Noted:
    return Noted(
        row.pk, row.content, row.created_at.astimezone(zone), row.conversation_id, row.subject
    )
