"""Finds the sittings of talk that are over and gives each that is long enough to a job."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet

from memory.domain.episodes import FEWEST_MESSAGES, cut_into_sittings
from memory.models import Job
from memory.writing.jobs import UNFINISHED, does_jobs, publish
from teams.errors import NotFoundError
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
        rest = rest_of(team_id=team_id)
        ids = list(_rested(team_id, now, rest).order_by("id").values_list("id", flat=True)[:limit])
    made = 0
    for conversation_id in ids:
        # Its person may have been erased in between.
        with suppress(NotFoundError), team_scope(team_ids=[team_id], actor=ACTOR):
            made += _queue(
                lock_conversation(team_id=team_id, conversation_id=conversation_id), rest
            )
    return made


def rest_of(*, team_id: UUID) -> timedelta:
    """How long nobody speaks between two sittings; call it in the team's scope."""
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
