"""Consent in talk: what an extraction finds of a person's profile, and what its people agree to."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import pairwise

from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.profile_fields import BENIGN_FIELDS, is_said_outright, matter_of
from memory.domain.types import Candidate, Participants, Role
from memory.models import Memory
from memory.satellites.consent.deciding import ACTOR, approve_request
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import (
    LIFETIME,
    SIGNALS_NEEDED,
    Proposal,
    draft_of,
    independent_signals,
    propose,
    propose_for_team,
    signals_of,
)
from memory.satellites.consent.values import is_same_value, states_value
from memory.selectors.people import present_values
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, Outcome, PreparedDraft, WriteResult
from memory.writing.rules import HELD, Ready, Refusal, Writing
from memory.writing.windows import TEAM_FACT, MessageRange, as_source, person_of
from teams.errors import ConflictError, NotFoundError
from teams.models import Message
from teams.services.team_settings import sensitive_fields_of
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

# The person asked for it to be remembered (seed 000).
_ASKED_TO_REMEMBER = 10
_NOT_NEW = (Outcome.DUPLICATE, Outcome.HELD, Outcome.SUPERSEDED)


def consent(ready: Ready, writing: Writing) -> Ready | Refusal:
    """Holds back a candidate that needs a yes, as a request; a rule of extraction.

    That is a first value of a sensitive field that the person did not state outright, or a benign
    field that only one conversation on one day states. The write path holds back what changes a
    guarded memory, for every source of memories.
    """
    item, source = ready.prepared, writing.window.source
    draft = item.draft
    if draft.end_user_id is None or not draft.subject.startswith("user."):
        return ready
    fields = sensitive_fields_of(team_id=draft.team_id)
    matter = _matter(draft, fields)
    needs_person = bool(matter)
    if matter:
        if _outright(source, ready.candidate, draft) or _present(draft, matter, fields):
            return ready  # the write path holds back what changes a value
        present = None
    else:
        benign = BENIGN_FIELDS.difference(fields)
        matter = _matter(draft, benign)
        if not matter or draft.importance >= _ASKED_TO_REMEMBER:
            return ready
        known = _present(draft, matter, benign)
        if any(
            is_same_value(new=draft.content, known=each.content, subject=each.subject)
            for each in known
        ):
            return ready
        present = known[0] if known else None
    propose(
        proposal=Proposal(
            draft=draft,
            key=item.key,
            matter=matter,
            end_user_id=draft.end_user_id,
            proposed_by=writing.actor,
            present=present,
            needs_person=needs_person,
        ),
        now=writing.now,
    )
    return HELD


def ask_for_team(
    written: Iterable[tuple[PreparedDraft, WriteResult]], actor: str, now: datetime
) -> None:
    """Asks whether the team may know what people said of it; until then it is the person's."""
    for item, result in written:
        if TEAM_FACT in item.draft.tags and result.outcome not in _NOT_NEW:
            propose_for_team(
                memory=result.memory,
                key=item.key,
                heard_by=item.draft.author_id,
                proposed_by=actor,
                now=now,
            )


def settle_in_talk(source: MessageRange, tools: Tools) -> None:
    """Applies requests that the talk or two signals agree to; call it in no transaction."""
    conversation = source.conversation
    people = {conversation.end_user_id, *(each.pk for each in source.people.values())}
    with team_scope(team_ids=[conversation.team_id], actor=ACTOR):
        rows = list(
            ConsentRequest.objects.filter(
                team_id=conversation.team_id,
                end_user_id__in=people,
                kind=ConsentRequest.Kind.PROFILE_FIELD,
                state=ConsentRequest.State.WAITING,
            ).select_related("present")
        )
    for row in rows:
        if not row.needs_person:
            actor = ACTOR if independent_signals(signals_of(row)) >= SIGNALS_NEEDED else ""
            note = "two independent signals"
        else:
            answer = _agreed(row, source)
            actor, note = (f"talk:{answer.pk}" if answer else ""), "agreed in talk"
        if actor:
            _approve(row, actor, note, tools)


def _approve(row: ConsentRequest, actor: str, note: str, tools: Tools) -> None:
    try:
        approve_request(
            viewer=Viewer(team_id=row.team_id, actor=actor),
            request_id=row.pk,
            tools=tools,
            now=timezone.now(),
            note=note,
        )
    except (ConflictError, NotFoundError) as error:
        logger.info("Consent request %s is not applied: %s", row.pk, error)


def _matter(draft: MemoryDraft, fields: Collection[str]) -> str:
    return matter_of(memory_type=draft.memory_type.value, subject=draft.subject, fields=fields)


def _present(draft: MemoryDraft, matter: str, fields: Collection[str]) -> list[Memory]:
    assert draft.end_user_id is not None
    return present_values(
        team_id=draft.team_id,
        end_user_id=draft.end_user_id,
        matter=matter,
        fields=fields,
        agent_id=draft.owner.agent_id,
    )


def _outright(source: MessageRange, candidate: Candidate, draft: MemoryDraft) -> bool:
    rows = [row for row in _read(source) if row.pk in draft.message_ids]
    persons = [row for row in rows if row.is_users]
    return is_said_outright(
        confidence=candidate.confidence,
        is_verbatim=candidate.is_verbatim,
        is_persons=any(
            person_of([row], conversation=source.conversation, people=source.people).pk
            == draft.end_user_id
            for row in persons
        ),
    )


def _agreed(row: ConsentRequest, source: MessageRange) -> Message | None:
    """The message of the person that states the value again, in answer to the agent.

    Those that the request was made of agree to nothing. A yes without the value is for the agent to
    bring, by the API.
    """
    conversation = source.conversation
    if row.agent_id not in (None, conversation.agent_id):
        return None
    since = draft_of(row).created_at
    told = {each.pk for each in source.messages if each.created_at >= since}
    # A run may have ended between storing an answer and applying it. What came before the request,
    # or before a decision on it was undone, is no answer to it.
    asked_at = row.expires_at - LIFETIME
    told |= {each.pk for each in source.context if each.received_at >= asked_at}
    told.difference_update(signals_of(row)[0].messages)
    for question, answer in pairwise(_read(source)):
        if (
            answer.pk in told
            and _is_exchange(question, answer, row, source)
            and states_value(question=question.content, answer=answer.content, value=row.content)
        ):
            return answer
    return None


def _is_exchange(
    question: Message, answer: Message, row: ConsentRequest, source: MessageRange
) -> bool:
    """Returns whether a message of the request's person follows an agent's message."""
    conversation = source.conversation
    participants = Participants(agent=conversation.agent.slug)
    person = person_of([answer], conversation=conversation, people=source.people)
    return (
        question.role == Role.ASSISTANT.value
        and not participants.is_person(as_source(question))
        and answer.is_users
        and answer.position == question.position + 1
        and person.pk == row.end_user_id
    )


def _read(source: MessageRange) -> Iterable[Message]:
    return [*source.context, *source.messages]
