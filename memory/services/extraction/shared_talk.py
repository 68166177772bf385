"""Decides the audience of extracted messages: the agent's, the person's or the team's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from memory.domain.types import Candidate, MemoryType
from memory.models import Job, MessageEntry
from memory.selectors.names import role_of
from memory.services.extraction.extraction import CONTEXT_MESSAGES, as_source, participants_of
from memory.understanding.quoting import Said, confided, told_to_team
from teams.errors import NotFoundError
from teams.models import Conversation, Message, Role
from teams.prepared import run_prepared, uuids
from teams.services.conversations import lock_conversation
from teams.tenancy import team_scope

# Before the messages in question so many that a person said: what announced a confidence, and the
# exchange whose end was open when it was extracted.
_PERSONS_BEFORE = 3
# The agent's row is held, so that one that comes to keep to itself at this moment withholds these
# messages too. What is decided stays: sharing is for what is not.
_SHARE = """
WITH hearer AS MATERIALIZED (
    SELECT keeps_to_itself FROM teams_agent WHERE team_id = $1 AND id = $2 FOR SHARE
)
UPDATE memory_messageentry e SET audience = CASE
    WHEN hearer.keeps_to_itself THEN 'agent'
    WHEN e.message_id = ANY ($4::uuid[]) THEN 'team'
    ELSE 'person'
END
FROM hearer
WHERE e.team_id = $1 AND e.message_id = ANY ($3::uuid[]) AND e.audience IS NULL
"""
_WITHHOLD = """
UPDATE memory_messageentry SET audience = 'agent'
WHERE team_id = $1 AND message_id = ANY ($2::uuid[]) AND audience IS DISTINCT FROM 'agent'
"""


def share_extracted(
    *, job: Job, first: int, last: int, candidates: Iterable[Candidate], now: datetime
) -> None:
    """Settle the messages `first` to `last`, which the job has extracted; call it in its scope.

    Those of a candidate that is private are withheld, whether it is stored or not.
    """
    try:
        conversation = lock_conversation(team_id=job.team_id, conversation_id=job.conversation_id)
    except NotFoundError:
        # Its person was erased in between.
        return
    settle_sharing(
        conversation=conversation,
        first=first,
        last=last,
        now=now,
        # An import posts what was said before.
        is_over=not job.is_capped,
        private={
            source
            for candidate in candidates
            if candidate.memory_type is MemoryType.AGENT_PRIVATE
            for source in candidate.message_ids
        },
    )


def settle_sharing(
    *,
    conversation: Conversation,
    first: int,
    last: int,
    now: datetime,
    is_over: bool = False,
    private: Collection[UUID] = (),
) -> None:
    """Share the extracted messages up to `last` that are known not to be told in confidence.

    What a member says for the team is the team's, the rest the person's. They begin a little before
    `first`, for what follows a message may still ask for silence about it. So the person's last
    message, and what is answered to it, is shared only once the person said more, or the talk
    `is_over`, closed or at rest. What is confided, and the messages of `private`, are withheld for
    good. `conversation` must be locked.
    """
    rows = _talk_around(conversation, first=first, last=last)
    role = role_of(team_id=conversation.team_id, end_user_id=conversation.end_user_id)
    participants = participants_of(conversation, role=role)
    told = [Said.of(source, participants) for source in map(as_source, rows)]
    secret = confided(told) | set(private)
    persons = [row.position for row, each in zip(rows, told, strict=True) if each.is_persons]
    if not persons:
        return
    is_whole = rows[-1].position == conversation.last_position
    if is_whole and (is_over or _has_ended(conversation, rows[-1], now)):
        known = conversation.last_position
    else:
        known = persons[-1] - 1
    done = list(
        Job.objects.extractions()
        .filter(
            team_id=conversation.team_id,
            conversation=conversation,
            to_position__gte=rows[0].position,
            from_position__lte=last,
        )
        .values_list("from_position", "done_position")
    )
    shared = [
        row.pk
        for row in rows
        if row.position <= min(known, last)
        and row.pk not in secret
        and any(start <= row.position <= end for start, end in done)
    ]
    withheld = [row.pk for row in rows if row.pk in secret]
    if withheld:
        run_prepared(_WITHHOLD, [conversation.team_id, uuids(withheld)])
    if shared:
        of_team = told_to_team(told) if role == Role.MEMBER else set[UUID]()
        run_prepared(
            _SHARE,
            [conversation.team_id, conversation.agent_id, uuids(shared), uuids(list(of_team))],
        )


def earlier_talk(*, team_id: UUID) -> QuerySet[Conversation]:
    """The extracted conversations with messages of which nobody decided who finds them.

    Not those of agents that keep to themselves; call it in scope.
    """
    undecided = MessageEntry.objects.filter(
        team_id=team_id,
        conversation=OuterRef("pk"),
        audience=None,
        position__lte=OuterRef("extracted_position"),
    )
    return Conversation.objects.filter(
        Exists(undecided), team_id=team_id, agent__keeps_to_itself=False
    ).order_by("id")


def share_earlier_talk(*, team_id: UUID, now: datetime, actor: str) -> None:
    """Share the messages of all these that are known not to be told in confidence."""
    with team_scope(team_ids=[team_id], actor=actor):
        ids = list(earlier_talk(team_id=team_id).values_list("id", flat=True))
    for conversation_id in ids:
        # Its person may have been erased in between.
        with suppress(NotFoundError), team_scope(team_ids=[team_id], actor=actor):
            conversation = lock_conversation(team_id=team_id, conversation_id=conversation_id)
            settle_sharing(
                conversation=conversation, first=1, last=conversation.last_position, now=now
            )


def _talk_around(conversation: Conversation, *, first: int, last: int) -> list[Message]:
    """The messages in question, those before that may speak of them, and those that follow.

    They begin with a person's, so that no answer is read without what it answers.
    """
    said = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    before = said.filter(position__lt=first, role="user").order_by("-position")
    starts = list(before.values_list("position", flat=True)[:_PERSONS_BEFORE])
    start = starts[-1] if len(starts) == _PERSONS_BEFORE else 1
    around = said.filter(position__range=(start, last + CONTEXT_MESSAGES))
    return list(around.order_by("position"))


def _has_ended(conversation: Conversation, latest: Message, now: datetime) -> bool:
    """Whether nothing more is to be said: closed since, or at rest."""
    rest = timedelta(minutes=settings.CONVERSATION_REST_MINUTES)
    closed_at = conversation.closed_at
    is_closed = closed_at is not None and latest.received_at <= closed_at
    return is_closed or latest.received_at <= now - rest
