"""Tasks and their items in Redis: each step is one atomic script, and each key has an end.

A task is a hash, its items are another one, and a set names the agents that have a task of an id. A
sorted set of each team holds its open tasks with the second at which each dies. Keys hold the team
and the agent whose it is, so that who may not see a task cannot name its key. Nothing of it is
anywhere else: without Redis there is no working memory, and all else goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID

import redis
from django.conf import settings
from pydantic import TypeAdapter

from memory.domain.forms import Form, stated_importance
from memory.domain.rendering import estimate_tokens
from routing.clients.quick_redis import quick_redis
from teams.errors import UnavailableError

# A task's id is part of addresses.
TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
_T = TypeVar("_T")
_TEAMS_OWN = "team"
_PROMOTED = "promoted:"
_KEEP, _BEGIN, _ADD, _END, _CLEAR, _MARK = (
    (Path(__file__).parent / "lua" / f"{name}.lua").read_text()
    for name in ("keep", "begin", "add", "end", "clear", "mark")
)


class TaskState(StrEnum):
    """The state of a task; only an open one has items."""

    OPEN = "open"
    COMPLETED = "completed"
    FAILED = "failed"


class ItemKind(StrEnum):
    """The kind of an item of a task (seed 003, section 2.2)."""

    REASONING = "reasoning"
    TOOL_OUTPUT = "tool_output"

    @property
    def importance(self) -> int:
        """1-10: the seed's .5 and .7."""
        return {ItemKind.REASONING: 5, ItemKind.TOOL_OUTPUT: 7}[self]


class ProjectKind(StrEnum):
    """The kinds of work that a project stores as memories (seed 003, section 3.3)."""

    DECISION = "decision"
    CONVENTION = "convention"
    FAILURE = "failure"

    @property
    def importance(self) -> int:
        """1-10: the seed's .9, .8 and .85."""
        return stated_importance(Form(self.value))


@dataclass(frozen=True, slots=True)
class Task:
    """A task of an agent, or of the team where `agent` is empty; all times are aware UTC.

    After `expires_at` nothing is known of it any more. `items` and `size` are how many items it
    holds and their bytes as JSON.
    """

    id: str
    agent_id: UUID | None
    agent: str
    project: str
    state: TaskState
    ttl_seconds: int
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None
    items: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class TaskItem:
    """One item: reasoning with its `text`, or the `output` (any JSON value) of a `tool`."""

    id: UUID
    kind: ItemKind
    stage: str
    importance: int
    tags: tuple[str, ...]
    created_at: datetime
    text: str = ""
    tool: str = ""
    output: object = None
    promoted_to: UUID | None = None

    @property
    def words(self) -> str:
        """The content of the item as text: an output that is no text as JSON."""
        if self.kind is ItemKind.REASONING:
            return self.text
        if self.output is None:
            return ""
        return self.output if isinstance(self.output, str) else json.dumps(self.output)

    @property
    def tokens(self) -> int:
        """About how many tokens a prompt spends on its words."""
        return estimate_tokens(self.words)

    def source(self, task_id: str) -> str:
        """Returns its source, as the seed writes it: `task/{task}/{stage}`."""
        return "/".join(filter(None, ("task", task_id, self.stage)))


_ITEM = TypeAdapter(TaskItem)


class WorkingMemoryAwayError(UnavailableError):
    """Redis, which alone holds the items of tasks, does not answer."""

    def __init__(self) -> None:
        super().__init__(
            "Redis, which holds tasks and their items, does not answer; what was sent may not be"
            " stored. Try again shortly. Memories, messages and prompts need no Redis."
        )


@dataclass(frozen=True, slots=True)
class TaskKey:
    """The key of a task: of a team and one of its agents, None for the team itself."""

    team_id: UUID
    agent_id: UUID | None
    task_id: str

    @property
    def names(self) -> list[str]:
        """The keys of the task, its items, the owners of its id and the team's open tasks."""
        owner = str(self.agent_id or _TEAMS_OWN)
        task = f"{settings.REDIS_PREFIX}:task:{self.team_id}:{owner}:{self.task_id}"
        open_tasks = f"{settings.REDIS_PREFIX}:open-tasks:{self.team_id}"
        return [task, f"{task}/items", _owners(self.team_id, self.task_id), open_tasks]


