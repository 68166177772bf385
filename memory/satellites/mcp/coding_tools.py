"""Tools for coding agents: the context of work in progress, tasks, and what a project learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from memory.satellites.mcp.answers import WrittenMemory
from memory.satellites.mcp.rest import Asker, Json, RestApi, of_api
from memory.satellites.mcp.tools import Agent, Project

OnlyAgent = Annotated[str | None, Field(description="Where this agent alone is to know it.")]
File = Annotated[str | None, Field(description="Path of the open file.")]
Files = Annotated[list[str] | None, Field(description="Paths.")]
Task = Annotated[str, Field(description="The task's name, as in begin_task.")]
Tokens = Annotated[int | None, Field(description="Token budget, at least 100.")]
_OF_PAYLOAD = {"payload.artifacts": "files", "payload": ""}


class Topic(BaseModel):
    """A topic of the index, opened with `expand`."""

    topic: str
    count: int


class WorkContext(BaseModel):
    """A context to put into a prompt."""

    context: str
    token_count: int
    index: list[Topic] = Field(default_factory=list, description="Topics that `expand` opens.")
    warnings: list[str] = Field(default_factory=list)


class Predicted(BaseModel):
    """Memories that the work will likely need, likeliest first."""

    predicted_memories: list[dict[str, Any]]  # Any: as the API has them
    confidence: float


class Package(BaseModel):
    """The context package of a task."""

    text: str
    tokens_used: int
    warnings: list[str]


class TaskItem(BaseModel):
    """An item of a task."""

    id: str
    kind: str
    text: str | None
    tokens: int


async def assemble_context(
    ctx: Asker,
    project: Project = None,
    current_file: File = None,
    opened_files: Files = None,
    branch: str | None = None,
    recent_errors: list[str] | None = None,
    activity: Literal["debugging", "feature", "review", "deploy", "planning"] | None = None,
    query: Annotated[str | None, Field(description="What is being done.")] = None,
    agent: Agent = None,
    budget: Tokens = None,
) -> WorkContext:
    """Decisions, failures, conventions and commits that the open files and errors need."""
    signals = {
        "current_file": current_file,
        "opened_files": opened_files,
        "branch": branch,
        "recent_errors": recent_errors,
        "activity": activity,
        "query": query,
    }
    given = {name: value for name, value in signals.items() if value is not None}
    body = {"project": project, "budget": budget, "signals": given}
    made = await _post(ctx, "/context/assemble", body, agent=agent, names={"signals": ""})
    return WorkContext.model_validate(made)


async def predict(
    ctx: Asker,
    file_opened: Annotated[str, Field(description="Path of the file.")],
    project: Project = None,
    branch: str | None = None,
    error: str | None = None,
    agent: Agent = None,
) -> Predicted:
    """Predict which memories the work on a file will need."""
    body = {"file_opened": file_opened, "project": project, "branch": branch, "error": error}
    return Predicted.model_validate(await _post(ctx, "/context/predict", body, agent=agent))


async def expand(
    ctx: Asker,
    topic: Annotated[str, Field(description="A topic of the index.")],
    project: Project = None,
    agent: Agent = None,
    budget: Tokens = None,
) -> WorkContext:
    """Returns all that is known of a topic."""

    def read(api: RestApi) -> Json:
        query = {"topic": topic, "project": project, "agent": agent or api.agent, "budget": budget}
        return api.ask("GET", "/context/expand", query=query)

    return WorkContext.model_validate(await of_api(ctx, read))


async def record_decision(
    ctx: Asker,
    decision: Annotated[str, Field(description="What was decided, with the reason.")],
    project: Annotated[str, Field(description="The project.")],
    files: Files = None,
    agent: OnlyAgent = None,
) -> WrittenMemory:
    """Record a decision of a project, and the files that it binds."""
    return await _record(ctx, "decision", {"decision": decision}, project, files, agent)


async def record_failure(
    ctx: Asker,
    signature: Annotated[str, Field(description="Error class and message.")],
    lesson: Annotated[str, Field(description="The cause, and what to do instead.")],
    project: Annotated[str, Field(description="The project.")],
    files: Files = None,
    agent: OnlyAgent = None,
) -> WrittenMemory:
    """Record what went wrong in a project and what was learnt."""
    payload = {"signature": signature, "lesson": lesson}
    return await _record(ctx, "failure", payload, project, files, agent)


async def record_convention(
    ctx: Asker,
    convention: Annotated[str, Field(description="The rule.")],
    project: Annotated[str, Field(description="The project.")],
    files: Files = None,
    agent: OnlyAgent = None,
) -> WrittenMemory:
    """Record a rule that holds in a project."""
    return await _record(ctx, "convention", {"convention": convention}, project, files, agent)


async def begin_task(
    ctx: Asker,
    task: Annotated[str, Field(description="A name of your own, such as a ticket's number.")],
    project: Project = None,
    agent: Agent = None,
) -> str:
    """Begin a task; its notes are kept until it ends."""
    body = {"id": task, "project": project}
    await _post(ctx, "/tasks", body, agent=agent, is_keyed=True, names={"id": "task"})
    return f"The task {task} is open."


async def note_in_task(
    ctx: Asker,
    task: Task,
    text: Annotated[str, Field(description="A finding, a step or an open question.")],
    agent: Agent = None,
) -> TaskItem:
    """Add a note to a task."""
    body = {"kind": "reasoning", "text": text}
    path = f"/tasks/{quote(task, safe=':')}/items"

    def add(api: RestApi) -> Json:
        return api.ask("POST", path, query={"agent": agent}, body=body, is_keyed=True)

    return TaskItem.model_validate(await of_api(ctx, add))


async def get_package(
    ctx: Asker,
    task: Task,
    project: Project = None,
    agent: Agent = None,
    budget: Tokens = None,
) -> Package:
    """A task's context: its notes, the project's decisions, failures and conventions, the rest."""
    body = {"task": task, "project": project, "token_budget": budget}
    names = {"token_budget": "budget"}
    return Package.model_validate(
        await _post(ctx, "/context/package", body, agent=agent, names=names)
    )


async def _post(
    ctx: Asker,
    path: str,
    body: Json,
    *,
    agent: str | None,
    names: Mapping[str, str] | None = None,
    is_keyed: bool = False,
) -> Json:
    def ask(api: RestApi) -> Json:
        whole = {**body, "agent": agent or api.agent}
        return api.ask("POST", path, body=whole, is_keyed=is_keyed, names=names)

    return await of_api(ctx, ask)


async def _record(
    ctx: Asker,
    form: str,
    payload: Json,
    project: str,
    files: list[str] | None,
    agent: str | None,
) -> WrittenMemory:
    artifacts = [{"kind": "file", "ref": each} for each in files or ()]
    whole = {**payload, **({"artifacts": artifacts} if artifacts else {})}
    # The key's own agent is not named: what is of a project is for all of its agents.
    body = {"form": form, "payload": whole, "project": project, "agent": agent}

    def write(api: RestApi) -> Json:
        return api.ask("POST", "/memories", body=body, is_keyed=True, names=_OF_PAYLOAD)

    return WrittenMemory.model_validate(await of_api(ctx, write))
