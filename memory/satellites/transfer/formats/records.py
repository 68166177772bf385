"""Formats of one record each: mem0's memories, LangGraph's store, plain JSON Lines and CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator

from memory.domain.types import MAX_TAG_CHARS
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
)
from memory.satellites.transfer.transcripts import place_of

# The fields of a value that hold its words, in the order in which they are looked for.
_WORDS = ("content", "text", "memory", "data", "value")
# The label before a name in a namespace, and whose name it is.
_OWNERS = {
    **dict.fromkeys(("user", "users", "user_id"), "user"),
    **dict.fromkeys(("agent", "agents", "agent_id"), "agent"),
    **dict.fromkeys(("project", "projects", "project_id"), "project"),
}


def mem0_memory(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """A memory as mem0's `get_all` and exports have it; its categories become tags."""
    metadata = object_in(given.get("metadata") or {}, place_of(place, "metadata"))
    named = {"user": given.get("user_id"), "agent": given.get("agent_id")}
    yield make.memory(
        place=place,
        content=given.get("memory"),
        external_id=id_with_words("mem0", id_in(given, "id", place), given.get("memory")),
        at=make.time(given.get("created_at"), place_of(place, "created_at")),
        tags=[*list_in(given, "categories", place), *_flat(metadata)],
        given={**named, "project": given.get("app_id")},
    )


def _flat(metadata: Given) -> list[str]:
    """Metadata as the tags that mem0's client makes of it (`topic="food"`); long ones are left."""
    said = {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for name, value in metadata.items()
    }
    tags = [f"{name}={value}" for name, value in said.items()]
    return [tag for tag in tags if len(tag) <= MAX_TAG_CHARS]


def langgraph_item(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """An item of a store: its value's words, or all of its value as JSON.

    Of its namespace, a name after `users`, `agents` or `projects` says whose it is; the rest are
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
    value = given.get("value")
    words = (
        next(
            (value[name] for name in _WORDS if isinstance(value.get(name), str) and value[name]),
            None,
        )
        if isinstance(value, dict)
        else value
    )
    if not isinstance(words, str):
        words = json.dumps(value, ensure_ascii=False)
    yield make.memory(
        place=place,
        content=words,
        external_id=id_with_words("langgraph", *namespace, id_in(given, "key", place), words),
        at=make.time(given.get("created_at"), place_of(place, "created_at")),
        tags=tags + ([label] if label else []),
        given=owners,
    )


def plain_record(given: Given, place: str, make: ItemMaker) -> Iterator[Item]:
    """A message where it has a `role`, else a memory; fields as the API names them."""
    content = next((given[name] for name in _WORDS[:3] if given.get(name)), None)
    at = make.time(given.get("created_at"), place_of(place, "created_at"))
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
            given=owners,
        )
        return
    if content is None:
        raise ImportFileError(f"{place}: It has no content.")
    whose = [str(owners[name] or getattr(make.names, name)) for name in sorted(owners)]
    yield make.memory(
        place=place,
        content=content,
        external_id=str(own_id or f"import:{id_of_words(str(content), *whose)}"),
        at=at,
        memory_type=str(given.get("memory_type") or given.get("type") or "semantic"),
        subject=given.get("subject") or None,
        tags=given.get("tags") or None,
        importance=None if given.get("importance") == "" else given.get("importance"),
        given=owners,
    )
