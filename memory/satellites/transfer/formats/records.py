"""Records of ChatGPT, Claude, Letta, mem0, Graphiti, LangGraph's store, JSON Lines and CSV."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

from memory.domain.types import MAX_TAG_CHARS, MemoryType, Role
from memory.satellites.transfer.formats.items import (
    Given,
    ImportFileError,
    Item,
    ItemMaker,
    id_in,
    id_of_words,
    id_with_words,
    list_in,
    object_in,
    place_of,
    printable,
    time_in,
)

# Content types of ChatGPT that a person or a model says to the other; others belong to tools.
_SAID = frozenset({"text", "multimodal_text"})
_SENDERS = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_LETTA_TYPES = {"persona": MemoryType.IDENTITY, "human": MemoryType.USER_PROFILE}
_ANY_TIME = datetime(9000, 1, 1, tzinfo=UTC)
# The fields of a value that hold its words, in the order in which they are looked for.
_WORDS = ("content", "text", "memory", "data", "value")
# What else a memory of JSON Lines may have.
_FORMED = ("form", "payload", "category", "source")
# Fields of a payload in mem0's vector store that are no metadata (mem0ai 2.2.1, Memory.get).
_OF_MEM0 = {"data", "hash", "created_at", "updated_at", "id", "text_lemmatized", "attributed_to"}
_OF_MEM0 |= {"user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date"}
# The label before a name in a namespace, and the owner that it names.
_OWNERS = {
    label: owner
    for owner in ("user", "agent", "project")
    for label in (owner, f"{owner}s", f"{owner}_id")
}


def chatgpt_conversation(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The branch of a conversation that was shown last, from its root to `current_node`.

    Its messages stand in a tree; those of people and the model are taken, without tools, the
    system and pictures.
    """
    thread = id_in(given, "conversation_id" if given.get("conversation_id") else "id", place)
    at = make.time(given, "create_time", place)
    place = place_of(place, "mapping")
    nodes = object_in(given.get("mapping"), place)
    for key in _branch(given.get("current_node"), nodes, place):
        node_at = place_of(place, key)
        node = object_in(nodes[key], node_at)
        if node.get("message") is None:
            continue
        message = object_in(node["message"], node_at)
        role = object_in(message.get("author") or {}, place_of(node_at, "author")).get("role")
        at = make.time(message, "create_time", node_at) or at
        if text := _said(message, role, node_at):
            yield from make.messages(
                place=node_at,
                thread_id=thread,
                role=str(role),
                content=text,
                external_id=key,
                at=at,
            )


def _branch(key: object, nodes: Given, place: str) -> list[str]:
    """The keys of the nodes from the root to the one of that key, by default the last leaf."""
    if key is None:
        leaves = [name for name in nodes if not object_in(nodes[name], place).get("children")]
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
    """The text of a message of a person or the model; "" for any other."""
    content = object_in(message.get("content") or {}, place_of(place, "content"))
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    is_said = content.get("content_type") in _SAID and message.get("recipient") in (None, "all")
    if hidden or not is_said or role not in (Role.USER, Role.ASSISTANT):
        return ""
    parts = list_in(content, "parts", place_of(place, "content"))
    # Spoken words stand in an object with their text; pictures are objects without one.
    return _joined(part.get("text") if isinstance(part, dict) else part for part in parts)


