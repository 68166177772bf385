"""Packages of what a task, its project and the team bring for an agent (seed 003, 5 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache, partial

from memory.domain.audience import Viewer
from memory.domain.filters import Expression, conditions_of
from memory.domain.forms import Form
from memory.domain.levels import is_long, levels_of
from memory.domain.packing import Room
from memory.domain.plans.assembly import Assembly, Told
from memory.domain.plans.plan import NOTICE, Block, Entry, Plan, Section, Written
from memory.domain.profile_fields import is_preference
from memory.domain.rendering import Line, TokenCounter
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType, Scope, Status
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import Prompt
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import prompt
from memory.satellites.tasks.services import open_task
from memory.satellites.tasks.store import Task, TaskItem
from memory.selectors.filters import NOBODY, categories_named_in, matching, named_by
from memory.selectors.names import names_of
from memory.selectors.search.signal_rows import SignalRow
from memory.understanding.tools import Tools
from memory.writing.categories import check_allowed
from teams.domain.agent_document import ContextPolicy
from teams.errors import InvalidError
from teams.tenancy import team_scope

# More than the importances of two lines can differ by in seconds of the epoch.
_AGES = 1e11
NOTICE_TOKENS = "notice"
# What is asked is what the last items say, so far.
_MOST_ASKED = 600


class Tier(StrEnum):
    """The source of an item of a package; `global` is the team and the user."""

    TASK = "task"
    PROJECT = "project"
    GLOBAL = "global"


_SCOPES: Mapping[Tier, Collection[Scope]] = {
    Tier.TASK: (Scope.TASK,),
    Tier.PROJECT: (Scope.PROJECT,),
    Tier.GLOBAL: (Scope.USER, Scope.TEAM),
}
HEADINGS: Mapping[Tier, str] = {
    Tier.TASK: "## This Task",
    Tier.PROJECT: "## This Project",
    Tier.GLOBAL: "## The User And The Team",
}


ORDERS: Mapping[str, Callable[[Line], float]] = {
    "-importance": lambda line: line.at.timestamp() - line.importance * _AGES,
    "importance": lambda line: line.at.timestamp() + line.importance * _AGES,
    "at": lambda line: line.at.timestamp(),
    "-at": lambda line: -line.at.timestamp(),
}
"""By name, where a line stands among others; of equal importance the older comes first."""
USUAL_ORDER = "-importance"


def head_and_tail(entries: Sequence[Entry], *, count: int) -> Sequence[Entry]:
    """Returns the first and last `count` entries in place order, none of no more (§6.1)."""
    if not count or len(entries) <= 2 * count:
        return ()
    ordered = sorted(entries, key=lambda each: ORDERS[USUAL_ORDER](each.line))
    return [*ordered[:count], *ordered[-count:]]


@lru_cache(maxsize=64)
def package_plan(
    shares: tuple[float, float, float], *, ends: int, order_by: str = USUAL_ORDER
) -> Plan:
    """Returns the plan; what a tier leaves free of its share (0-1) goes to the best of all.

    Shares are of what notice and headings leave, and a tier with a share has at least one line.
    """
    return Plan(
        name="package",
        sections=[
            Section(
                Room(tier, share=share),
                takes=partial(_is_of, tier),
                write=partial(_in_place, ORDERS[order_by]),
                block=tier,
            )
            for tier, share in zip(Tier, shares, strict=True)
        ],
        blocks=[
            Block(NOTICE_TOKENS, opening=NOTICE),
            *(Block(tier, opening=HEADINGS[tier], after=NOTICE_TOKENS) for tier in Tier),
        ],
        # How something is done is for whoever works on a task.
        on_request=(),
        has_tiers=True,
        first=partial(head_and_tail, count=ends),
        common=(NOTICE_TOKENS,),
    )


def _is_of(tier: Tier, line: Line) -> bool:
    return line.scope in _SCOPES[tier]


def _in_place(place: Callable[[Line], float], line: Line) -> Written:
    return Written(line.render(), order=place(line))


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """For which task a package is made, and by which policy.

    `project` is that of the task if None. `filters` narrow what comes of memory; the task's items
    always come. `of_team` says that the team's own task may be meant.
    """

    task_id: str
    token_budget: int
    counter: TokenCounter
    policy: ContextPolicy
    filters: Expression
    project: str | None = None
    of_team: bool = False
    order_by: str = USUAL_ORDER


@dataclass(frozen=True, slots=True)
class PackageCount:
    """The number of items of a tier that are included, and of those available."""

    told: int
    offered: int


@dataclass(frozen=True, slots=True)
class PackageItem:
    """An item of the task, or a memory, as it is told; `is_kept` says that it is at either end."""

    told: Told
    is_kept: bool

    @property
    def tier(self) -> Tier:
        return Tier(self.told.section)

    @property
    def text(self) -> str:
        """Its line, at the level at which it is told."""
        return self.told.line.render()


@dataclass(frozen=True, slots=True)
class ContextPackage:
    """The package: its text with the tokens of each tier, and its items in their places.

    `compression_ratio` is the tokens of its lines by those of the whole lines of all items that
    were to choose from, 1 where everything is told in full.
    """

    task: Task
    project: str | None
    assembly: Assembly
    items: tuple[PackageItem, ...]
    counts: Mapping[Tier, PackageCount]
    compression_ratio: float
    retrieval: Prompt


def context_package(
    *,
    viewer: Viewer,
    request: PackageRequest,
    weights: Weights,
    tools: Tools,
    now: datetime,
) -> ContextPackage:
    """The items for a task within the budget, each tier in its share.

    Only what is of the project, the user and the agent that are named, or nobody's, is told; the
    filters may name the user. Raises NotFoundError and ConflictError as `open_task`, InvalidError
    for another project than the task has, ForbiddenError for a category that the agent may not
    read, and WorkingMemoryAwayError.
    """
    check_allowed(
        allowed=viewer.allowed_categories,
        names=categories_named_in(request.filters),
        field="filters",
    )
    task, noted = open_task(
        viewer=viewer, task_id=request.task_id, now=now, of_team=request.of_team
    )
    viewer, project = _narrowed(viewer, task, request.project)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        viewer, filters = named_by(request.filters, viewer=viewer)
    policy = request.policy
    plan = package_plan(
        policy.shares.in_order, ends=policy.head_tail_preserve, order_by=request.order_by
    )
    found = prompt(
        Read(
            viewer=viewer,
            question=Question(_asked(noted)),
            depth=Depth(include_cold=False, include_raw=False),
            rows=_rows(viewer, filters),
            tools=tools,
            now=now,
        ),
        packing=Packing(
            plan=plan,
            weights=weights,
            token_budget=request.token_budget,
            counter=request.counter,
            entries=tuple(map(_entry, noted)),
            keeps=_is_rule,
        ),
        is_loaded=False,
    )
    assembly = found.assembly
    whole = sum(item.tokens for item in assembly.offered)
    told = sum(each.tokens for each in assembly.told)
    return ContextPackage(
        task=task,
        project=project or None,
        assembly=assembly,
        items=_items(assembly, policy.head_tail_preserve, ORDERS[request.order_by]),
        counts={
            tier: PackageCount(
                sum(each.section == tier for each in assembly.told),
                sum(item.section == tier for item in assembly.offered),
            )
            for tier in Tier
        },
        compression_ratio=round(told / whole, 4) if whole else 1.0,
        retrieval=found,
    )


def _narrowed(viewer: Viewer, task: Task, named: str | None) -> tuple[Viewer, str]:
    """The viewer of the package's project and user and of no other, and the project's name."""
    if task.project and named not in (None, task.project):
        raise InvalidError(f"The task belongs to the project '{task.project}'.", field="project")
    project_id = viewer.project_id
    if named is None and task.project:
        known = names_of(team_id=viewer.team_id, agent=None, project=task.project)
        project_id = known.project_id
    return replace(viewer, project_id=project_id or NOBODY), named or task.project


def _asked(noted: Sequence[TaskItem]) -> str:
    """Returns the task's current subject: the words of its last items, "" where there are none."""
    return " ".join(each.words[:_MOST_ASKED] for each in reversed(noted[-3:]))[:_MOST_ASKED]


