"""Decides who finds extracted messages, and withdraws what a later message asks silence about."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Scope, Status
from memory.models import Job, Memory, MemoryRelation
from memory.models.memory import LIVE
from memory.selectors.names import role_of
from memory.understanding.quoting import Said, confided, told_to_team
from memory.understanding.tools import Tools
from memory.writing.consent import consent
from memory.writing.decisions.changes import delete_memory
from memory.writing.decisions.moving import Move, move_memory
from memory.writing.rules import CANDIDATES, as_private
from memory.writing.windows import CONTEXT_MESSAGES, MessageRange, as_source, participants_of
from teams.errors import ConflictError, NotFoundError
from teams.models import Conversation, Message, Role
from teams.prepared import run_prepared, uuids
from teams.services.conversations import lock_conversation
from teams.tenancy import team_scope

# Messages of a person before the range: they may announce a confidence, and the person's last one
# may not have been shared when it was extracted.
_PERSONS_BEFORE = 3
# The agent's row is locked, so that one that comes to keep to itself meanwhile withholds these too.
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

logger = logging.getLogger(__name__)


def share_extracted(
    *, job: Job, first: int, last: int, private: Collection[UUID], now: datetime
) -> None:
    """Settles the messages `first` to `last`, which the job has extracted; call it in its scope.

    `private` are the sources of candidates that belong to the agent alone, stored or not.
    """
    # Its person may have been erased in between.
    with suppress(NotFoundError):
        conversation = lock_conversation(team_id=job.team_id, conversation_id=job.conversation_id)
        # An import posts conversations of the past.
        is_over = not job.is_capped
        settle_sharing(
            conversation=conversation,
            first=first,
            last=last,
            now=now,
            is_over=is_over,
            private=private,
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
    """Shares the extracted messages up to `last` that are known not to be told in confidence.

    A member's statements for the team go to the team, the rest to the person. As a later message
    may still ask for silence about an earlier one, the person's last message, and the answers to
    it, are shared only once the person said more, or the conversation `is_over`, closed or at
    rest. Confided messages, and those of `private`, are withheld for good. `conversation` must be
    locked.
    """
    rows = _messages_around(conversation, first=first, last=last)
    role = role_of(team_id=conversation.team_id, end_user_id=conversation.end_user_id)
    participants = participants_of(conversation, role=role)
    said = [Said.of(source, participants) for source in map(as_source, rows)]
    secret = confided(said) | set(private)
    persons = [row.position for row, each in zip(rows, said, strict=True) if each.is_persons]
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
        of_team = told_to_team(said) if role == Role.MEMBER else set[UUID]()
        run_prepared(
            _SHARE,
            [conversation.team_id, conversation.agent_id, uuids(shared), uuids(list(of_team))],
        )


def _messages_around(conversation: Conversation, *, first: int, last: int) -> list[Message]:
    """Returns the range with its context, which begins with a person's message."""
    said = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    before = said.filter(position__lt=first, role="user", source="").order_by("-position")
    starts = list(before.values_list("position", flat=True)[:_PERSONS_BEFORE])
    start = starts[-1] if len(starts) == _PERSONS_BEFORE else 1
    around = said.filter(position__range=(start, last + CONTEXT_MESSAGES))
    return list(around.order_by("position"))


def _has_ended(conversation: Conversation, latest: Message, now: datetime) -> bool:
    rest = timedelta(minutes=settings.CONVERSATION_REST_MINUTES)
    closed_at = conversation.closed_at
    is_closed = closed_at is not None and latest.received_at <= closed_at
    return is_closed or latest.received_at <= now - rest


def withdraw_confided(
    *, source: MessageRange, confided: AbstractSet[UUID], tools: Tools, actor: str
) -> None:
    """Gives memories of earlier messages to the agent alone, where a later one asks for silence.

    `confided` are the ids of messages that were told in confidence. What the caps left out of those
    messages is written for the agent alone, too, and what waits for consent waits no longer. What
    the agent knows already, versions that are no longer true, and insights are deleted. Call it
    outside any transaction, before the range counts as extracted; again it changes nothing. A
    disputed memory stays until that is settled, and the log names it.
    """
    conversation = source.conversation
    earlier = confided & {row.pk for row in source.context}
    if not earlier:
        return
    viewer = Viewer(team_id=conversation.team_id, actor=actor)
    with team_scope(team_ids=[conversation.team_id], actor=actor):
        rows = list(
            Memory.objects.filter(
                team_id=conversation.team_id,
                conversation=conversation,
                agent=None,
                source_message_ids__overlap=list(earlier),
                status__in=(*LIVE, Status.SUPERSEDED, Status.ARCHIVED),
            )
        )
        insights = list(_insights_from(conversation.team_id, rows, earlier))
        _withdraw_waiting(conversation, earlier)
    of_several = consent().withdraw(
        conversation=conversation, message_ids=earlier, actor=actor, now=timezone.now()
    )
    why = "told in confidence"
    for insight in insights:
        with suppress(NotFoundError):
            delete_memory(viewer=viewer, memory_id=insight, reason=why)
    for row in (each for each in rows if each.pk not in of_several):
        move = Move(
            memory_type=MemoryType.AGENT_PRIVATE,
            agent=conversation.agent.slug,
            # The team's becomes its person's again, the only one who may hear it from the agent.
            scope=Scope.USER if row.end_user_id is None else None,
            is_agreed=True,
            is_withdrawn=True,
        )
        try:
            if row.is_live:
                move_memory(viewer=viewer, memory_id=row.pk, move=move, tools=tools, reason=why)
            else:
                delete_memory(viewer=viewer, memory_id=row.pk, reason=why)
        except NotFoundError:
            continue
        except ConflictError as error:
            if row.status == Status.DISPUTED:
                logger.warning("Memory %s, told in confidence, stays shared: %s", row.pk, error)
            else:
                delete_memory(viewer=viewer, memory_id=row.pk, reason=why)


def _insights_from(
    team_id: UUID, rows: Sequence[Memory], confided: AbstractSet[UUID]
) -> QuerySet[Memory, UUID]:
    """The ids of the shared insights that rest on these memories or messages; call it in scope."""
    derived = MemoryRelation.objects.filter(
        team_id=team_id, relation_type="derived_from", to_memory__in=[row.pk for row in rows]
    )
    found = Memory.objects.filter(
        Q(source_message_ids__overlap=list(confided)) | Q(pk__in=derived.values("from_memory_id")),
        team_id=team_id,
        agent=None,
        memory_type=MemoryType.INSIGHT,
        status__in=(*LIVE, Status.SUPERSEDED, Status.ARCHIVED),
    )
    return found.values_list("pk", flat=True)


def _withdraw_waiting(conversation: Conversation, confided: AbstractSet[UUID]) -> None:
    jobs = Job.objects.extractions().filter(
        team_id=conversation.team_id, conversation=conversation, left_out__gt=0
    )
    for job in jobs.select_for_update():
        candidates = CANDIDATES.validate_python(job.waiting)
        private = [
            each if confided.isdisjoint(each.message_ids) else as_private(each)
            for each in candidates
        ]
        if private != candidates:
            job.waiting = CANDIDATES.dump_python(private, mode="json")
            job.save(update_fields=["waiting"])
