"""Finds the conversation of a chat request, with or without a thread id."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from memory.satellites.chat.asking import ChatAsk
from memory.satellites.chat.history import PARTIAL, external_id
from memory.satellites.chat.placing import chain_of
from memory.satellites.chat.wording import turns_of
from memory.writing.posting import open_conversation
from teams.errors import NotFoundError
from teams.models import Agent, Conversation, Message
from teams.services.conversations import lock_conversation
from teams.services.people import ensure_end_user, find_or_create_agent, slug_called
from teams.tenancy import hold_lock, wait_for_disk

# A conversation without a thread id is looked for among so many of the person's last ones.
_LOOKED_AT = 100
_ANSWERS_LOOKED_FOR = 4
# A client tries again within so long.
_RETRIED_WITHIN = timedelta(minutes=10)


def conversation_of(*, team_id: UUID, ask: ChatAsk) -> tuple[Conversation, bool]:
    """The conversation of a request, locked, and whether its agent was created for it.

    What the request names is created when new. Without a thread id it is the conversation that
    holds the history the request brings; a request without history begins a new one, unless it is
    being answered already, or is a client's retry. Call it in scope.
    """
    found = _known_thread(team_id, ask)
    if found is not None:
        if ask.project_ids and found.project_id not in (None, *ask.project_ids):
            raise NotFoundError("There is no such thread for this key.", field="thread_id")
        return found, False
    agent, is_new_agent = find_or_create_agent(team_id=team_id, slug=ask.agent)
    found = _found_by_history(team_id, agent, ask)
    if found is not None:
        return found, is_new_agent
    conversation, is_new = open_conversation(
        team_id=team_id,
        agent=ask.agent,
        user=ask.user,
        project=ask.project,
        thread_id=ask.thread_id,
        project_ids=ask.project_ids,
    )
    if is_new:
        # Another request may rely on the new conversation without writing anything itself.
        wait_for_disk()
    locked = lock_conversation(team_id=team_id, conversation_id=conversation.pk)
    return locked, is_new_agent


def _known_thread(team_id: UUID, ask: ChatAsk) -> Conversation | None:
    """The conversation of the thread id, locked, where it is known."""
    if ask.thread_id is None:
        return None
    rows = Conversation.objects.select_for_update(of=("self",)).filter(
        team_id=team_id,
        agent__slug=slug_called(team_id=team_id, name=ask.agent),
        end_user__external_id=ask.user,
        thread_id=ask.thread_id,
    )
    found = rows.select_related("team", "agent", "end_user", "project").first()
    if found is not None and found.end_user.is_erased:
        raise NotFoundError("There is no such conversation.", field="user")
    return found


def _found_by_history(team_id: UUID, agent: Agent, ask: ChatAsk) -> Conversation | None:
    turns = [
        turn
        for message in ask.messages
        for turn in turns_of(message, most_chars=settings.MAX_CONTENT_CHARS)
        if turn.role != "system"
    ]
    if ask.thread_id is not None or not turns:
        return None
    end_user = ensure_end_user(team_id=team_id, external_id=ask.user)
    digests = [turn.digest for turn in turns]
    answers = [index for index, turn in enumerate(turns) if turn.role == "assistant"]
    # Requests that begin alike wait for each other, to find each other's conversations.
    hold_lock(f"chat|{team_id}|{agent.pk}|{end_user.pk}|{digests[0]}")
    recent = Conversation.objects.filter(team_id=team_id, agent=agent, end_user=end_user)
    ids = list(recent.order_by("-created_at").values_list("id", flat=True)[:_LOOKED_AT])
    if answers:
        found = _with_history(team_id, ids, digests, answers)
    else:
        found = _being_asked(team_id, ids, digests, ask)
    if found is None:
        return None
    return lock_conversation(team_id=team_id, conversation_id=found)


def _with_history(
    team_id: UUID, ids: Sequence[UUID], digests: Sequence[str], answers: Sequence[int]
) -> UUID | None:
    """The conversation with the latest of the answers; else one with the last two turns."""
    chains = chain_of(digests)
    looked_for = [answers[0], *answers[-_ANSWERS_LOOKED_FOR:]]
    depths = {
        external_id(chains[index], digests[index], mark): index
        for index in looked_for
        for mark in ("", PARTIAL)
    }
    rows = Message.objects.filter(team_id=team_id, conversation_id__in=ids)
    found = rows.filter(external_id__in=depths).values_list("conversation_id", "external_id")
    known = {conversation: depths[row_id] for conversation, row_id in found if row_id}
    order = {conversation: place for place, conversation in enumerate(ids)}
    for conversation, row_id in found:
        known[conversation] = max(known[conversation], depths[str(row_id)])
    if known:
        return max(known, key=lambda each: (known[each], -order[each]))
    # A client that sends the end of its history alone: two turns of it must stand there together.
    last = answers[-1]
    pair = digests[max(0, last - 1) : last + 1]
    if len(pair) < 2:
        return None
    answered = rows.filter(_has(pair[1])).values_list("conversation_id", "position")
    for conversation, position in sorted(answered, key=lambda each: order[each[0]]):
        before = rows.filter(_has(pair[0]), conversation_id=conversation, position__lt=position)
        if before.exists():
            return conversation
    return None


def _has(digest: str) -> Q:
    return Q(external_id__startswith="chat.", external_id__contains=f".{digest}")


def _being_asked(
    team_id: UUID, ids: Sequence[UUID], digests: Sequence[str], ask: ChatAsk
) -> UUID | None:
    """The conversation that holds exactly this request: unanswered, or answered meanwhile."""
    chain = chain_of(digests)[-1]
    asked = Message.objects.filter(
        team_id=team_id, conversation_id__in=ids, external_id=external_id(chain, digests[-1])
    ).values_list("conversation_id", "position", "received_at")
    order = {conversation: place for place, conversation in enumerate(ids)}
    for conversation, position, received_at in sorted(asked, key=lambda each: order[each[0]]):
        later = Message.objects.filter(
            team_id=team_id, conversation_id=conversation, position__gt=position
        ).order_by("position")
        since: datetime = ask.asked_at
        if ask.is_retry and received_at > ask.asked_at - _RETRIED_WITHIN:
            since = received_at
        answers = list(later.values_list("role", "received_at", "external_id")[:2])
        if not answers:
            return conversation
        (role, answered_at, row_id), *others = answers
        is_partial = row_id is not None and row_id.endswith(f".{PARTIAL}")
        if role == "assistant" and not others and (answered_at >= since or is_partial):
            return conversation
    return None
