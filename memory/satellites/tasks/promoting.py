"""An item of a task becomes a memory of the project, when somebody says so (seed 003, §5.3)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.conf import settings

from memory.domain.audience import Viewer
from memory.domain.text.words import has_words
from memory.domain.types import Scope
from memory.satellites.tasks.domain import ProjectKind
from memory.satellites.tasks.services import item_for, note_promotion
from memory.satellites.tasks.store import WorkingMemoryAwayError
from memory.services.categories import category_names
from memory.services.write.drafts import WriteResult
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.tools import Tools
from teams.errors import InvalidError
from teams.tenancy import team_scope

_MOST_TAGS = 50
_TAG_CHARS = 100


@dataclass(frozen=True, slots=True)
class Promotion:
    """How an item is kept: as it is, or in other words, as a `kind`, and with what beside.

    A kind gives the importance, where none is said, a tag and, where the team's vocabulary has it,
    the category. A failure comes with its lesson.
    """

    content: str = ""
    kind: ProjectKind | None = None
    lesson: str = ""
    project: str = ""
    importance: int | None = None
    category: str = ""
    subject: str = ""
    tags: tuple[str, ...] = ()
    is_pinned: bool = False
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
    task, item = item_for(viewer=viewer, task_id=task_id, item_id=item_id, now=now)
    project = promotion.project or task.project
    if not project:
        raise InvalidError("The task belongs to no project: name one.", field="project")
    if task.project and promotion.project not in ("", task.project):
        raise InvalidError(f"The task belongs to the project '{task.project}'.", field="project")
    why = f"promoted from task '{task.id}', item {item.id}"
    stated = StatedMemory(
        content=_content(promotion, item.words),
        scope=Scope.PROJECT,
        project=project,
        importance=_importance(promotion, item.importance),
        is_pinned=promotion.is_pinned,
        category=promotion.category or _category(viewer, promotion.kind),
        subject=promotion.subject,
        tags=_tags(promotion, task.id, item.tags),
        external_id=f"task-item:{item.id}",
    )
    (result,) = remember(
        # What the agent learned in its task, whoever asks for it to be kept.
        viewer=replace(viewer, agent_id=viewer.agent_id or task.agent_id),
        stated=[stated],
        tools=tools,
        now=now,
        reason=f"{why}: {promotion.reason}" if promotion.reason else why,
        prefix=False,
    )
    with suppress(WorkingMemoryAwayError):  # The memory is written; the task only names it.
        note_promotion(viewer=viewer, task=task, item_id=item.id, memory_id=result.memory.pk)
    return result


def _content(promotion: Promotion, words: str) -> str:
    content = promotion.content or words
    if not has_words(content):
        raise InvalidError("The item has no words: say it as `content`.", field="content")
    is_failure = promotion.kind is ProjectKind.FAILURE
    if is_failure != bool(promotion.lesson):
        says = (
            "A failure is kept with its lesson." if is_failure else "Only a failure has a lesson."
        )
        raise InvalidError(says, field="lesson")
    if is_failure:
        content = f"{content.rstrip()}\nLesson: {promotion.lesson.strip()}"
    if len(content) > settings.MAX_CONTENT_CHARS:
        most = settings.MAX_CONTENT_CHARS
        raise InvalidError(
            f"A memory has at most {most:,} characters: say it shorter, as `content`.",
            field="content",
        )
    return content


def _importance(promotion: Promotion, of_item: int) -> int:
    if promotion.importance is not None:
        return promotion.importance
    return promotion.kind.importance if promotion.kind else of_item


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
