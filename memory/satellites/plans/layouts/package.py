"""Seed 003's package: what a task, its project and everything else bring, each with its share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache, partial

from memory.domain.packing import Room
from memory.domain.plans.plan import NOTICE, Block, Entry, Plan, Section, Written
from memory.domain.rendering import Line
from memory.domain.types import Scope

# More than the importances of two lines can differ by in seconds of the epoch.
_AGES = 1e11
_OPENING = "opening"


class Tier(StrEnum):
    """Where an item of a package comes from; `global` is the team and the user."""

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


def place(line: Line) -> float:
    """Where a line stands in its package: the more important one first, then the older one."""
    return line.at.timestamp() - line.importance * _AGES


def head_and_tail(entries: Sequence[Entry], *, count: int) -> Sequence[Entry]:
    """The first and the last `count` of the entries in their places (seed 003, section 6.1).

    None where there are no more than that: then nothing stands between them.
    """
    if not count or len(entries) <= 2 * count:
        return ()
    ordered = sorted(entries, key=lambda each: place(each.line))
    return [*ordered[:count], *ordered[-count:]]


@lru_cache(maxsize=64)
def package_plan(shares: tuple[float, float, float], *, ends: int) -> Plan:
    """The plan for shares (0-1, of task, project and global) with so many kept at either end.

    What a tier leaves free goes to the best of all tiers.
    """
    return Plan(
        name="package",
        sections=[
            Section(Room(tier, share=share), takes=_of(tier), write=_in_place, block=tier)
            for tier, share in zip(Tier, shares, strict=True)
        ],
        blocks=[
            Block(_OPENING, opening=NOTICE),
            *(Block(tier, opening=HEADINGS[tier], after=_OPENING) for tier in Tier),
        ],
        # How something is done is for whoever works on a task.
        on_request=(),
        has_tiers=True,
        first=partial(head_and_tail, count=ends),
    )


def _of(tier: Tier) -> Callable[[Line], bool]:
    return lambda line: line.scope in _SCOPES[tier]


def _in_place(line: Line) -> Written:
    return Written(line.render(), order=place(line))
