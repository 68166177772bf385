"""Working memory of tasks, and its promotion to the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from uuid import NAMESPACE_OID, UUID, uuid5

from django.conf import settings

from memory.domain.artifacts import payload_as_said
from memory.domain.audience import Viewer
from memory.domain.forms import MAX_SIGNATURE_CHARS, Form, Payload
from memory.domain.text.words import has_words
from memory.domain.types import Scope, Source
from memory.satellites.tasks import store as task_store
from memory.satellites.tasks.store import (
    ItemKind,
    ProjectKind,
    Task,
    TaskItem,
    TaskKey,
    TaskState,
    WorkingMemoryAwayError,
)
from memory.understanding.quoting import form_of, own_sentences
from memory.understanding.tools import Tools
from memory.writing.categories import category_names
from memory.writing.drafts import WriteResult
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError, InvalidError, NotFoundError, TooLargeError
from teams.ids import new_id
from teams.models import Agent, Project
from teams.services.people import ensure_agent, ensure_project
from teams.tenancy import team_scope

_MOST_TAGS = 50
_TAG_CHARS = 100


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as an agent notes it; without an importance it has that of its kind."""

    kind: ItemKind
    stage: str = ""
    text: str = ""
    tool: str = ""
    output: object = None
    importance: int | None = None
    tags: Sequence[str] = ()


def begin_task(
    *,
    viewer: Viewer,
    now: datetime,
    task_id: str = "",
    agent: str | None = None,
    project: str | None = None,
    ttl_seconds: int | None = None,
) -> Task:
    """Begin a task of the viewer's agent, of the one that is named, or of the team itself.

    Agent and project are created when new; without a `task_id` one is made. The time to live
    begins anew with each item. Raises ConflictError where the agent has or had a task of that id,
    or the team has as many open tasks as it may, and WorkingMemoryAwayError while Redis is away.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        owner = _owner(viewer, agent)
        if project:
            ensure_project(team_id=viewer.team_id, slug=project, among=viewer.project_ids)
    ttl = ttl_seconds or settings.TASK_TTL_SECONDS
    task = Task(
        id=task_id or str(new_id()),
        agent_id=owner.pk if owner else None,
        agent=owner.slug if owner else "",
        project=project or "",
        state=TaskState.OPEN,
        ttl_seconds=ttl,
        created_at=now,
        expires_at=now + timedelta(seconds=ttl),
    )
    known = task_store.begin(_key(viewer, task), task)
    if known == "many":
        most = settings.TASK_MAX_OPEN
        raise ConflictError(
            f"The team has {most:,} open tasks, which is as many as it may: complete or fail one"
            " first, or wait until the time of one is over."
        )
    if known != "done":
        raise ConflictError(f"There is a task '{task.id}' already; it is {known}.", field="id")
    return task


def open_task(
    *, viewer: Viewer, task_id: str, now: datetime, of_team: bool = False
) -> tuple[Task, list[TaskItem]]:
    """Returns an open task with its items; the team's own, if `of_team`. Raises as `add_item`."""
    for owner in [viewer.agent_id, None] if of_team else [viewer.agent_id]:
        key = TaskKey(viewer.team_id, owner, task_id)
        task, items = task_store.load_items(key, now=now)
        if task is not None and _may_see(viewer, task):
            _check(task.state.value, task_id)
            return task, items
    raise NotFoundError("There is no such task: begin it first.", field="task")


def _may_see(viewer: Viewer, task: Task) -> bool:
    if not viewer.project_ids or not task.project:
        return True
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        known = Project.objects.filter(team_id=viewer.team_id, pk__in=viewer.project_ids)
        return known.filter(slug=task.project).exists()


def task_for(*, viewer: Viewer, task_id: str, now: datetime) -> Task:
    """The task of that id that the viewer may see, also one that ended a while ago.

    An agent sees its own tasks; the team sees all. Raises NotFoundError where there is none,
    ConflictError where several agents have one of that id, and WorkingMemoryAwayError.
    """
    if viewer.agent_id is not None:
        owners: Sequence[UUID | None] = [viewer.agent_id]
    else:
        owners = task_store.owners_of(team_id=viewer.team_id, task_id=task_id)
    keys = [TaskKey(viewer.team_id, owner, task_id) for owner in owners]
    found = [task for key in keys if (task := task_store.load(key, now=now)) is not None]
    found = [task for task in found if _may_see(viewer, task)]
    if not found:
        raise _unknown()
    if len(found) > 1:
        raise ConflictError("Several agents have a task of that id: name the agent.", field="agent")
    return found[0]


