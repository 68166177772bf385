"""Draws insights about a person from what is known of them, once a day at most (seed 004, §3).

They rest on what every agent who talks with the person may see.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from audit.services.events import Event, record_events
from memory.domain.audience import Audience, Viewer
from memory.domain.episodes import (
    CATEGORY,
    IMPORTANCE,
    MOST_ACTIVITIES,
    MOST_FACTS,
    TALK_CHARS,
    Evidence,
    Noted,
    WrittenInsight,
)
from memory.domain.judgements import shared_words
from memory.domain.prompt_guards import without_rendered_memory
from memory.domain.secrets import mask_secrets
from memory.domain.text.words import normalise_text
from memory.domain.types import (
    UNCONFIRMED,
    Asker,
    MemoryType,
    Role,
    Source,
    Status,
    in_zone,
    strongest,
)
from memory.models import Memory, MemoryRelation, MessageEntry
from memory.models.memory import SINCE_EVER
from memory.models.querysets import MemoryQuerySet
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from memory.writing.background import run_write
from memory.writing.drafts import MemoryDraft, PreparedDraft
from memory.writing.secrets import masked_note
from memory.writing.write_path import prepare, store
from teams.errors import ConflictError, UnavailableError
from teams.models import Agent, EndUser, Message
from teams.models.people import erased_name
from teams.services.people import all_team_ids
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

ACTOR = "task:insights"
EXTRACTOR = "insight"
PAUSE = timedelta(hours=24)
# For so long nothing more is said of a topic, unless it is news.
_TOPIC_PAUSE = timedelta(days=30)
_PEOPLE_A_RUN = 50
# Two texts with so much in common say the same of a person.
_SAME = 0.8
_STRENGTH = 0.5
_MOST_SOURCES = 50

logger = logging.getLogger(__name__)
WINDOW = timedelta(days=28)
_SHARED = (Audience.PERSON.value, Audience.TEAM.value)
_MOST_RECENT, _MOST_MESSAGES, _MOST_TALK, _LONGEST_CHAIN = 200, 2_000, 30, 20
_PREFERENCES = Q(category="preferences") | Q(subject__startswith="user.preference")
_TYPES = (MemoryType.SEMANTIC.value, MemoryType.EPISODIC.value)


def draw_waiting_insights(*, tools: Tools, now: datetime, seconds: float) -> int:
    """Draws insights in all teams until `seconds` are over; returns how many were written."""
    ends_at, written = time.monotonic() + seconds, 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            ids = list(_due(team_id, now).values_list("pk", flat=True)[:_PEOPLE_A_RUN])
        for end_user_id in ids:
            if time.monotonic() >= ends_at:
                return written
            try:
                written += len(
                    make_insights(team_id=team_id, end_user_id=end_user_id, now=now, tools=tools)
                )
            except (ConflictError, UnavailableError) as error:
                logger.warning("No insights about %s at this time: %s", end_user_id, error)
    return written


def make_insights(*, team_id: UUID, end_user_id: UUID, now: datetime, tools: Tools) -> list[Memory]:
    """Draw at most three insights about a person, unless that was tried within 24 hours.

    None where the team has memory or insights switched off, or the person has, and none without
    evidence. Whoever comes first in a day does it; call it outside any transaction. Raises
    UnavailableError when the embedder does not answer, and ConflictError when other writers are in
    the way.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        people = _willing(team_id, now).filter(pk=end_user_id)
        if not people.update(insights_at=now):
            return []
        person = EndUser.objects.get(team_id=team_id, pk=end_user_id)
        # In which the insights stay: that of what was last learned of the person.
        latest = _open_memories(person, now).order_by("-created_at", "-id")
        project_id = latest.values_list("project_id", flat=True).first()
        evidence = _evidence(person, project_id, now)
    written = tools.insights.write(evidence)
    if not written:
        return []
    with team_scope(team_ids=[team_id], actor=ACTOR):
        drafts = _drafts(person, project_id, written, now)
    prepared = prepare(drafts=[draft for draft, _ in drafts], tools=tools)
    sources = [rests_on for _, rests_on in drafts]
    return run_write(partial(_store, person, prepared, sources, tools))


def _willing(team_id: UUID, now: datetime) -> QuerySet[EndUser, EndUser]:
    """People about whom insights may be made and were not looked for within a day."""
    flags = flags_of_id(team_id=team_id)
    if not (flags.memory and flags.insights):
        return EndUser.objects.none()
    is_due = Q(insights_at=None) | Q(insights_at__lte=now - PAUSE)
    rows = EndUser.objects.filter(is_due, team_id=team_id, has_insights=True)
    return rows.exclude(external_id=erased_name())


def _due(team_id: UUID, now: datetime) -> QuerySet[EndUser, EndUser]:
    learned = Memory.objects.live().filter(
        team_id=team_id,
        end_user=OuterRef("pk"),
        agent=None,
        updated_at__gt=Coalesce(OuterRef("insights_at"), SINCE_EVER),
    )
    changed = Exists(learned.exclude(memory_type=MemoryType.INSIGHT))
    return _willing(team_id, now).filter(changed).order_by("insights_at", "id")


