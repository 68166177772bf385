"""The stored chat: finds its conversation, and stores each message and answer exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.rendering import estimate_tokens
from memory.satellites.chat.placing import Asked, Kept, Place, chain_of, last_chain, place
from memory.satellites.chat.requests import ChatAsk, Json
from memory.satellites.chat.wording import ROLES, Turn, tool_names, turns_of
from memory.understanding.tools import Tools
from memory.writing.posting import keep_messages, open_conversation
from teams.errors import NotFoundError
from teams.models import Agent, Conversation, Message
from teams.services.conversations import NewMessage, lock_again, lock_conversation
from teams.services.people import ensure_end_user, find_or_create_agent, slug_called
from teams.tenancy import hold_lock, wait_for_disk

# The external id of a row from a chat request: this prefix, its chain, its digest and a mark.
_ROW = "chat"
_LOOSE = "chat~"
PARTIAL = "partial"
_CONTINUING = "thread"
# So many of the last rows are compared; older ones are still found by their chains.
_COMPARED = 1000
_REMEMBERED, _REMEMBERED_TOKENS = 200, 8_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request's messages as they were stored.

    `positions` has the position of each message's last row, None for an empty message. `chain` is
    that of the last message, which the answer continues. `stored` counts the new rows.
    """

    conversation: Conversation
    positions: tuple[int | None, ...]
    chain: str
    stored: int


def record_request(
    *, viewer: Viewer, conversation: Conversation, ask: ChatAsk, now: datetime
) -> Recorded:
    """Store a request's new messages, and queue their extraction like that of any message.

    However often, and with however much history, a request is sent, each message is stored once.
    It becomes searchable together with its answer. Call it in the team's scope, with
    `conversation` locked.
    """
    names = tool_names(ask.messages)
    most = settings.MAX_CONTENT_CHARS
    turns = [
        (index, turn)
        for index, message in enumerate(ask.messages)
        for turn in turns_of(
            message, name=names.get(str(message.get("tool_call_id")), ""), most_chars=most
        )
    ]
    talk = [turn for _, turn in turns if turn.role != "system"]
    before = conversation.last_position
    asked = [Asked(turn.digest, turn.role == "assistant") for turn in talk]
    places = place(kept=_kept(conversation, asked, ask.asked_at), asked=asked)
    placed = iter(places)
    wanted = [_row_of(turn, None if turn.role == "system" else next(placed)) for _, turn in turns]
    fresh = [row for row in wanted if isinstance(row, NewMessage)]
    rows = iter(keep_messages(viewer=viewer, conversation=conversation, messages=fresh, now=now))
    positions: list[int | None] = [None] * len(ask.messages)
    for (index, _), row in zip(turns, wanted, strict=True):
        positions[index] = row if isinstance(row, int) else next(rows).position
    return Recorded(
        conversation=conversation,
        positions=tuple(positions),
        chain=last_chain(places),
        stored=conversation.last_position - before,
    )


def record_answer(
    *,
    viewer: Viewer,
    recorded: Recorded,
    message: Json,
    is_partial: bool,
    tools: Tools,
    now: datetime,
) -> Sequence[Message]:
    """Store an answer after the message it answers, once; an empty one is not stored.

    A partial answer, cut off by the client or the endpoint, is marked in its external id. Call it
    in the team's scope. Raises NotFoundError if the person was erased meanwhile.
    """
    turns = turns_of({**message, "role": "assistant"}, most_chars=settings.MAX_CONTENT_CHARS)
    if not turns:
        return []
    chains = chain_of([turn.digest for turn in turns], after=recorded.chain)
    lock_again(conversation=recorded.conversation)
    return keep_messages(
        viewer=viewer,
        conversation=recorded.conversation,
        messages=[
            NewMessage(
                role=turn.role,
                content=turn.text,
                external_id=external_id(chain, turn.digest, PARTIAL if is_partial else ""),
            )
            for turn, chain in zip(turns, chains, strict=True)
        ],
        now=now,
        tools=tools,
    )


def earlier_messages(*, recorded: Recorded, after: int) -> list[Message]:
    """Earlier messages, for a request that sends only new ones; call it in the team's scope.

    The latest up to 200 after position `after`, without tool results, within about 8,000 tokens:
    older ones are left to memory.
    """
    known = [position for position in recorded.positions if position is not None]
    rows = Message.objects.filter(
        team_id=recorded.conversation.team_id,
        conversation=recorded.conversation,
        role__in=("user", "assistant"),
        position__gt=after,
        position__lt=min(known, default=0),
    )
    found: list[Message] = []
    tokens = 0
    for row in rows.order_by("-position")[:_REMEMBERED]:
        tokens += estimate_tokens(row.content)
        if tokens > _REMEMBERED_TOKENS:
            break
        found.append(row)
    return found[::-1]


