"""Runs of episode jobs: a sitting of talk written as one memory of form `episode`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from audit.services.events import record_events
from memory.domain.audience import Audience, Viewer
from memory.domain.episodes import Sitting, Told, WrittenEpisode, has_substance
from memory.domain.forms import Form
from memory.domain.secrets import mask_secrets
from memory.domain.talk import SUMMARY_TAG
from memory.domain.types import Asker, MemoryType, Point
from memory.models import Compaction, Job, Memory, MessageEntry
from memory.satellites.episodes.artifacts import artifacts_in
from memory.satellites.episodes.sittings import ACTOR, SPOKEN
from memory.selectors.zones import zone_of
from memory.understanding.tools import Tools
from memory.writing.background import run_write
from memory.writing.drafts import MemoryDraft, PreparedDraft
from memory.writing.jobs import Run, unchanged
from memory.writing.outcomes import job_event
from memory.writing.secrets import safe_statement
from memory.writing.summaries import summary_basis
from memory.writing.windows import (
    MessageRange,
    as_source,
    load_range,
    participants_of,
    person_of,
    stays_with_agent,
    told_in_confidence,
)
from memory.writing.write_path import prepare, store
from teams.errors import InvalidError
from teams.tenancy import team_scope

EXTRACTOR = "episode"
IMPORTANCE = 5


def make_episode(run: Run, *, tools: Tools, now: datetime) -> UUID | None:
    """Make the episode of a job; return the id of its memory.

    The memory and the end of the job are one transaction. A sitting without substance ends the job
    without a memory.
    """
    job = run.job
    with team_scope(team_ids=[job.team_id], actor=ACTOR):
        source = load_range(
            conversation=job.conversation,
            first=job.from_position,
            last=job.to_position,
            zone=zone_of(team_id=job.team_id, now=now),
        )
        audiences = _audiences(job, source)
    told = next((each for each in audiences if has_substance(each.sitting)), None)
    written = tools.episodes.write(told.sitting) if told else None
    draft = _draft(source, told, written) if told and written else None
    prepared = prepare(drafts=[draft], tools=tools) if draft else []
    return run_write(partial(_finish, job, prepared, tools, now))


@dataclass(frozen=True, slots=True)
class _Audience:
    """A sitting as one circle of readers may be told of it."""

    sitting: Sitting
    is_private: bool


def _audiences(job: Job, source: MessageRange) -> list[_Audience]:
    """The sitting for all who see what is learned there, and what only the agent was told.

    What a deleted memory was made of is in neither.
    """
    conversation = job.conversation
    ids = [row.pk for row in source.messages]
    entries = MessageEntry.objects.filter(team_id=job.team_id, message_id__in=ids)
    forgotten = set(entries.filter(is_forgotten=True).values_list("message_id", flat=True))
    left = set(ids) - forgotten
    if conversation.agent.keeps_to_itself:
        return [_audience(job, source, left, is_private=False)]
    own = Memory.objects.filter(
        team_id=job.team_id, conversation=conversation, memory_type=MemoryType.AGENT_PRIVATE
    )
    private = {each for row in own.values_list("source_message_ids", flat=True) for each in row}
    private |= set(
        entries.filter(audience=Audience.AGENT.value).values_list("message_id", flat=True)
    )
    private |= told_in_confidence(source.said, participants=participants_of(conversation))
    return [
        _audience(job, source, left - private, is_private=False),
        _audience(job, source, left & private, is_private=True),
    ]


def _audience(
    job: Job, source: MessageRange, ids: Collection[UUID], *, is_private: bool
) -> _Audience:
    conversation = job.conversation
    participants = participants_of(conversation)
    people = {True: str(conversation.end_user), False: conversation.agent.name}
    told = tuple(
        Told(
            id=row.pk,
            speaker=row.name or people[row.role == "user"],
            text=mask_secrets(text=row.content),
            said_at=row.created_at,
            is_persons=participants.is_person(as_source(row)),
        )
        for row in source.messages
        if row.pk in ids and row.role in SPOKEN
    )
    points = summary_basis(
        conversation=conversation, previous=None, first=job.from_position, last=job.to_position
    ).points
    asker = Asker(job.team_id, conversation.agent_id, conversation.end_user_id)
    kept = _readable(points, job.team_id, is_private=is_private) if told else ()
    # Its summary was made of these memories: they are not made into a second text.
    is_summed_up = bool(kept) and _is_summed_up(job)
    return _Audience(Sitting(told, kept, asker, is_summed_up), is_private)


def _is_summed_up(job: Job) -> bool:
    """Whether one compaction summed up all of the messages."""
    rows = Compaction.objects.filter(
        team_id=job.team_id,
        conversation=job.conversation,
        from_position__lte=job.from_position,
        to_position__gte=job.to_position,
    )
    return rows.exists()


def _readable(points: Collection[Point], team_id: UUID, *, is_private: bool) -> tuple[Point, ...]:
    """Those that the circle of readers may be told."""
    ids = {each for point in points for each in point.memory_ids}
    own = Memory.objects.filter(
        team_id=team_id, pk__in=ids, memory_type=MemoryType.AGENT_PRIVATE
    ).values_list("pk", flat=True)
    private = set(own)
    return tuple(each for each in points if is_private != private.isdisjoint(each.memory_ids))


def _draft(
    source: MessageRange, audience: _Audience, written: WrittenEpisode
) -> MemoryDraft | None:
    """The memory; None where nothing is left of it without secrets."""
    conversation, told = source.conversation, audience.sitting.told
    artifacts = artifacts_in(each.text for each in told)
    payload = {
        "title": written.title,
        "artifacts": [{"kind": kind.value, "ref": ref} for _, kind, ref in artifacts],
    }
    try:
        safe = safe_statement(
            text=written.narrative, text_field="content", form=Form.EPISODE, payload=payload
        )
    except InvalidError:
        return None
    ids = {*written.message_ids, *(told[number].id for number, _, _ in artifacts)}
    sources = [row for row in source.messages if row.pk in ids]
    person = person_of(sources, conversation=conversation, people=source.people)
    memory_type = MemoryType.AGENT_PRIVATE if audience.is_private else MemoryType.EPISODIC
    keeps_to_itself = conversation.agent.keeps_to_itself
    stays = stays_with_agent(memory_type, keeps_to_itself=keeps_to_itself)
    return MemoryDraft(
        team_id=conversation.team_id,
        content=safe.text,
        memory_type=memory_type,
        importance=IMPORTANCE,
        extractor=f"{EXTRACTOR}:{written.writer}",
        created_at=told[-1].said_at.astimezone(UTC),
        valid_from=told[0].said_at.astimezone(UTC),
        category="event",
        tags=(SUMMARY_TAG,),
        agent_id=conversation.agent_id if stays else None,
        author_id=conversation.agent_id,
        people=tuple(dict.fromkeys([str(person), *(each.speaker for each in told)])),
        end_user_id=person.pk,
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        message_ids=tuple(row.pk for row in sources),
        message_external_ids=tuple(row.external_id for row in sources if row.external_id),
        check=False,
        form=Form.EPISODE,
        payload=safe.payload,
    )


def _finish(job: Job, prepared: list[PreparedDraft], tools: Tools, now: datetime) -> UUID | None:
    """Store the episode, if there is one, and end the job, unless another run went on with it."""
    with team_scope(
        team_ids=[job.team_id],
        actor=ACTOR,
        reason=f"told messages {job.from_position} to {job.to_position} as an episode",
        conversation_id=job.conversation_id,
    ):
        mine = unchanged(job=job)
        if mine is None:
            return None
        viewer = Viewer(team_id=job.team_id, actor=ACTOR)
        results = store(viewer=viewer, prepared=prepared, tools=tools)
        made = results[0].memory.pk if results else None
        mine.state = Job.State.DONE
        mine.done_position, mine.left_out = mine.to_position, 0
        mine.finished_at, mine.error = now, ""
        mine.result = {"memory": str(made) if made else None}
        mine.save()
        record_events(team_id=job.team_id, events=[job_event(job, written=len(results))])
        return made