def _drafts(
    person: EndUser, project_id: UUID | None, written: Sequence[WrittenInsight], now: datetime
) -> list[tuple[MemoryDraft, tuple[UUID, ...]]]:
    """Returns the new insights, each with the memories that it rests on."""
    known = list(
        Memory.objects.filter(
            team_id=person.team_id, end_user=person, memory_type=MemoryType.INSIGHT
        ).order_by("-created_at")[:200]
    )
    drafts = []
    for insight in written:
        of_topic = [row for row in known if insight.topic and row.subject == insight.topic]
        if any(_says_the_same(row, insight) for row in known) or any(
            row.status == Status.SOFT_DELETED
            or (not insight.is_news and row.created_at > now - _TOPIC_PAUSE)
            for row in of_topic
        ):
            continue
        sources = Memory.objects.filter(team_id=person.team_id, pk__in=insight.memory_ids)
        said = [each for row in sources for each in row.source_message_ids]
        # Without memories it was counted from what the person said.
        rests_on = [Source(row.source) for row in sources] or [Source.PERSON]
        draft = MemoryDraft(
            team_id=person.team_id,
            content=insight.text,
            memory_type=MemoryType.INSIGHT,
            importance=IMPORTANCE,
            extractor=f"{EXTRACTOR}:{insight.writer}",
            created_at=now,
            category=CATEGORY,
            subject=insight.topic,
            tags=tuple(masked_note(tag) for tag in insight.tags),
            people=(str(person),),
            end_user_id=person.pk,
            project_id=project_id,
            message_ids=tuple(dict.fromkeys([*insight.message_ids, *said]))[:_MOST_SOURCES],
            check=False,
            needs_consent=False,
            source=strongest(rests_on),
            replaces=tuple(row.pk for row in of_topic if row.is_live),
        )
        drafts.append((draft, insight.memory_ids))
    return drafts


def _says_the_same(row: Memory, insight: WrittenInsight) -> bool:
    if normalise_text(row.content) == normalise_text(insight.text):
        return True
    # What was counted is told in the same words each time; of it the topic decides.
    return not insight.topic and shared_words(row.content, insight.text) >= _SAME


def _store(
    person: EndUser,
    prepared: Sequence[PreparedDraft],
    sources: Sequence[Collection[UUID]],
    tools: Tools,
) -> list[Memory]:
    """Write what still rests on memories that stand, if it is still wanted."""
    team_id = person.team_id
    with team_scope(team_ids=[team_id], actor=ACTOR, reason="drawn from what is known"):
        flags = flags_of_id(team_id=team_id)
        wants = EndUser.objects.filter(team_id=team_id, pk=person.pk, has_insights=True).exists()
        if not (flags.memory and flags.insights and wants):
            return []
        gone = set(
            Memory.objects.filter(team_id=team_id, pk__in={each for ids in sources for each in ids})
            .filter(status=Status.SOFT_DELETED.value)
            .values_list("pk", flat=True)
        )
        kept = [pair for pair in zip(prepared, sources, strict=True) if gone.isdisjoint(pair[1])]
        viewer = Viewer(team_id=team_id, actor=ACTOR)
        results = store(viewer=viewer, prepared=[item for item, _ in kept], tools=tools)
        MemoryRelation.objects.bulk_create(
            MemoryRelation(
                team_id=team_id,
                from_memory=result.memory,
                to_memory_id=source,
                relation_type="derived_from",
                strength=_STRENGTH,
            )
            for result, (_, ids) in zip(results, kept, strict=True)
            for source in ids
        )
        event = Event(
            node="worker",
            op="insight",
            end_user_id=person.pk,
            meta={"written": len(results), "dropped": len(prepared) - len(results)},
        )
        record_events(team_id=team_id, events=[event])
        return [result.memory for result in results]


def _open_memories(person: EndUser, now: datetime) -> MemoryQuerySet:
    """Of the last four weeks, current, confirmed, about the person and for every agent.

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
    ).exclude(source__in=UNCONFIRMED)
    for allowed in _allowlists(person.team_id):
        rows = rows.filter(category__in=["", *allowed])
    return rows


def _evidence(person: EndUser, project_id: UUID | None, now: datetime) -> Evidence:
    zone = zone_of(team_id=person.team_id, now=now)
    in_project = Q(project_id__isnull=True) | Q(project_id=project_id)
    rows = _open_memories(person, now).filter(in_project)
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
        spoke_at=tuple((in_zone(row.created_at, zone), row.pk) for row in shared),
        names=tuple(agents.values_list("name", flat=True)),
    )


def _allowlists(team_id: UUID) -> list[Sequence[str]]:
    """The categories of each agent that reads some only, insights among them."""
    lists = Agent.objects.filter(team_id=team_id).values_list("allowed_categories", flat=True)
    return [each for each in lists if each and CATEGORY in each]


def _shared(team_id: UUID, said: Sequence[Message]) -> list[Message]:
    """Returns those that every agent may find: nothing that was confided or forgotten."""
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
    """The memory and what it took the place of over time, oldest first."""
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
        row.pk, row.content, in_zone(row.created_at, zone), row.conversation_id, row.subject
    )
