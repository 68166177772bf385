"""Palimpsest's own tools, by its own names."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from memory.api.schemas import PER_REQUEST
from memory.domain.types import MemoryType
from memory.satellites.mcp.answers import Conflicts, Context, Recalled, State, WrittenMemory
from memory.satellites.mcp.rest import Asker, RestApi, next_cursor, of_api
from memory.satellites.mcp.tools import Cursor, Limit

User = Annotated[str | None, Field(description="The person it is about.")]
Agent = Annotated[
    str | None, Field(description="The agent; the key's own where it is bound to one.")
]
Project = Annotated[str | None, Field(description="The project it is about.")]
Conversation = Annotated[
    UUID | None, Field(description="Where it is asked: it gives the user and the project.")
]


async def remember(
    ctx: Asker,
    content: Annotated[
        str, Field(description="One statement, in the third person, with names and dates.")
    ],
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    memory_type: Annotated[
        MemoryType | None, Field(description="`semantic` where it is left out.")
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
) -> WrittenMemory:
    """Store one memory with all that is known of it.

    It is checked against what is known: a duplicate is counted, what it replaces is superseded, a
    contradiction is opened, and what changes a person's sensitive data waits for a yes.
    """
    body = {
        "content": content,
        "user": user,
        "agent": agent,
        "project": project,
        "memory_type": memory_type,
        "scope": scope,
        "subject": subject,
        "category": category,
        "tags": tags,
        "importance": importance,
        "is_pinned": is_pinned,
    }
    return WrittenMemory.model_validate(
        await of_api(ctx, lambda api: api.ask("POST", "/memories", body=body, is_keyed=True))
    )


async def recall(
    ctx: Asker,
    query: Annotated[str, Field(description="The question or the message to be answered.")],
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    conversation: Conversation = None,
    token_budget: Annotated[
        int | None, Field(description="What the block may take; the agent's own if left out.")
    ] = None,
) -> Recalled:
    """What is known about a question, as a block to put into a prompt."""

    def read(api: RestApi) -> Recalled:
        body = {
            "query": query,
            "agent": agent or api.agent,
            "user": user,
            "project": project,
            "conversation": conversation,
            "token_budget": token_budget,
        }
        told = api.ask("POST", "/retrieve", body=body)
        return Recalled(
            prompt=told["formatted_prompt"],
            memories=told["memories"],
            tokens_used=told["stats"]["tokens_used"],
            warnings=told["stats"]["warnings"],
        )

    return await of_api(ctx, read)


async def get_context(
    ctx: Asker,
    user_request: Annotated[str, Field(description="What the user asks.")],
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    conversation: Conversation = None,
    max_chars: Annotated[int | None, Field(description="The most characters.")] = None,
) -> Context:
    """The certain facts that a request needs, as a read-only block, with why each is told."""
    query = {
        "user_request": user_request,
        "user": user,
        "agent": agent,
        "project": project,
        "conversation": conversation,
        "max_chars": max_chars,
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


async def state_at(
    ctx: Asker,
    at: Annotated[str, Field(description="A past moment: 2026-01-31T12:00:00+01:00.")],
    user: User = None,
    agent: Agent = None,
    project: Project = None,
    category: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> State:
    """What was known at a moment, rebuilt from the log; the filters are by whom it belongs to."""
    query = {
        "at": at,
        "user": user,
        "agent": agent,
        "project": project,
        "category": category,
        "limit": limit,
        "cursor": cursor,
    }
    page = await of_api(ctx, lambda api: api.ask("GET", "/audit/state", query=query))
    return State(at=page["at"], results=page["results"], next_cursor=next_cursor(page))
