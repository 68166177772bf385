"""A task's working memory: what an agent notes while it works, and what a project keeps of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memory.domain.forms import Form, stated_importance
from memory.domain.rendering import estimate_tokens

# A task's id is part of addresses.
TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")


class TaskState(StrEnum):
    """Where a task stands; only an open one has items."""

    OPEN = "open"
    COMPLETED = "completed"
    FAILED = "failed"


class ItemKind(StrEnum):
    """What an item of a task is (seed 003, section 2.2)."""

    REASONING = "reasoning"
    TOOL_OUTPUT = "tool_output"

    @property
    def importance(self) -> int:
        """1-10: the seed's .5 and .7."""
        return {ItemKind.REASONING: 5, ItemKind.TOOL_OUTPUT: 7}[self]


class ProjectKind(StrEnum):
    """What a project keeps of its work (seed 003, section 3.3)."""

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
    """One item: reasoning with its `text`, or the `output` (any JSON value) of a `tool`.

    `promoted_to` is the memory of the project that was made of it.
    """

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
        """What the item says, as text: an output that is no text as JSON."""
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
        """Where it comes from, as the seed writes it: `task/{task}/{stage}`."""
        return "/".join(filter(None, ("task", task_id, self.stage)))