def _is_rule(row: SignalRow) -> bool:
    """Returns whether a memory applies to all work of the project or person, whatever the task.

    Events of the project, such as its commits, are told where they say something about the task.
    """
    if row.scope == Scope.PROJECT:
        return row.form != Form.EPISODE
    return is_preference(category=row.category, subject=row.subject)


def _rows(viewer: Viewer, filters: Expression) -> MemoryQuerySet | None:
    if not any(conditions_of(filters)):
        return None
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = Memory.objects.searchable(include_cold=False)
        return matching(viewer=viewer, rows=rows, expression=filters)


def _entry(item: TaskItem) -> Entry:
    words = f"{item.tool}: {item.words}" if item.tool else item.words
    line = Line(
        content=words,
        memory_type=MemoryType.AGENT_PRIVATE,
        importance=item.importance,
        confidence=1.0,
        at=item.created_at,
        status=Status.ACTIVE.value,
        scope=Scope.TASK,
    )
    # The rules shorten prose; what a tool put out is told whole or not at all.
    levels = levels_of(words) if is_long(words) and not item.tool else None
    return Entry(item.id, line, item.importance / 10, levels=levels)


def _items(
    assembly: Assembly, ends: int, place: Callable[[Line], float]
) -> tuple[PackageItem, ...]:
    offered = [item.value[0] for item in assembly.offered if isinstance(item.value[0], Entry)]
    kept = {each.key for each in head_and_tail(offered, count=ends)}
    told = sorted(assembly.told, key=lambda each: place(each.entry.line))
    return tuple(PackageItem(each, each.entry.key in kept) for each in told)
