"""Windows of messages: loaded, read by both passes of an extractor, and turned into drafts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from itertools import pairwise
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Length

from memory.domain.artifacts import payload_as_said
from memory.domain.audience import TEAM_WIDE
from memory.domain.forms import Form
from memory.domain.judgements import judged_by_words, same_numbers
from memory.domain.profile_fields import filed_subject
from memory.domain.talk import other_speakers
from memory.domain.types import (
    NO_FOCUS,
    Asker,
    Candidate,
    Focus,
    MemoryType,
    Participants,
    PassWork,
    Role,
    Source,
    SourceMessage,
    Verdict,
    in_zone,
)
from memory.models import Job
from memory.selectors.names import role_of
from memory.understanding.ports import ReviewingExtractor, TellingExtractor
from memory.understanding.quoting import Said, confided
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from teams.models import Conversation, EndUser, Message
from teams.models import Role as TeamRole
from teams.services.team_settings import extraction_instructions_of, flags_of_id
from teams.tracing import step

CONTEXT_MESSAGES = 12
# The tag of a fact of the team that waits for a person's consent.
TEAM_FACT = "team-fact"
# What an agent learned alone, and its own ways of working.
_STAYS = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY, MemoryType.PROCEDURAL)


class TeamFacts(StrEnum):
    """The rule for facts of the team: they become the team's at once, after consent, or never."""

    NEVER = "never"
    ASKED = "asked"
    AT_ONCE = "at_once"


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Messages to extract and the earlier ones that give them context.

    `role` is the person's role in the team; `focus` the instructions of the team and the agent on
    what to extract; `people` are the end users who speak beside the
    conversation's own, by casefolded name. Earlier messages that were `skipped` give no context.
    """

    conversation: Conversation
    messages: tuple[Message, ...]
    context: tuple[Message, ...]
    team: TeamFacts = TeamFacts.NEVER
    role: str = ""
    focus: Focus = NO_FOCUS
    people: Mapping[str, EndUser] = field(default_factory=dict)
    skipped: tuple[Message, ...] = ()

    @property
    def said(self) -> list[SourceMessage]:
        """Returns all messages in order, skipped ones too: they may ask for silence."""
        rows = (*self.context, *self.skipped, *self.messages)
        return [as_source(row) for row in sorted(rows, key=lambda row: row.position)]


# -- loading ---------------------------------------------------------------------------------


def window_end(*, job: Job, first: int) -> int:
    """Returns the last message of the window that begins at `first`; call it in scope.

    At most EXTRACTION_WINDOW_MESSAGES messages of EXTRACTION_WINDOW_CHARACTERS together, but at
    least one, and only one where the job reads them one by one.
    """
    if first <= job.one_by_one_to:
        return first
    most = min(job.to_position, first + settings.EXTRACTION_WINDOW_MESSAGES - 1)
    rows = Message.objects.filter(
        team_id=job.team_id, conversation_id=job.conversation_id, position__range=(first, most)
    ).order_by("position")
    last, characters = first, 0
    for position, length in rows.values_list("position", Length("content")):
        characters += length
        if characters > settings.EXTRACTION_WINDOW_CHARACTERS:
            break
        last = position
    return last


def load_range(*, conversation: Conversation, first: int, last: int, zone: tzinfo) -> MessageRange:
    """Loads the messages numbered `first` to `last` and up to 12 before them; call it in scope.

    Skipped messages before them are no context, as they could fail this window too. Times are in
    the zone, so that "tonight" is the evening where it was said.
    """
    wanted = Q(position__gte=first - CONTEXT_MESSAGES, position__lte=last)
    skipped = Job.objects.extractions().filter(
        team_id=conversation.team_id,
        conversation=conversation,
        state=Job.State.SET_ASIDE,
        to_position__gte=first - CONTEXT_MESSAGES,
        to_position__lt=first,
    )
    ranges = list(skipped.values_list("from_position", "to_position"))
    read = _load(conversation=conversation, wanted=wanted, zone=zone)
    left = [row for row in read if any(start <= row.position <= end for start, end in ranges)]
    rows = [row for row in read if row not in left]
    role = role_of(team_id=conversation.team_id, end_user_id=conversation.end_user_id)
    return MessageRange(
        conversation=conversation,
        messages=tuple(row for row in rows if row.position >= first),
        context=tuple(row for row in rows if row.position < first),
        team=_team_facts(conversation, role),
        role=role,
        focus=Focus(
            team=extraction_instructions_of(team_id=conversation.team_id),
            agent=conversation.agent.extraction_instructions,
        ),
        people=_people_beside_user(conversation),
        skipped=tuple(left),
    )


def load_sources(*, job: Job, candidates: Iterable[Candidate], zone: tzinfo) -> MessageRange:
    """Loads the messages that the candidates name, and the job's last; call it in scope."""
    ids = {each for candidate in candidates for each in candidate.message_ids}
    wanted = Q(pk__in=ids) | Q(position=job.to_position)
    rows = _load(conversation=job.conversation, wanted=wanted, zone=zone)
    people = _people_beside_user(job.conversation)
    return MessageRange(job.conversation, tuple(rows), context=(), people=people)


def _load(*, conversation: Conversation, wanted: Q, zone: tzinfo) -> list[Message]:
    said = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    rows = list(said.filter(wanted).order_by("position"))
    for row in rows:
        row.created_at = in_zone(row.created_at, zone)
    return rows


def _team_facts(conversation: Conversation, role: str) -> TeamFacts:
    # A guest's words are never the team's.
    if conversation.agent.keeps_to_itself or role != TeamRole.MEMBER:
        return TeamFacts.NEVER
    is_at_once = flags_of_id(team_id=conversation.team_id).team_facts
    return TeamFacts.AT_ONCE if is_at_once else TeamFacts.ASKED


