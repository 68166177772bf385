"""Storing a chat: each message that clients send, and each answer, exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.rendering import estimate_tokens
from memory.satellites.chat.asking import ChatAsk, Json
from memory.satellites.chat.placing import ROOT, Asked, Kept, Place, chain_of, place
from memory.satellites.chat.wording import ROLES, Turn, tool_names, turns_of
from memory.understanding.tools import Tools
from memory.writing.posting import keep_messages
from teams.models import Conversation, Message
from teams.services.conversations import NewMessage, lock_again

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
        chain=next((each.chain for each in reversed(places) if each.chain is not None), ROOT),
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
    """Whether the external id is one of a message outside the tree of turns."""
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
    """The turns of the log, oldest first."""
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