def external_id(chain: str, digest: str, mark: str = "") -> str:
    """The external id of a row that a chat request brought."""
    return ".".join(part for part in (_ROW, chain, digest, mark) if part)


def is_loose(row_id: str | None) -> bool:
    """Returns whether the external id belongs to a message outside the tree of turns."""
    return row_id is not None and row_id.startswith(_LOOSE)


def _row_of(turn: Turn, at: Place | None) -> NewMessage | int:
    """The message to store, or the position of its row where that is known."""
    if at is not None and at.position is not None:
        return at.position
    if at is None or at.chain is None:
        name = f"{_LOOSE}{turn.digest}"
    else:
        name = external_id(at.chain, turn.digest, _CONTINUING if at.is_continuing else "")
    return NewMessage(role=turn.role, content=turn.text, name=turn.name, external_id=name)


def _kept(conversation: Conversation, asked: Sequence[Asked], asked_at: datetime) -> list[Kept]:
    if not conversation.last_position:
        return []
    found = _rows_to_compare(conversation, asked)
    listed = [each for each in found if not is_loose(each[2])]
    # The words of rows that say their digest need not be read.
    foreign = [each[0] for each in listed if not _is_ours(each[2])]
    texts: dict[int, str] = {}
    if foreign:
        rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
        texts = dict(rows.filter(position__in=foreign).values_list("position", "content"))
    return [
        _kept_row(position, role, row_id, received_at >= asked_at, texts.get(position, ""))
        for position, role, row_id, received_at in listed
    ]


def _rows_to_compare(
    conversation: Conversation, asked: Sequence[Asked]
) -> list[tuple[int, str, str | None, datetime]]:
    """The turns; of a long conversation the last ones, and those of the request wherever they are.

    Each as its position, role, external id and time of arrival, in order.
    """
    rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    rows = rows.exclude(role="system").order_by("position")
    if conversation.last_position > _COMPARED:
        chains = chain_of([each.digest for each in asked])
        ids = [external_id(c, each.digest) for c, each in zip(chains, asked, strict=True)]
        near = Q(position__gt=conversation.last_position - _COMPARED)
        rows = rows.filter(near | Q(external_id__in=ids))
    return list(rows.values_list("position", "role", "external_id", "received_at"))


def _kept_row(position: int, role: str, row_id: str | None, is_new: bool, text: str) -> Kept:
    is_answer = role == "assistant"
    if row_id is None or not _is_ours(row_id):
        digest = Turn(ROLES[role], text).digest
        return Kept(position, digest, is_answer, is_open=is_answer and is_new)
    _, chain, digest, *marks = row_id.split(".")
    return Kept(
        position,
        digest,
        is_answer,
        chain,
        is_open=is_answer and (is_new or PARTIAL in marks),
        is_continuing=_CONTINUING in marks,
    )


def _is_ours(row_id: str | None) -> bool:
    return row_id is not None and row_id.startswith(f"{_ROW}.") and row_id.count(".") in {2, 3}


# A conversation without a thread id is looked for among so many of the person's last ones.
_LOOKED_AT = 100
_ANSWERS_LOOKED_FOR = 4
# A client tries again within so long.
_RETRIED_WITHIN = timedelta(minutes=10)


def conversation_of(*, team_id: UUID, ask: ChatAsk) -> tuple[Conversation, bool]:
    """The conversation of a request, locked, and whether its agent was created for it.

    What the request names is created when new. Without a thread id it is the conversation of its
    project that holds the history the request brings; a request without history begins a new one,
    unless it is being answered already, or is a client's retry. Call it in scope.
    """
    found = _known_thread(team_id, ask)
    if found is not None:
        if ask.project_ids and found.project_id not in (None, *ask.project_ids):
            raise NotFoundError("There is no such thread for this key.", field="thread_id")
        return found, False
    agent, is_new_agent = find_or_create_agent(team_id=team_id, slug=ask.agent, field="model")
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
    recent = (
        recent.filter(project__slug=ask.project) if ask.project else recent.filter(project=None)
    )
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
