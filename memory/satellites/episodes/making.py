"""Episodes: finds the sittings of talk that are over and writes each as one memory."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from operator import or_
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from audit.services.events import record_events
from memory.domain.artifacts import artifacts_in
from memory.domain.audience import Audience, Viewer
from memory.domain.episodes import (
    FEWEST_MESSAGES,
    Sitting,
    Told,
    WrittenEpisode,
    cut_into_sittings,
    has_substance,
)
from memory.domain.forms import Form
from memory.domain.retrieval.question import Asked
from memory.domain.secrets import mask_secrets
from memory.domain.talk import SUMMARY_TAG
from memory.domain.types import UNCONFIRMED, Asker, MemoryType, Point, Source
from memory.models import Compaction, Job, Memory, MessageEntry
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from memory.writing.background import run_write
from memory.writing.drafts import MemoryDraft, PreparedDraft
from memory.writing.jobs import UNFINISHED, Run, does_jobs, publish, unchanged
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
from teams.errors import InvalidError, NotFoundError
from teams.models import Conversation, Message, Team
from teams.models.people import erased_name
from teams.services.conversations import lock_conversation
from teams.tenancy import team_scope

ACTOR = "task:episodes"
RUN_TASK = "memory.satellites.episodes.tasks.run_episode_jobs"
SPOKEN = ("user", "assistant")
# A sitting of more messages is told in several episodes, each of which a model reads at once.
MOST_MESSAGES = 200
_READ_AT_ONCE = 2_000
EXTRACTOR = "episode"
IMPORTANCE = 5
_MOST_PROPOSED = 20


def queue_episodes(*, team_id: UUID, now: datetime, limit: int = 100) -> int:
    """Make a job for each sitting of talk that is over and not told yet; returns how many.

    A conversation is looked at once all of it is extracted and nobody has spoken in it for the
    team's rest; what was said in it before falls into sittings by the same measure, so that a late
    run makes the same episodes. Sittings of fewer than FEWEST_MESSAGES messages make none: the
    memories made of two sentences tell all that is in them. At most `limit` conversations, the
    oldest first, each in a transaction of its own; the next call goes on.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not does_jobs(team_id=team_id, kind=Job.Kind.EPISODE):
            return 0
        rest = _rest_of(team_id)
        ids = list(_rested(team_id, now, rest).order_by("id").values_list("id", flat=True)[:limit])
    made = 0
    for conversation_id in ids:
        # Its person may have been erased in between.
        with suppress(NotFoundError), team_scope(team_ids=[team_id], actor=ACTOR):
            made += _queue(
                lock_conversation(team_id=team_id, conversation_id=conversation_id), rest
            )
    return made


def _rest_of(team_id: UUID) -> timedelta:
    """Returns the length of the pause between two sittings."""
    hours = Team.objects.values_list("episode_rest_hours", flat=True).get(pk=team_id)
    return timedelta(hours=hours or settings.EPISODE_REST_HOURS)


def _rested(team_id: UUID, now: datetime, rest: timedelta) -> QuerySet[Conversation, Conversation]:
    latest = Message.objects.filter(
        received_at__lte=now - rest,
        team_id=team_id,
        conversation=OuterRef("pk"),
        position=OuterRef("last_position"),
    )
    extracting = Job.objects.extractions().filter(
        team_id=team_id, conversation=OuterRef("pk"), state__in=UNFINISHED
    )
    rows = Conversation.objects.filter(
        Exists(latest),
        ~Exists(extracting),
        team_id=team_id,
        extracted_position=F("last_position"),
        episode_position__lt=F("last_position"),
    )
    # Nothing is told of who was erased.
    return rows.exclude(end_user__external_id=erased_name("end_user__"))


def _queue(conversation: Conversation, rest: timedelta) -> int:
    """Jobs for the sittings of a locked conversation from where the last look ended."""
    rows = Message.objects.filter(
        team_id=conversation.team_id,
        conversation=conversation,
        position__gt=conversation.episode_position,
    ).order_by("position")
    said = list(rows.values_list("position", "created_at", "role")[:_READ_AT_ONCE])
    ranges = cut_into_sittings([row[:2] for row in said], rest=rest, most=MOST_MESSAGES)
    if said and said[-1][0] < conversation.last_position:
        ranges.pop()  # it may go on behind what was read
    spoken = [position for position, _, role in said if role in SPOKEN]
    made = 0
    for first, last in ranges:
        if sum(first <= position <= last for position in spoken) >= FEWEST_MESSAGES:
            Job.objects.create(
                team_id=conversation.team_id,
                conversation=conversation,
                kind=Job.Kind.EPISODE,
                from_position=first,
                to_position=last,
                is_capped=False,
            )
            made += 1
        conversation.episode_position = last
    conversation.save(update_fields=["episode_position"])
    if made:
        publish(team_id=conversation.team_id, kind=Job.Kind.EPISODE)
    return made


def make_episode(run: Run, *, tools: Tools, now: datetime) -> UUID | None:
    """Makes the episode of a job and ends the job; returns the id of its memory, if any."""
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
    """The sitting for all who see what is learned there, and what only the agent was told."""
    conversation = job.conversation
    ids = {row.pk for row in source.messages}
    entries = MessageEntry.objects.filter(team_id=job.team_id, message_id__in=ids)
    left = ids.difference(entries.filter(is_forgotten=True).values_list("message_id", flat=True))
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
        if row.pk in ids and row.role in SPOKEN and row.source not in UNCONFIRMED
    )
    points = summary_basis(
        conversation=conversation, previous=None, first=job.from_position, last=job.to_position
    ).points
    asker = Asker(job.team_id, conversation.agent_id, conversation.end_user_id)
    kept = _readable(points, job.team_id, is_private=is_private) if told else ()
    # The summary of all messages was made of these memories: they are not made into a second text.
    summaries = Compaction.objects.filter(
        team_id=job.team_id,
        conversation=conversation,
        from_position__lte=job.from_position,
        to_position__gte=job.to_position,
    )
    is_summed_up = bool(kept) and summaries.exists()
    return _Audience(Sitting(told, kept, asker, is_summed_up), is_private)


def _readable(points: Collection[Point], team_id: UUID, *, is_private: bool) -> tuple[Point, ...]:
    ids = {each for point in points for each in point.memory_ids}
    own = Memory.objects.filter(team_id=team_id, pk__in=ids, memory_type=MemoryType.AGENT_PRIVATE)
    private = set(own.values_list("pk", flat=True))
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
        source=Source.PERSON if any(each.is_persons for each in told) else Source.AGENT,
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


def episodes_of(*, viewer: Viewer, asked: Asked) -> list[UUID]:
    """The latest episodes that the viewer may see of the periods asked about; call it in scope.

    However many memories there are since, and however little of the question is in their words.
    None for a day of no year: it would be of any.
    """
    ahead = timedelta(seconds=asked.ahead)
    periods = [
        Q(created_at__gte=each.start - ahead, created_at__lt=each.end - ahead)
        for each in asked.periods
        if not each.yearly
    ]
    if not periods:
        return []
    rows = Memory.objects.visible_to(viewer).searchable(include_cold=False)
    found = rows.filter(reduce(or_, periods), form=Form.EPISODE.value).order_by("-id")
    return list(found.values_list("id", flat=True)[:_MOST_PROPOSED])
