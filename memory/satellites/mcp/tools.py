"""Tools for memories, with mem0's names where mem0's MCP server has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from memory.api.schemas import PER_REQUEST
from memory.domain.types import MemoryType
from memory.satellites.mcp.answers import (
    Added,
    Conflicts,
    Context,
    Entities,
    Found,
    FoundMemory,
    FoundMessage,
    Listed,
    Memory,
    WrittenMemory,
)
from memory.satellites.mcp.rest import Asker, Json, RestApi, next_cursor, of_api

# What mem0's MCP server calls arguments of these tools, which are taken by either name.
MEM0_NAMES = {
    "user_id": "user",
    "agent_id": "agent",
    "app_id": "project",
    "run_id": "thread_id",
    "page_size": "limit",
}
# What the tools call fields of the API.
_NAMES = {"content": "text", "corrected_content": "text"}

User = Annotated[str | None, Field(description="The person it is about.")]
Agent = Annotated[str | None, Field(description="The agent; the key's own by default.")]
Project = Annotated[str | None, Field(description="The project it is about.")]
Limit = Annotated[int, Field(description="The most results, 1-500.")]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the page before.")]
MemoryId = Annotated[UUID, Field(description="The id of the memory.")]
Reason = Annotated[str | None, Field(description="Why, for the log.")]


class Said(BaseModel):
    """A message of a conversation."""

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    name: str | None = None
    source: Literal["agent", "tool", "web"] | None = Field(
        None, description="Where it is weaker than the role: `web` for a page."
    )


async def add_memory(
    ctx: Asker,
    text: Annotated[
        str | None, Field(description="One statement, in the third person, with names and dates.")
    ] = None,
    messages: Annotated[
        list[Said] | None,
        Field(
            min_length=1,
            max_length=PER_REQUEST,
            description="In place of text: what was said, which needs user and agent.",
        ),
    ] = None,
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    thread_id: Annotated[
        str | None, Field(description="The conversation that the messages go on with.")
    ] = None,
    memory_type: Annotated[
        MemoryType | None, Field(description="Of the text; `semantic` by default.")
    ] = None,
    scope: Annotated[
        Literal["user", "project", "team"] | None,
        Field(description="Whom it is for; else the narrowest that is named."),
    ] = None,
    subject: Annotated[
        str | None, Field(description="What it is about, as in user.preference.language.")
    ] = None,
    category: Annotated[str | None, Field(description="One of the team's categories.")] = None,
    tags: Annotated[list[str] | None, Field(max_length=PER_REQUEST)] = None,
    importance: Annotated[int | None, Field(description="1-10")] = None,
    is_pinned: Annotated[bool | None, Field(description="In every prompt of its readers.")] = None,
    source: Annotated[
        Literal["agent", "tool", "web"] | None,
        Field(description="Who says the text: you, a tool, or a web page, which are unconfirmed."),
    ] = None,
) -> Added:
    """Store a fact, preference or decision, or messages of a conversation.

    A text is a memory at once, checked against what is known: a duplicate is counted, what it
    replaces is superseded, a contradiction is opened, and what changes a person's sensitive data
    waits for a yes. Messages are kept word for word; memories are extracted from them in the
    background.
    """
    if (text is None) == (messages is None):
        raise ToolError("Give either text or messages.")
    about = {
        "memory_type": memory_type,
        "scope": scope,
        "subject": subject,
        "category": category,
        "tags": tags,
        "importance": importance,
        "is_pinned": is_pinned,
        "source": source,
    }
    misplaced = [name for name, value in about.items() if value is not None]
    if text is not None and thread_id is not None:
        raise ToolError("thread_id goes with messages; leave it out with text.")
    if messages is not None and misplaced:
        raise ToolError(f"{misplaced[0]} goes with text; leave it out with messages.")
    whose = {"user": user, "project": project}

    def state(api: RestApi) -> Added:
        body = {"content": text, "agent": agent, **whose, **about}
        stored = api.ask("POST", "/memories", body=body, is_keyed=True, names=_NAMES)
        return Added(memory=WrittenMemory.model_validate(stored))

    def post(api: RestApi) -> Added:
        # Sent again under the same key, it is the same conversation.
        thread = thread_id or api.thread_of_key()
        body = {"agent": agent or api.agent, "thread_id": thread, **whose}
        opened = api.ask("POST", "/conversations", body=body)["id"]
        said = [each.model_dump(exclude_none=True) for each in messages or ()]
        path = f"/conversations/{opened}/messages"
        rows = api.ask("POST", path, body={"messages": said}, is_keyed=True)
        return Added(conversation=opened, message_ids=[each["id"] for each in rows["messages"]])

    return await of_api(ctx, post if text is None else state)


async def search_memories(
    ctx: Asker,
    query: Annotated[str, Field(description="A question, or what to look for.")],
    filters: Annotated[
        dict[str, Any] | None,
        Field(
            description='Such as {"AND": [{"user": "sarah"}, {"category": "decision"},'
            ' {"created_after": "2026-01-01T00:00:00Z"}]}; also OR, NOT, and the operators eq, ne,'
            " gt, gte, lt, lte, in, contains."
        ),
    ] = None,
    limit: Limit = 10,
    user: User = None,
    agent: Agent = None,
    project: Project = None,
) -> Found:
    """Memories by meaning and words, best first; messages too where memories say little.

    A user or project narrows to what is about them or about nobody.
    """
    ids, rest = _ids_in(filters, {"user": user, "agent": agent, "project": project})

    def search(api: RestApi) -> Json:
        asked = {**ids, "query": query, "limit": limit}
        if rest is None:
            return api.ask("GET", "/memories/search", query=asked)
        body = {**asked, "agent": ids["agent"] or api.agent, "filters": rest, "return": "full"}
        return api.ask("POST", "/memory/query", body=body)

    found = await of_api(ctx, search)
    # A search has messages among its results, a query beside them.
    rows = [*found["results"], *found.get("messages", ())]
    return Found(
        results=[FoundMemory.model_validate(each) for each in rows if "memory_type" in each],
        messages=[FoundMessage.model_validate(each) for each in rows if "speaker" in each],
        warnings=found["warnings"],
    )


async def get_memories(
    ctx: Asker,
    filters: Annotated[
        dict[str, Any] | None,
        Field(description='Such as {"AND": [{"user": "sarah"}]}; only user, agent and project.'),
    ] = None,
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    category: Annotated[str | None, Field(description="One of the team's categories.")] = None,
    at: Annotated[
        str | None,
        Field(description="A past moment, 2026-01-31T12:00:00+01:00: what was known then."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Listed:
    """List memories that belong to a person, agent or project, the latest first."""
    ids, rest = _ids_in(filters, {"user": user, "agent": agent, "project": project})
    if rest is not None:
        raise ToolError("filters: only user, agent and project here; search_memories has more.")
    path = "/memories" if at is None else "/audit/state"
    query = {**ids, "category": category, "at": at, "limit": limit, "cursor": cursor}
    page = await of_api(ctx, lambda api: api.ask("GET", path, query=query))
    return Listed(results=page["results"], next_cursor=next_cursor(page))


async def get_memory(ctx: Asker, memory_id: MemoryId) -> Memory:
    """One memory, whatever its status."""
    return Memory.model_validate(
        await of_api(ctx, lambda api: api.ask("GET", f"/memories/{memory_id}"))
    )


async def update_memory(
    ctx: Asker,
    memory_id: MemoryId,
    text: Annotated[str, Field(description="The right text, whole.")],
    reason: Reason = None,
) -> WrittenMemory:
    """Correct a memory: a new version supersedes it, and the old one stays in the history."""
    body = {"corrected_content": text, "reason": reason}
    path = f"/memories/{memory_id}/correct"
    return WrittenMemory.model_validate(
        await of_api(ctx, lambda api: api.ask("POST", path, body=body, is_keyed=True, names=_NAMES))
    )


async def delete_memory(ctx: Asker, memory_id: MemoryId, reason: Reason = None) -> Memory:
    """Delete a memory: no search and no prompt finds it any more; people can restore it."""
    return Memory.model_validate(
        await of_api(
            ctx,
            lambda api: api.ask("DELETE", f"/memories/{memory_id}", query={"reason": reason}),
        )
    )


async def list_entities(ctx: Asker, limit: Limit = 100) -> Entities:
    """The people, agents and projects that memories belong to."""

    def read(api: RestApi) -> Entities:
        pages = {kind: api.ask("GET", f"/{kind}", query={"limit": limit}) for kind in _KINDS}
        shown = {
            kind: [{"id": each[of_id], "name": each[name]} for each in pages[kind]["results"]]
            for kind, (of_id, name) in _KINDS.items()
        }
        whole = not any(page["next"] for page in pages.values())
        return Entities.model_validate({**shown, "is_complete": whole})

    return await of_api(ctx, read)


_KINDS = {
    "users": ("external_id", "display_name"),
    "agents": ("slug", "name"),
    "projects": ("slug", "name"),
}


def _ids_in(
    filters: Mapping[str, Any] | None, given: Mapping[str, str | None]
) -> tuple[dict[str, str | None], Json | None]:
    """Returns whom filters name, where they only say so, and the filters that are left.

    As mem0's clients write them: `{"user_id": …}`, alone or in an AND of the first level.
    """
    ids = dict(given)
    left: list[Json] = []
    for each in _conditions(filters or {}):
        ((told, value),) = each.items()
        name = MEM0_NAMES.get(told, told)
        if name in ids and isinstance(value, str) and ids[name] in (None, value):
            ids[name] = value
        else:
            left.append(each)
    return ids, {"and": left} if left else None


def _conditions(filters: Mapping[str, Any]) -> list[Json]:
    """The conditions that must all hold, each as an object of one entry."""
    found: list[Json] = []
    for name, value in filters.items():
        parts = value if name.lower() == "and" and isinstance(value, list) else None
        if parts and all(isinstance(each, dict) for each in parts):
            found += [{key: told} for each in parts for key, told in each.items()]
        else:
            found.append({name: value})
    return found


async def get_context(
    ctx: Asker,
    user_request: Annotated[str, Field(description="What the user asks.")],
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    conversation: Annotated[
        UUID | None, Field(description="Where it is asked: it gives the user and the project.")
    ] = None,
    max_chars: Annotated[int | None, Field(description="The most characters.")] = None,
    only_known: Annotated[
        bool | None, Field(description="Say in the block that nothing else is known.")
    ] = None,
) -> Context:
    """The certain facts that a request needs, as a read-only block, with why each is told."""
    query = {
        "user_request": user_request,
        "user": user,
        "agent": agent,
        "project": project,
        "conversation": conversation,
        "max_chars": max_chars,
        "only_known": only_known,
    }
    return Context.model_validate(
        await of_api(ctx, lambda api: api.ask("GET", "/memory/context", query=query))
    )


async def report_contradictions(
    ctx: Asker, user: User = None, agent: Agent = None, project: Project = None, limit: Limit = 50
) -> Conflicts:
    """The open contradictions among what is known, and what the rule recommends for each.

    Nothing is settled by it: people do that.
    """
    query = {"user": user, "agent": agent, "project": project, "limit": limit}
    return Conflicts.model_validate(
        await of_api(ctx, lambda api: api.ask("GET", "/memory/conflicts", query=query))
    )