def claude_conversation(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The messages of a conversation in their order, with the text of their attachments."""
    thread = id_in(given, "uuid", place)
    begun = make.time(given, "created_at", place)
    for index, value in enumerate(list_in(given, "chat_messages", place)):
        message_at = f"{place_of(place, 'chat_messages')}[{index}]"
        message = object_in(value, message_at)
        sender = message.get("sender")
        if sender not in _SENDERS:
            raise ImportFileError(f"{message_at}.sender: Must be human or assistant.")
        content = message.get("content")
        # Beside blocks, `text` also says which of them the app did not show.
        texts = _texts(content, message_at) if content else [message.get("text")]
        texts += [
            object_in(each, message_at).get("extracted_content")
            for each in list_in(message, "attachments", message_at)
        ]
        if text := _joined(texts):
            yield from make.messages(
                place=message_at,
                thread_id=thread,
                role=_SENDERS[sender],
                content=text,
                external_id=id_in(message, "uuid", message_at),
                at=make.time(message, "created_at", message_at) or begun,
            )


def letta_file(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """The memory blocks of each agent, and its messages without those of tools and the system.

    A block labelled `persona` is the agent's identity, one labelled `human` the user's profile,
    any other a semantic memory. Older files are of one agent, with its blocks in `core_memory`.
    The ids in a file count from 0 in each, so the agent's name and the words are the ids here.
    """
    blocks = {
        str(object_in(each, "blocks").get("id")): each for each in list_in(given, "blocks", place)
    }
    agents = list_in(given, "agents", place) if "agents" in given else [given]
    for number, value in enumerate(agents):
        agent_at = f"agents[{number}]" if "agents" in given else "agent"
        agent = object_in(value, agent_at)
        own_name = printable(str(agent.get("name") or ""))
        name = own_name if len(agents) > 1 else make.names.agent or own_name
        owner = {"agent": name} if name else {}
        thread = f"letta:{own_name or name}"
        own = [blocks[each] for each in list_in(agent, "block_ids", agent_at) if each in blocks]
        for index, block in enumerate([*own, *list_in(agent, "core_memory", agent_at)]):
            block_at = f"{agent_at}.blocks[{index}]"
            words = object_in(block, block_at).get("value")
            label = str(block.get("label") or "")
            if str(words or "").strip():
                yield make.memory(
                    place=block_at,
                    content=words,
                    external_id=id_with_words(thread, label, words),
                    memory_type=_LETTA_TYPES.get(label, MemoryType.SEMANTIC),
                    tags=[label] if label else [],
                    given=owner,
                )
        repeats = Counter[tuple[str, ...]]()
        for index, each in enumerate(list_in(agent, "messages", agent_at)):
            message_at = f"{agent_at}.messages[{index}]"
            message = object_in(each, message_at)
            if (role := message.get("role")) not in (Role.USER, Role.ASSISTANT):
                continue
            content = message.get("content", message.get("text"))
            text = content if isinstance(content, str) else _joined(_texts(content, message_at))
            if role == Role.ASSISTANT and (sent := _sent(message, message_at)) is not None:
                text = sent
            said = (role, str(message.get("created_at") or ""), text)
            repeats[said] += 1
            yield from make.messages(
                place=message_at,
                thread_id=thread,
                role=role,
                content=_unpacked(text) if role == Role.USER else text,
                external_id=id_of_words(*said, str(repeats[said])),
                at=make.time(message, "created_at", message_at),
                given=owner,
            )


def _sent(message: Given, place: str) -> str | None:
    """The words that an agent sent by the tool `send_message`; None without such a call.

    The text of a message with this call is the agent's reasoning, which the user never saw.
    """
    sent = []
    for index, each in enumerate(list_in(message, "tool_calls", place)):
        call_at = f"{place_of(place, 'tool_calls')}[{index}]"
        call = object_in(object_in(each, call_at).get("function"), place_of(call_at, "function"))
        if call.get("name") == "send_message":
            arguments_at = place_of(call_at, "function.arguments")
            try:
                arguments = json.loads(call.get("arguments") or "{}")
            except (TypeError, ValueError):
                raise ImportFileError(f"{arguments_at}: Is not JSON.") from None
            sent.append(object_in(arguments, arguments_at).get("message"))
    return _joined(sent) if sent else None


def _unpacked(text: str) -> str:
    """The user's words where Letta wrapped them in JSON; "" for the system's."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return text
    said = value.get("message") if value["type"] == "user_message" else None
    return said if isinstance(said, str) else ""


def _texts(content: object, place: str) -> list[object]:
    place = place_of(place, "content")
    if content is not None and not isinstance(content, list):
        raise ImportFileError(f"{place}: Expected a list.")
    blocks = [object_in(each, place) for each in content or ()]
    return [each.get("text") for each in blocks if each.get("type", "text") == "text"]


def _joined(texts: Iterable[object]) -> str:
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _stated_at(given: Given, place: str, make: ItemMaker) -> datetime | None:
    """The time of the present text: that of its last change, else of its creation."""
    return make.time(given, "updated_at", place) or make.time(given, "created_at", place)


def _of_vector_store(given: Given, place: str) -> Given:
    """A row of mem0's vector store in the form of `get_all`, which has metadata by itself."""
    payload = object_in(given["payload"], place_of(place, "payload"))
    metadata = {name: each for name, each in payload.items() if name not in _OF_MEM0}
    own = {"id": given.get("id"), "memory": payload.get("data"), "metadata": metadata}
    return {**payload, **own}


def mem0_memory(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """A memory as mem0's `get_all` and exports have it, or a row of its vector store.

    Its categories become tags, and its metadata the tags that mem0's client makes of them
    (`topic="food"`); longer ones are left out.
    """
    if "payload" in given and "memory" not in given:
        given = _of_vector_store(given, place)
    metadata = object_in(given.get("metadata") or {}, place_of(place, "metadata"))
    flat = [
        f"{name}={json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in metadata.items()
    ]
    yield make.memory(
        place=place,
        content=given.get("memory"),
        external_id=id_with_words("mem0", id_in(given, "id", place), given.get("memory")),
        at=_stated_at(given, place, make),
        tags=[
            *list_in(given, "categories", place),
            *(tag for tag in flat if len(tag) <= MAX_TAG_CHARS),
        ],
        given={
            "user": given.get("user_id"),
            "agent": given.get("agent_id"),
            "project": given.get("app_id"),
        },
    )


def graphiti_edge(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """A fact as Graphiti and Zep dump their edges: it holds from `valid_at` until `invalid_at`.

    Its group is the person, its relation a tag. A fact without an end that Graphiti invalidated
    ended when it did so, at `expired_at`.
    """
    fact = given.get("fact")
    # A fact may hold from, or until, a day to come.
    until = partial(time_in, given, place=place, now=_ANY_TIME)
    yield make.memory(
        place=place,
        content=fact,
        external_id=id_with_words("graphiti", id_in(given, "uuid", place), fact),
        at=make.time(given, "created_at", place),
        tags=[str(given["name"])[:MAX_TAG_CHARS]] if given.get("name") else None,
        given={"user": given.get("group_id") or None},
        held=(until("valid_at"), until("invalid_at") or until("expired_at")),
    )


def langgraph_item(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """An item of a store: its value's words, or all of its value as JSON.

    LangMem has the words in an object under `content`.
    In its namespace, a name after `users`, `agents` or `projects` names the owner; the rest are
    tags.
    """
    namespace = [str(each) for each in list_in(given, "namespace", place)]
    owners, tags, label = {}, [], ""
    for part in namespace:
        if label:
            owners[_OWNERS[label]] = part
            label = ""
        elif part.lower() in _OWNERS:
            label = part.lower()
        else:
            tags.append(part)
    value = words = given.get("value")
    if isinstance(value, dict):
        inner = value.get("content")
        objects = (inner, value) if isinstance(inner, dict) else (value,)
        texts = (each.get(name) for each in objects for name in _WORDS)
        words = next((text for text in texts if isinstance(text, str) and text), None)
    if not isinstance(words, str):
        words = json.dumps(value, ensure_ascii=False)
    yield make.memory(
        place=place,
        content=words,
        external_id=id_with_words("langgraph", *namespace, id_in(given, "key", place), words),
        at=_stated_at(given, place, make),
        tags=tags + ([label] if label else []),
        given=owners,
    )


def plain_record(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """A message where it has a `role`, else a memory; fields as the API names them."""
    field = next((name for name in _WORDS[:3] if given.get(name)), None)
    content = given[field] if field else None
    if content is not None and not isinstance(content, str):
        raise ImportFileError(f"{place}.{field}: Must be text.")
    at = make.time(given, "created_at", place)
    owners = {name: given.get(name) or None for name in ("agent", "user", "project")}
    own_id = given.get("external_id") or given.get("id")
    if role := given.get("role"):
        thread = str(given.get("thread_id") or "import")
        words = (thread, str(role), str(given.get("created_at") or place), str(content))
        yield from make.messages(
            place=place,
            thread_id=thread,
            role=str(role),
            content=content,
            external_id=str(own_id or id_of_words(*words)),
            at=at,
            name=str(given.get("name") or ""),
            source=given.get("source"),
            given=owners,
        )
        return
    if content is None and not given.get("payload"):
        raise ImportFileError(f"{place}: It has no content.")
    said = str(content) if content is not None else json.dumps(given["payload"], sort_keys=True)
    whose = [str(owners[name] or getattr(make.names, name)) for name in sorted(owners)]
    yield make.memory(
        place=place,
        content=content,
        external_id=str(own_id or f"import:{id_of_words(said, *whose)}"),
        at=at,
        memory_type=str(given.get("memory_type") or given.get("type") or ""),
        subject=given.get("subject") or None,
        tags=given.get("tags") or None,
        importance=None if given.get("importance") == "" else given.get("importance"),
        given={**owners, **{name: given.get(name) or None for name in _FORMED}},
    )
