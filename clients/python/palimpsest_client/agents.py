"""A `Session` of the OpenAI Agents SDK whose items are the messages of a conversation.

Messages are never changed and never removed, so a session is what its conversation says of it.
What people and agents say stands there as a message that memories are made of. An item that is more
than its words (a tool's call, a reasoning, a message with an id) is followed by a record: a system
message called `openai-agents` whose JSON has the item whole and says how many messages before it
the item also stands in. What `pop_item` and `clear_session` take away is named by such records too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from pydantic import BaseModel, NonNegativeInt, TypeAdapter

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.client import AsyncPalimpsest

RECORD = "openai-agents"
# Such a message is continued by the next one.
_CONTINUED = f"{RECORD}, continued"
# Before each part of a record, as the server takes none of blanks alone.
_SIGN = "|"
# What the server takes as a message, and as a request.
_MOST_CHARS = 32_000
_MOST_MESSAGES, _MOST_CHARS_IN_ALL = 500, 2_000_000
Json = Mapping[str, Any]  # Any: an item is JSON


class _Stored(BaseModel):
    """An item, and how many messages before its record it also stands in."""

    told: NonNegativeInt
    item: dict[str, Any]  # Any: JSON


class _Popped(BaseModel):
    """The position of the last message of an item that was taken away."""

    popped: int


class _Cleared(BaseModel):
    """The position up to which all items were taken away."""

    cleared: int


_RECORD: TypeAdapter[_Stored | _Popped | _Cleared] = TypeAdapter(_Stored | _Popped | _Cleared)


class PalimpsestSession:
    """The items of a conversation between an agent and a person, for `Runner.run(session=…)`.

    `session_id` is the thread id of the conversation, which is opened with the first item; `agent`
    and `user` are as in `client.conversations.create`. Messages of other clients in the thread are
    items as well. Raises what the client raises.
    """

    def __init__(
        self,
        session_id: str,
        *,
        client: AsyncPalimpsest,
        agent: str,
        user: str,
        project: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._client = client
        self._thread = p.NewConversation(agent=agent, user=user, thread_id=session_id)
        if project is not None:
            self._thread["project"] = project
        self._conversation: UUID | None = None

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in their order: the last `limit`, or that of the settings, or all."""
        most = self.session_settings.limit if limit is None else limit
        items = [item for _, item in await self._items()]
        return items if most is None else items[max(0, len(items) - most) :] if most > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items behind the others, all at once or not at all.

        Longer than 500 messages or 2,000,000 characters, they are stored in several requests; no
        item may be longer by itself (RefusedError).
        """
        waiting: list[p.NewMessage] = []
        for item in items:
            messages = list(_messages_of(item))
            both = [*waiting, *messages]
            chars = sum(len(each["content"]) for each in both)
            if len(both) > _MOST_MESSAGES or chars > _MOST_CHARS_IN_ALL:
                await self._store(waiting)
                waiting = []
            waiting += messages
        await self._store(waiting)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item away from the session, and return it; None where there is none."""
        items = await self._items()
        if not items:
            return None
        position, item = items[-1]
        await self._store(list(_record({"popped": position})))
        return item

    async def clear_session(self) -> None:
        """Take all items away from the session; its conversation keeps every message."""
        items = await self._items()
        if items:
            await self._store(list(_record({"cleared": items[-1][0]})))

    async def _store(self, messages: list[p.NewMessage]) -> None:
        if not messages:
            return
        if self._conversation is None:
            self._conversation = (await self._client.conversations.create(**self._thread)).id
        await self._client.conversations.add_messages(self._conversation, messages=messages)

    async def _items(self) -> list[tuple[int, TResponseInputItem]]:
        """The items, each with the position of its last message."""
        if self._conversation is None:
            named = self._client.conversations.list(
                agent=self._thread["agent"], user=self._thread["user"], thread_id=self.session_id
            )
            found = [each async for each in named]
            if not found:
                return []
            self._conversation = found[0].id
        rows = self._client.conversations.messages(self._conversation, limit=_MOST_MESSAGES)
        return _items_of([row async for row in rows])


def _items_of(rows: Iterable[m.Message]) -> list[tuple[int, TResponseInputItem]]:
    """Returns the items that the messages of a conversation record, with positions, in order."""
    found: list[tuple[int, Any]] = []  # Any: an item is one of many kinds
    written = ""
    for row in rows:
        if row.role != "system" or row.name not in (RECORD, _CONTINUED):
            if row.role in ("user", "assistant", "tool"):
                found.append((row.position, {"role": row.role, "content": row.content}))
            continue
        if not row.content.startswith(_SIGN):
            continue
        part = row.content[len(_SIGN) :]
        written += part
        if row.name == _CONTINUED:
            continue
        # What goes before may be another client's.
        record, written = _read(written) or _read(part), ""
        if isinstance(record, _Stored):
            del found[max(0, len(found) - record.told) :]
            found.append((row.position, record.item))
        elif isinstance(record, _Popped):
            found = [each for each in found if each[0] != record.popped]
        elif isinstance(record, _Cleared):
            found = [each for each in found if each[0] > record.cleared]
    # A tool's answer that no record follows came by another client, and is no item.
    return [(at, item) for at, item in found if item.get("role") != "tool"]


def _messages_of(item: TResponseInputItem) -> Iterator[p.NewMessage]:
    given: Any = item  # Any: an item is one of many kinds
    role, text = _words_of(given)
    is_plain = given == {"role": role, "content": text} and role != "tool"
    texts = [part for part in _parts(text) if _is_told(part)] if role else []
    if is_plain and texts == [text]:
        yield {"role": role, "content": text}
        return
    for part in texts:
        yield {"role": role, "content": part}
    yield from _record({"told": len(texts), "item": given})


def _words_of(item: Json) -> tuple[Any, str]:  # Any: a role, or None
    """Returns the speaker and text of an item; reasoning, which is not said, has no speaker."""
    kind, role = item.get("type", "message"), item.get("role")
    if kind == "message" and role in ("user", "assistant"):
        return role, _text(item.get("content"))
    if kind == "function_call":
        return "assistant", f"[calls {item.get('name')} {item.get('arguments')}]"
    if kind == "function_call_output":
        return "tool", _text(item.get("output"))
    return None, ""


def _text(content: Any) -> str:  # Any: as above
    if isinstance(content, str):
        return content
    parts = [each for each in content or () if isinstance(each, Mapping)]
    texts = [each.get("text") or each.get("refusal") for each in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_told(text: str) -> bool:
    """Returns whether the server accepts the text as a message."""
    has_signs = any(char.isprintable() and not char.isspace() for char in text)
    return has_signs and "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _record(record: Json) -> Iterator[p.NewMessage]:
    parts = [_SIGN + part for part in _parts(json.dumps(record), _MOST_CHARS - len(_SIGN))]
    for part in parts[:-1]:
        yield {"role": "system", "name": _CONTINUED, "content": part}
    yield {"role": "system", "name": RECORD, "content": parts[-1]}


def _read(text: str) -> _Stored | _Popped | _Cleared | None:
    """The record; None for what another client wrote under its name and is none."""
    try:
        # The standard library's reader takes half surrogates, which models send.
        return _RECORD.validate_python(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _parts(text: str, size: int = _MOST_CHARS) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