def add_item(
    *, viewer: Viewer, task_id: str, item: NewItem, now: datetime, sent_as: str = ""
) -> TaskItem:
    """Notes an item in an open task; sent again under the same key (`sent_as`), it is there once.

    Raises NotFoundError for an unknown task, ConflictError for one that ended, TooLargeError where
    the task holds as many items or bytes as it may, and WorkingMemoryAwayError.
    """
    task = task_for(viewer=viewer, task_id=task_id, now=now)
    own = ("task", *filter(None, (item.stage, item.tool and "tool", item.tool)))
    noted = TaskItem(
        id=uuid5(NAMESPACE_OID, f"{viewer.actor}|{task_id}|{sent_as}") if sent_as else new_id(),
        kind=item.kind,
        stage=item.stage,
        importance=item.importance or item.kind.importance,
        tags=tuple(dict.fromkeys((*own, *item.tags))),
        created_at=now,
        text=item.text,
        tool=item.tool,
        output=item.output,
    )
    content = "text" if item.kind is ItemKind.REASONING else "output"
    try:
        json.dumps(item.output, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        raise InvalidError("Must be valid JSON with valid Unicode text.", field=content) from None
    outcome, left = task_store.add(_key(viewer, task), noted)
    if outcome == "count":
        most = settings.TASK_MAX_ITEMS
        raise TooLargeError(f"A task holds at most {most:,} items.", field="items")
    if outcome == "size":
        most = settings.TASK_MAX_BYTES
        raise TooLargeError(
            f"A task holds at most {most:,} bytes; this one has {max(left, 0):,} left.",
            field=content,
        )
    _check(outcome, task_id)
    return noted


def items_of(
    *, viewer: Viewer, task_id: str, now: datetime, stage: str = "", kind: ItemKind | None = None
) -> list[TaskItem]:
    """Returns the items of an open task, the first one first. Raises as `add_item`."""
    task = task_for(viewer=viewer, task_id=task_id, now=now)
    found, items = task_store.load_items(_key(viewer, task), now=now)
    _check("unknown" if found is None else found.state.value, task_id)
    return [
        item
        for item in items
        if (not stage or item.stage == stage) and (kind is None or item.kind is kind)
    ]


def clear_items(*, viewer: Viewer, task_id: str, now: datetime) -> tuple[Task, int]:
    """Empties an open task; returns it and how many items went. Raises as `add_item`."""
    return _emptied(viewer, task_id, now, task_store.clear)


def end_task(*, viewer: Viewer, task_id: str, state: TaskState, now: datetime) -> tuple[Task, int]:
    """Ends an open task; returns it and how many items went. Raises as `add_item`."""
    return _emptied(viewer, task_id, now, partial(task_store.end, state=state, now=now))


def _emptied(
    viewer: Viewer, task_id: str, now: datetime, step: Callable[[TaskKey], tuple[str, int]]
) -> tuple[Task, int]:
    task = task_for(viewer=viewer, task_id=task_id, now=now)
    outcome, cleared = step(_key(viewer, task))
    _check(outcome, task_id)
    return task_for(viewer=viewer, task_id=task_id, now=now), cleared


def _owner(viewer: Viewer, agent: str | None) -> Agent | None:
    if viewer.agent_id is not None:
        return Agent.objects.get(team_id=viewer.team_id, pk=viewer.agent_id)
    return ensure_agent(team_id=viewer.team_id, slug=agent) if agent else None


def _key(viewer: Viewer, task: Task) -> TaskKey:
    return TaskKey(viewer.team_id, task.agent_id, task.id)


def _check(outcome: str, task_id: str) -> None:
    if outcome == "unknown":
        raise _unknown()
    if outcome not in ("done", TaskState.OPEN):
        raise ConflictError(f"The task '{task_id}' is {outcome}: its items are gone.")


def _unknown() -> NotFoundError:
    return NotFoundError("There is no such task: begin it first.")


@dataclass(frozen=True, slots=True)
class Promotion:
    """The form in which an item is stored: verbatim or reworded, its `kind`, and what is added.

    A kind gives the importance, where none is said, a tag and, where the team's vocabulary has it,
    the category. A failure comes with its lesson. The output of a tool in its own words has the
    source `tool` where none is said.
    """

    content: str = ""
    kind: ProjectKind | None = None
    lesson: str = ""
    project: str = ""
    importance: int | None = None
    category: str = ""
    subject: str = ""
    tags: Sequence[str] = ()
    is_pinned: bool = False
    source: Source | None = None
    reason: str = ""


def promote_item(
    *,
    viewer: Viewer,
    task_id: str,
    item_id: UUID,
    promotion: Promotion,
    tools: Tools,
    now: datetime,
) -> WriteResult:
    """Write an item of an open task as a memory of its project, through the one write path.

    The item stays in the task. Promoted again it is the same memory. Raises NotFoundError,
    ConflictError (the task ended; the item was promoted with other words, or its memory was
    deleted), InvalidError (no project, no words, a failure without its lesson) and
    WorkingMemoryAwayError.
    """
    task = task_for(viewer=viewer, task_id=task_id, now=now)
    items = items_of(viewer=viewer, task_id=task_id, now=now)
    item = next((each for each in items if each.id == item_id), None)
    if item is None:
        raise NotFoundError("There is no such item in this task.")
    project = promotion.project or task.project
    if not project:
        raise InvalidError("The task belongs to no project: name one.", field="project")
    if task.project and promotion.project not in ("", task.project):
        raise InvalidError(f"The task belongs to the project '{task.project}'.", field="project")
    kind = promotion.kind
    content = _content(promotion, item.words)
    form, payload = _formed(promotion, item)
    why = f"promoted from task '{task.id}', item {item.id}"
    stated = StatedMemory(
        content=content,
        scope=Scope.PROJECT,
        project=project,
        importance=promotion.importance or (kind.importance if kind else item.importance),
        is_pinned=promotion.is_pinned,
        category=promotion.category or _category(viewer, kind),
        subject=promotion.subject,
        tags=_tags(promotion, task.id, item.tags),
        external_id=f"task-item:{item.id}",
        form=form,
        payload=payload,
        source=promotion.source or _source(promotion, item),
    )
    try:
        (result,) = remember(
            # What the agent learned in its task, whoever asks for it to be kept.
            viewer=replace(viewer, agent_id=viewer.agent_id or task.agent_id),
            stated=[stated],
            tools=tools,
            now=now,
            reason=f"{why}: {promotion.reason}" if promotion.reason else why,
            prefix=False,
        )
    except ConflictError as error:
        if item.promoted_to is None or error.field != "external_id":
            raise
        memory = f"/v1/memories/{item.promoted_to}"
        raise ConflictError(
            f"This item was promoted already, as memory {item.promoted_to}. To change its words,"
            f" POST {memory}/correct; if it was deleted, POST {memory}/restore."
        ) from None
    with suppress(WorkingMemoryAwayError):  # The memory is written; the task only names it.
        task_store.mark_promoted(_key(viewer, task), item_id=item.id, memory_id=result.memory.pk)
    return result


def _source(promotion: Promotion, item: TaskItem) -> Source | None:
    is_quoted = item.kind == ItemKind.TOOL_OUTPUT and not promotion.content
    return Source.TOOL if is_quoted else None


def _content(promotion: Promotion, words: str) -> str:
    content = promotion.content or words
    if not has_words(content):
        raise InvalidError("The item has no words: say it as `content`.", field="content")
    if promotion.kind is ProjectKind.FAILURE:
        if not promotion.lesson:
            raise InvalidError("A failure is kept with its lesson.", field="lesson")
        content = f"{content.rstrip()}\nLesson: {promotion.lesson.strip()}"
    elif promotion.lesson:
        raise InvalidError("Only a failure has a lesson.", field="lesson")
    if len(content) > (most := settings.MAX_CONTENT_CHARS):
        raise InvalidError(
            f"A memory has at most {most:,} characters: say it shorter, as `content`.",
            field="content",
        )
    return content


def _formed(promotion: Promotion, item: TaskItem) -> tuple[Form | None, Payload]:
    """Returns the form with its payload, which names the files that the text names.

    It is that of the promotion's kind, or else the form of what is said in one sentence, where the
    reader is sure of it.
    """
    said = promotion.content or item.words
    read = "" if promotion.kind else _form_read(promotion.content or item.text)
    if not (name := promotion.kind or read):
        return None, {}
    form = Form(name)
    payload = payload_as_said(form, said)
    if promotion.kind is ProjectKind.FAILURE:
        payload = {**payload, "signature": said[:MAX_SIGNATURE_CHARS], "lesson": promotion.lesson}
    return form, payload


def _form_read(text: str) -> str:
    """Returns the form of a text of one sentence, "" for none and for longer texts."""
    sentences = own_sentences(text)
    return form_of(sentences[0]) if len(sentences) == 1 else ""


def _category(viewer: Viewer, kind: ProjectKind | None) -> str:
    """The category of that name, unless the team's vocabulary or the agent's allowlist lacks it."""
    if kind is None:
        return ""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        known = category_names(team_id=viewer.team_id)
    for names in (known, viewer.allowed_categories):
        if names and kind.value not in names:
            return ""
    return kind.value


def _tags(promotion: Promotion, task_id: str, of_item: tuple[str, ...]) -> tuple[str, ...]:
    kind = promotion.kind.value if promotion.kind else ""
    own = ("project", kind, f"task:{task_id}"[:_TAG_CHARS], *promotion.tags, *of_item)
    return tuple(dict.fromkeys(filter(None, own)))[:_MOST_TAGS]