def _people_beside_user(conversation: Conversation) -> dict[str, EndUser]:
    """Returns the end users with the external ids of other speakers, by casefolded name."""
    said = Message.objects.filter(
        team_id=conversation.team_id, conversation=conversation, role=Role.USER.value, source=""
    ).exclude(name="")
    names = said.order_by("name").values_list("name", flat=True).distinct()
    others = other_speakers(names, user=conversation.end_user.names)
    if not others:
        return {}
    rows = EndUser.objects.filter(team_id=conversation.team_id, external_id__in=others)
    return {row.external_id.casefold(): row for row in rows}


def as_source(row: Message) -> SourceMessage:
    """Returns the message as the domain reads it."""
    return SourceMessage(
        id=row.id,
        position=row.position,
        role=Role(row.role),
        content=row.content,
        created_at=row.created_at,
        name=row.name,
        stated_source=row.source,
    )


# -- reading ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of both passes, and the work of each.

    `secret` are the ids of messages, of the context too, that were told in confidence; `confided`
    those of them that the context alone does not show to be.
    """

    candidates: Sequence[Candidate] = ()
    work: Sequence[PassWork] = ()
    secret: frozenset[UUID] = frozenset()
    confided: frozenset[UUID] = frozenset()


@step("extraction.read")
def find_candidates(*, source: MessageRange, tools: Tools) -> Found:
    """Reads the range in both passes and drops the second's repetitions; in no transaction."""
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
        extractor = extractor.telling(work.append, asker=asker, focus=source.focus)
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
    before = told_in_confidence(context, participants=participants)
    return Found(found, work, secret, secret - before)


def participants_of(conversation: Conversation, *, role: str = "") -> Participants:
    """Returns the participants of the conversation; `role` is its person's in the team."""
    user, agent = conversation.end_user.display_name, conversation.agent.slug
    return Participants(user=user, agent=agent, role=role)


def told_in_confidence(
    read: Sequence[SourceMessage], *, participants: Participants
) -> frozenset[UUID]:
    """Returns the ids of those of the messages, given in order, that were told in confidence."""
    silent = confided([Said.of(each, participants) for each in read])
    return frozenset(each.id for each in read if each.id in silent)


def _merge(
    first: Sequence[Candidate], second: Sequence[Candidate], tools: Tools
) -> list[Candidate]:
    """Returns both passes, with one of near-equal wordings (cosine > 0.95) of the same numbers."""
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
    if not same_numbers(known, new):
        return False
    judgement = judged_by_words(known, new)
    return judgement is None or judgement.verdict is Verdict.DUPLICATE


# -- drafts ----------------------------------------------------------------------------------


def person_of(
    sources: Iterable[Message], *, conversation: Conversation, people: Mapping[str, EndUser]
) -> EndUser:
    """Returns the one of `people` who said all sources, else the conversation's own end user."""
    names = {row.name.strip().casefold() for row in sources if row.is_users}
    if len(names) == 1:
        return people.get(names.pop(), conversation.end_user)
    return conversation.end_user


def stays_with_agent(memory_type: MemoryType, *, keeps_to_itself: bool) -> bool:
    """Returns whether a memory of the type belongs to the agent that learned it."""
    return keeps_to_itself or memory_type in _STAYS


def draft_of(
    candidate: Candidate, *, source: MessageRange, job: Job, extractor: str
) -> MemoryDraft:
    """Returns the candidate as a draft of its owner, with its exact provenance.

    It has the job's tags beside its own and ends when the job's memories do, at the latest.
    """
    conversation = source.conversation
    keeps_to_itself = conversation.agent.keeps_to_itself
    by_id = {row.id: row for row in (*source.context, *source.messages)}
    sources = [by_id[item] for item in candidate.message_ids if item in by_id]
    person = person_of(sources, conversation=conversation, people=source.people)
    said_at = max((row.created_at for row in sources), default=source.messages[-1].created_at)
    memory_type = candidate.memory_type
    if keeps_to_itself and memory_type in TEAM_WIDE:
        memory_type = MemoryType.SEMANTIC
    stays = stays_with_agent(memory_type, keeps_to_itself=keeps_to_itself)
    is_of_team = candidate.is_of_team
    is_profile = candidate.memory_type == MemoryType.USER_PROFILE
    names = filter(None, (str(person), *(row.name for row in sources)))
    form = Form(candidate.form) if candidate.form else None
    return MemoryDraft(
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
        tags=(*candidate.tags, *job.tags),
        agent_id=conversation.agent_id if stays and not is_of_team else None,
        author_id=conversation.agent_id,
        people=() if is_of_team else tuple(dict.fromkeys(names)),
        end_user_id=None if is_of_team else person.pk,
        # A person's profile holds in every project.
        project_id=None if is_profile else conversation.project_id,
        conversation_id=conversation.id,
        message_ids=tuple(row.id for row in sources),
        message_external_ids=tuple(row.external_id for row in sources if row.external_id),
        extractor=candidate.extractor or extractor,
        extraction_pass=candidate.extraction_pass,
        created_at=said_at.astimezone(UTC),
        valid_from=_earlier(candidate.valid_from, job.valid_to),
        valid_to=_earlier(candidate.valid_to, job.valid_to) or job.valid_to,
        form=form,
        payload=payload_as_said(form, candidate.content) if form else {},
        is_quoted=form is not None,
        source=Source(candidate.source) if candidate.source else Source.AGENT,
    )


def _earlier(at: datetime | None, limit: datetime | None) -> datetime | None:
    return min(at, limit) if at and limit else at