def begin(key: TaskKey, task: Task) -> str:
    """Keep a new task: "done", the state of the one that is there, or "many" with too many open."""
    fields = {
        "agent": task.agent,
        "project": task.project,
        "state": task.state.value,
        "ttl": str(task.ttl_seconds),
        "created_at": task.created_at.isoformat(),
        "size": "0",
    }
    flat = [part for pair in fields.items() for part in pair]
    owner = str(key.agent_id or _TEAMS_OWN)
    most = str(settings.TASK_MAX_OPEN)
    return _run(_KEEP + _BEGIN, key, [str(task.ttl_seconds), owner, most, *flat])[0]


def add(key: TaskKey, item: TaskItem) -> tuple[str, int]:
    """Keep an item of an open task, whose time to live begins anew.

    "done", "unknown", the state of one that ended, "count", or "size" with the bytes left.
    """
    most = [str(settings.TASK_MAX_ITEMS), str(settings.TASK_MAX_BYTES)]
    return _run(
        _KEEP + _ADD, key, [str(item.id), _ITEM.dump_json(item, exclude={"promoted_to"}), *most]
    )


def end(key: TaskKey, *, state: TaskState, now: datetime) -> tuple[str, int]:
    """Clear an open task: "done" and how many items went, "unknown", or the state it ended in."""
    kept = str(settings.TASK_FINISHED_SECONDS)
    return _run(_KEEP + _END, key, [state.value, now.isoformat(), kept])


def clear(key: TaskKey) -> tuple[str, int]:
    """Empty an open task: "done" and how many items went, "unknown", or the state it ended in."""
    return _run(_CLEAR, key, [_PROMOTED])


def mark_promoted(key: TaskKey, *, item_id: UUID, memory_id: UUID) -> None:
    """Note with the task which memory was made of an item."""
    _run(_MARK, key, [f"{_PROMOTED}{item_id}", str(memory_id)])


def load(key: TaskKey, *, now: datetime) -> Task | None:
    """The task; None where there is none."""
    return _task(key, _ask(lambda client: _state(client, key)), now)


def load_items(key: TaskKey, *, now: datetime) -> tuple[Task | None, list[TaskItem]]:
    """The task and its items, the first one first."""

    def read(client: redis.Redis) -> Any:  # Any: what Redis answers
        return _state(client, key), client.hvals(key.names[1])

    state, kept = _ask(read)
    marks = {
        name.decode().removeprefix(_PROMOTED): UUID(value.decode())
        for name, value in state[0].items()
        if name.startswith(_PROMOTED.encode())
    }
    items = [_ITEM.validate_json(each) for each in kept]
    marked = [replace(each, promoted_to=marks.get(str(each.id))) for each in items]
    return _task(key, state, now), sorted(marked, key=lambda item: (item.created_at, item.id))


def owners_of(*, team_id: UUID, task_id: str) -> list[UUID | None]:
    """The agents that have, or had, a task of that id; None for the team itself."""
    found = _ask(lambda client: client.smembers(_owners(team_id, task_id)))
    names = sorted(each.decode() for each in cast("set[bytes]", found))
    return [None if name == _TEAMS_OWN else UUID(name) for name in names]


def _owners(team_id: UUID, task_id: str) -> str:
    return f"{settings.REDIS_PREFIX}:task-owners:{team_id}:{task_id}"


def _ask(command: Callable[[redis.Redis], _T]) -> _T:
    answer = quick_redis().ask(command)
    if answer is None:
        raise WorkingMemoryAwayError
    return answer


def _run(script: str, key: TaskKey, arguments: Sequence[str | bytes]) -> tuple[str, int]:
    names = key.names
    found = _ask(lambda client: client.eval(script, len(names), *names, *arguments))
    word, number = cast("list[Any]", found)  # Any: a word and a number
    return word.decode(), int(number)


def _state(client: redis.Redis, key: TaskKey) -> Any:  # Any: what Redis answers
    task, items, *_ = key.names
    pipe = client.pipeline()
    pipe.hgetall(task)
    pipe.pttl(task)
    pipe.hlen(items)
    return pipe.execute()


def _task(key: TaskKey, state: Any, now: datetime) -> Task | None:  # Any: what `_state` read
    fields, left, items = state
    if not fields:
        return None
    kept = {name.decode(): value.decode() for name, value in fields.items()}
    ended = kept.get("ended_at")
    return Task(
        id=key.task_id,
        agent_id=key.agent_id,
        agent=kept["agent"],
        project=kept["project"],
        state=TaskState(kept["state"]),
        ttl_seconds=int(kept["ttl"]),
        created_at=datetime.fromisoformat(kept["created_at"]),
        expires_at=(now + timedelta(milliseconds=max(left, 0))).astimezone(UTC),
        ended_at=datetime.fromisoformat(ended) if ended else None,
        items=items,
        size=int(kept["size"]),
    )
