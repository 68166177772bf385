"""From a range of messages, by both passes of an extractor, to drafts and figures."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from audit.services.events import Event
from memory.domain.judgements import judged_by_words, same_numbers
from memory.domain.profile_fields import filed_subject
from memory.domain.types import (
    Asker,
    Candidate,
    MemoryType,
    Participants,
    PassWork,
    Role,
    SourceMessage,
    Verdict,
)
from memory.models import Job
from memory.selectors.names import role_of
from memory.services.extraction.owners import (
    TeamFacts,
    owned,
    stays_with_agent,
    stored_type,
    team_facts,
)
from memory.services.extraction.speakers import people_beside_user, person_of
from memory.services.write.drafts import MemoryDraft
from memory.understanding.ports import ReviewingExtractor, TellingExtractor
from memory.understanding.quoting import Said, confided
from memory.understanding.tools import Tools
from teams.models import Conversation, EndUser, Message
from teams.tracing import step

CONTEXT_MESSAGES = 12


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Messages to extract and the earlier ones that give them context.

    `role` is what the person is to the team, `people` are those of `people_beside_user`. The
    earlier ones that are `set_aside` give no context.
    """

    conversation: Conversation
    messages: tuple[Message, ...]
    context: tuple[Message, ...]
    team: TeamFacts = TeamFacts.NEVER
    role: str = ""
    people: Mapping[str, EndUser] = field(default_factory=dict)
    set_aside: tuple[Message, ...] = ()

    @property
    def said(self) -> list[SourceMessage]:
        """All of it in its order, with what is set aside: it may ask for silence."""
        rows = (*self.context, *self.set_aside, *self.messages)
        return [as_source(row) for row in sorted(rows, key=lambda row: row.position)]


def load_range(*, conversation: Conversation, first: int, last: int, zone: tzinfo) -> MessageRange:
    """The messages numbered `first` to `last` and up to 12 before them; call it in scope.

    Those before that are set aside are no context, as they could fail this window too. Times are
    on the clock of the zone, so that "tonight" is the evening where it was said.
    """
    wanted = Q(position__gte=first - CONTEXT_MESSAGES, position__lte=last)
    aside = Job.objects.extractions().filter(
        team_id=conversation.team_id,
        conversation=conversation,
        state=Job.State.SET_ASIDE,
        to_position__gte=first - CONTEXT_MESSAGES,
        to_position__lt=first,
    )
    away = list(aside.values_list("from_position", "to_position"))
    read = load_messages(conversation=conversation, wanted=wanted, zone=zone)
    left = [row for row in read if any(start <= row.position <= end for start, end in away)]
    rows = [row for row in read if row not in left]
    role = role_of(team_id=conversation.team_id, end_user_id=conversation.end_user_id)
    return MessageRange(
        conversation=conversation,
        messages=tuple(row for row in rows if row.position >= first),
        context=tuple(row for row in rows if row.position < first),
        team=team_facts(conversation=conversation, role=role),
        role=role,
        people=people_beside_user(conversation=conversation),
        set_aside=tuple(left),
    )


def load_messages(*, conversation: Conversation, wanted: Q, zone: tzinfo) -> list[Message]:
    """The conversation's messages that are `wanted`, on the clock of the zone; call it in scope."""
    said = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    rows = list(said.filter(wanted).order_by("position"))
    for row in rows:
        row.created_at = row.created_at.astimezone(zone)
    return rows


def drafts_of(
    *,
    source: MessageRange,
    candidates: Sequence[Candidate],
    extractor: str,
    tags: Sequence[str] = (),
    ends_at: datetime | None = None,
) -> list[MemoryDraft]:
    """The candidates as drafts of their owners, with their exact provenance.

    Each has the `tags` beside its own and holds no longer than to `ends_at`.
    """
    conversation = source.conversation
    keeps_to_itself = conversation.agent.keeps_to_itself
    by_id = {row.id: row for row in (*source.context, *source.messages)}
    drafts = []
    for candidate in candidates:
        sources = [by_id[item] for item in candidate.message_ids if item in by_id]
        person = person_of(sources, conversation=conversation, people=source.people)
        said_at = max((row.created_at for row in sources), default=source.messages[-1].created_at)
        memory_type = stored_type(candidate.memory_type, keeps_to_itself=keeps_to_itself)
        stays = not candidate.is_of_team and stays_with_agent(
            memory_type, keeps_to_itself=keeps_to_itself
        )
        drafts.append(
            MemoryDraft(
                team_id=conversation.team_id,
                content=candidate.content,
                memory_type=memory_type,
                importance=candidate.importance,
                confidence=candidate.confidence,
                is_pinned=candidate.is_pinned,
                subject=filed_subject(
                    memory_type=memory_type,
                    subject=candidate.subject,
                    sensitive_field=candidate.sensitive_field,
                ),
                category=candidate.category,
                tags=(*candidate.tags, *tags),
                agent_id=conversation.agent_id if stays else None,
                author_id=conversation.agent_id,
                people=()
                if candidate.is_of_team
                else tuple(
                    dict.fromkeys(filter(None, (str(person), *(row.name for row in sources))))
                ),
                end_user_id=None if candidate.is_of_team else person.pk,
                # Who a person is holds in every project.
                project_id=None
                if candidate.memory_type == MemoryType.USER_PROFILE
                else conversation.project_id,
                conversation_id=conversation.id,
                message_ids=tuple(row.id for row in sources),
                message_external_ids=tuple(row.external_id for row in sources if row.external_id),
                extractor=candidate.extractor or extractor,
                extraction_pass=candidate.extraction_pass,
                created_at=said_at.astimezone(UTC),
                valid_from=_earlier(candidate.valid_from, ends_at),
                valid_to=_earlier(candidate.valid_to, ends_at) or ends_at,
            )
        )
    return drafts


