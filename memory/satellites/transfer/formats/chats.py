"""Conversations that people exported from ChatGPT and Claude, and Letta's agent files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from memory.domain.types import MemoryType, Role
from memory.satellites.transfer.formats.items import (
    Given,
    ImportFileError,
    Item,
    ItemMaker,
    id_in,
    id_with_words,
    list_in,
    object_in,
)
from memory.satellites.transfer.transcripts import place_of

# What a person or a model says to the other, and no call of a tool.
_SAID = frozenset({"text", "multimodal_text"})
_SENDERS = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def chatgpt_conversation(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The branch of a conversation that was shown last, from its root to `current_node`.

    Its messages stand in a tree; what a person or the model said is taken, not what tools and the
    system did, nor pictures.
    """
    thread = id_in(given, "conversation_id" if given.get("conversation_id") else "id", place)
    at = make.time(given.get("create_time"), place_of(place, "create_time"))
    nodes = object_in(given.get("mapping"), place_of(place, "mapping"))
    for key in _branch(given, nodes, place_of(place, "mapping")):
        node_at = place_of(place_of(place, "mapping"), key)
        node = object_in(nodes[key], node_at)
        if node.get("message") is None:
            continue
        message = object_in(node["message"], node_at)
        author = object_in(message.get("author"), place_of(node_at, "author"))
        at = make.time(message.get("create_time"), place_of(node_at, "create_time")) or at
        if text := _said(message, author.get("role"), node_at):
            yield from make.messages(
                place=node_at,
                thread_id=thread,
                role=str(author["role"]),
                content=text,
                external_id=key,
                at=at,
            )


def _branch(given: Given, nodes: Given, place: str) -> list[str]:
    """The keys of the nodes from the root to the last one that was shown."""
    key: object = given.get("current_node")
    if key is None:
        # Without one, the last of those that nothing answers.
        leaves = [
            name for name, node in nodes.items() if not object_in(node, place).get("children")
        ]
        key = leaves[-1] if leaves else None
    found: dict[str, None] = {}
    while key is not None:
        if not isinstance(key, str) or key not in nodes:
            raise ImportFileError(f"{place}: There is no node {key!r}.")
        if key in found:
            raise ImportFileError(f"{place}: The node {key!r} is above itself.")
        found[key] = None
        key = object_in(nodes[key], place_of(place, key)).get("parent")
    return list(reversed(found))


def _said(message: Given, role: object, place: str) -> str:
    """The text of a message that was said aloud; "" for any other."""
    content = object_in(message.get("content"), place_of(place, "content"))
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    is_said = content.get("content_type") in _SAID and message.get("recipient") in (None, "all")
    if hidden or not is_said or role not in (Role.USER, Role.ASSISTANT):
        return ""
    parts = list_in(content, "parts", place_of(place, "content"))
    # What was spoken stands in an object with its text; pictures are objects without one.
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def claude_conversation(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The messages of a conversation in their order, with the text of their attachments."""
    thread = id_in(given, "uuid", place)
    begun = make.time(given.get("created_at"), place_of(place, "created_at"))
    for index, value in enumerate(list_in(given, "chat_messages", place)):
        message_at = f"{place_of(place, 'chat_messages')}[{index}]"
        message = object_in(value, message_at)
        sender = message.get("sender")
        if sender not in _SENDERS:
            raise ImportFileError(f"{message_at}.sender: Must be human or assistant.")
        texts = _texts(message.get("content"), message_at) or [message.get("text")]
        texts += [
            object_in(each, message_at).get("extracted_content")
            for each in list_in(message, "attachments", message_at)
        ]
        if text := "\n".join(each for each in texts if isinstance(each, str) and each.strip()):
            yield from make.messages(
                place=message_at,
                thread_id=thread,
                role=_SENDERS[sender],
                content=text,
                external_id=id_in(message, "uuid", message_at),
                at=make.time(message.get("created_at"), f"{message_at}.created_at") or begun,
            )


def letta_file(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The memory blocks and what was said of each agent; what tools and the system said is not.

    A block labelled `persona` is the agent's identity, one labelled `human` the user's profile,
    any other what the agent knows. Older files are of one agent, with its blocks in `core_memory`.
    """
    blocks = {
        str(object_in(each, "blocks").get("id")): each for each in list_in(given, "blocks", place)
    }
    agents = list_in(given, "agents", place) if "agents" in given else [given]
    for number, value in enumerate(agents):
        agent_at = f"agents[{number}]" if "agents" in given else "agent"
        agent = object_in(value, agent_at)
        name = make.names.agent or str(agent.get("name") or "")
        owner = {"agent": name} if name else {}
        thread = str(agent.get("id") or name or "letta")
        own = [blocks[each] for each in list_in(agent, "block_ids", agent_at) if each in blocks]
        own += list_in(agent, "core_memory", agent_at)
        for index, block in enumerate(own):
            block_at = f"{agent_at}.blocks[{index}]"
            if str(object_in(block, block_at).get("value") or "").strip():
                yield _block(block, block_at, make, owner=owner, thread=thread)
        for index, message in enumerate(list_in(agent, "messages", agent_at)):
            message_at = f"{agent_at}.messages[{index}]"
            yield from _letta_message(
                object_in(message, message_at), message_at, make, owner, thread, index
            )


def _block(block: Given, place: str, make: ItemMaker, *, owner: Given, thread: str) -> Item:
    label = str(block.get("label") or "")
    types = {"persona": MemoryType.IDENTITY, "human": MemoryType.USER_PROFILE}
    return make.memory(
        place=place,
        content=block["value"],
        external_id=id_with_words("letta", thread, block.get("id") or label, block["value"]),
        memory_type=types.get(label, MemoryType.SEMANTIC),
        tags=[label] if label else [],
        given=owner,
    )


def _letta_message(
    message: Given, place: str, make: ItemMaker, owner: Given, thread: str, index: int
) -> Iterator[Item]:
    role = message.get("role")
    content = message.get("content", message.get("text"))
    texts = [content] if isinstance(content, str) else _texts(content, place)
    text = "\n".join(each for each in texts if isinstance(each, str) and each.strip())
    text = _unpacked(text) if role == Role.USER else text
    if role not in (Role.USER, Role.ASSISTANT) or not text.strip():
        return
    at: datetime | None = make.time(message.get("created_at"), place_of(place, "created_at"))
    yield from make.messages(
        place=place,
        thread_id=thread,
        role=str(role),
        content=text,
        external_id=str(message.get("id") or f"position-{index + 1}"),
        at=at,
        given=owner,
    )


def _unpacked(text: str) -> str:
    """What the user said where Letta wrapped it in JSON; "" for what the system said so."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return text
    said = value.get("message") if value["type"] == "user_message" else None
    return said if isinstance(said, str) else ""


def _texts(content: object, place: str) -> list[object]:
    """The texts among the blocks of a message's content."""
    if content is None:
        return []
    if not isinstance(content, list):
        raise ImportFileError(f"{place_of(place, 'content')}: Expected a list.")
    blocks = [object_in(each, place_of(place, "content")) for each in content]
    return [each.get("text") for each in blocks if each.get("type", "text") == "text"]