def _earlier(at: datetime | None, limit: datetime | None) -> datetime | None:
    """The time, or the limit where that comes first; None for no time."""
    return min(at, limit) if at and limit else at


def as_source(row: Message) -> SourceMessage:
    """The row as the domain reads it."""
    return SourceMessage(
        id=row.id,
        position=row.position,
        role=Role(row.role),
        content=row.content,
        created_at=row.created_at,
        name=row.name,
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What both passes found, and who did each stretch of them.

    `confided` are the ids of messages, of the context too, that were told in confidence.
    """

    candidates: tuple[Candidate, ...] = ()
    work: tuple[PassWork, ...] = ()
    confided: frozenset[UUID] = frozenset()


@step("extraction.read")
def find_candidates(*, source: MessageRange, tools: Tools) -> Found:
    """Both passes over the range, without what the second only says again; no transaction."""
    messages = [as_source(row) for row in source.messages]
    if not messages:
        return Found()
    context = [as_source(row) for row in source.context]
    conversation = source.conversation
    participants = participants_of(conversation, role=source.role)
    work: list[PassWork] = []
    extractor = tools.extractor
    is_telling = isinstance(extractor, TellingExtractor)
    if isinstance(extractor, TellingExtractor):
        asker = Asker(conversation.team_id, conversation.agent_id, conversation.end_user_id)
        extractor = extractor.telling(work.append, asker=asker)
    times = [time.perf_counter()]
    found = extractor.extract(messages=messages, context=context, participants=participants)
    times.append(time.perf_counter())
    if isinstance(extractor, ReviewingExtractor):
        second = extractor.review(
            messages=messages, context=context, participants=participants, first_pass=found
        )
        times.append(time.perf_counter())
        found = _merge(found, second, tools)
    if not is_telling:
        work = [
            PassWork(number, extractor.name, messages=len(messages), seconds=end - start)
            for number, (start, end) in enumerate(pairwise(times), 1)
        ]
    secret = told_in_confidence(source.said, participants=participants)
    candidates = owned(found, team=source.team, confided=secret)
    before = told_in_confidence(context, participants=participants)
    return Found(tuple(candidates), tuple(work), secret - before)


def participants_of(conversation: Conversation, *, role: str = "") -> Participants:
    """The participants of the conversation; `role` is its person's in the team."""
    user, agent = conversation.end_user.display_name, conversation.agent.slug
    return Participants(user=user, agent=agent, role=role)


def told_in_confidence(
    read: Sequence[SourceMessage], *, participants: Participants
) -> frozenset[UUID]:
    """The ids of those of the messages, in their order, that were told in confidence."""
    silent = confided([Said.of(each, participants) for each in read])
    return frozenset(each.id for each in read if each.id in silent)


def stood_in_events(*, source: MessageRange, found: Found) -> list[Event]:
    """One event for each stretch that was done by another than the one asked first."""
    return [
        Event(
            node="extract",
            op="stand_in",
            status="error",
            end_user_id=source.conversation.end_user_id,
            conversation_id=source.conversation.pk,
            meta={
                "pass": each.extraction_pass,
                "extractor": each.extractor,
                "problem": each.problem,
            },
        )
        for each in found.work
        if each.problem
    ]


def _merge(
    first: Sequence[Candidate], second: Sequence[Candidate], tools: Tools
) -> list[Candidate]:
    """The union of both passes; near-equal wordings of one fact (cosine > 0.95) stand once.

    A wording with another number is a candidate of its own, however near its vector.
    """
    candidates = [*first, *second]
    vectors = tools.embedder.embed([candidate.content for candidate in candidates])
    kept: list[int] = []
    for index in range(len(candidates)):
        nearness = vectors[kept] @ vectors[index] if kept else ()
        if not any(
            near > settings.DUPLICATE_SIMILARITY
            and _says_no_more(candidates[other].content, candidates[index].content)
            for near, other in zip(nearness, kept, strict=True)
        ):
            kept.append(index)
    return [candidates[index] for index in kept]


def _says_no_more(known: str, new: str) -> bool:
    """Whether both have the same numbers, and not the same words in another order."""
    if not same_numbers(known, new):
        return False
    judgement = judged_by_words(known, new)
    return judgement is None or judgement.verdict is Verdict.DUPLICATE
