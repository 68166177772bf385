"""The context of work in progress in four tiers (seed 002, "Token Efficiency Strategy")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from memory.domain.levels import Level
from memory.domain.packing import Room
from memory.domain.plans.plan import (
    MARKER,
    NOTICE,
    RULE,
    Block,
    Plan,
    Section,
    Written,
    always,
    is_identity,
    is_pinned,
    never,
    without_heading,
)
from memory.domain.rendering import Line

DEFAULT_BUDGET = 8_000
TITLE = "WORKING CONTEXT"
TOPIC_TITLE = "TOPIC"


class ContextTier(StrEnum):
    """The tiers, the most important first."""

    CRITICAL = "tier1"
    RELEVANT = "tier2"
    BACKGROUND = "tier3"
    INDEX = "tier4"


class Activity(StrEnum):
    """What the agent is doing."""

    DEBUGGING = "debugging"
    FEATURE = "feature"
    REVIEW = "review"
    DEPLOY = "deploy"
    PLANNING = "planning"


Shares = tuple[float, float, float, float]
DEFAULT_SHARES: Shares = (0.25, 0.375, 0.25, 0.125)
# Of debugging by seed 002, "Token Budget Examples", scenario 2; of deployments as measured. The
# others have the default: of no other shares two histories agree that they tell more of what is
# needed (docs/decisions/0044-context-of-work-in-progress.md).
SHARES: Mapping[Activity, Shares] = {
    Activity.DEBUGGING: (0.375, 0.3125, 0.1875, 0.125),
    Activity.DEPLOY: (0.15, 0.6, 0.125, 0.125),
}
HEADINGS: Mapping[ContextTier, str] = {
    ContextTier.CRITICAL: "## Critical",
    ContextTier.RELEVANT: "## Relevant",
    ContextTier.BACKGROUND: "## Background",
}


def shares_of(activity: Activity | None) -> Shares:
    """The shares of the budget for each tier; they add up to 1."""
    return DEFAULT_SHARES if activity is None else SHARES.get(activity, DEFAULT_SHARES)


def working_plan(*, shares: Shares, token_budget: int) -> Plan:
    """The first three tiers, of which each may fill what those before it leave free.

    `token_budget` is that of all four. The background is told in compressed texts. Which memory
    stands in which tier is chosen before; what is told whatever the budget stands in the first.
    """
    tiers = list(zip(HEADINGS, shares, strict=False))
    return Plan(
        name="working",
        sections=[
            Section(
                Room(tier, reserve=int(share * token_budget), inherits=place > 0),
                must=_is_mandatory if place == 0 else never,
                takes=always if place == 1 else never,
                write=_below(HEADINGS[tier]),
                longest=Level.COMPRESSED if tier is ContextTier.BACKGROUND else Level.CONTENT,
                block="working",
            )
            for place, (tier, share) in enumerate(tiers)
        ],
        blocks=[
            Block(
                "working",
                opening=f"{TITLE}{MARKER}\n{RULE}\n{NOTICE}",
                closing=RULE,
                headings=tuple(HEADINGS.values()),
            )
        ],
        mandatory="identity and pinned memories",
        on_request=(),
    )


def _is_mandatory(line: Line) -> bool:
    return is_pinned(line) or is_identity(line)


def _below(heading: str) -> Callable[[Line], Written]:
    return lambda line: Written(line.render(), heading)


def topic_plan() -> Plan:
    """What is known of one topic, in the order of rank."""
    return Plan(
        name="topic",
        sections=[
            Section(Room("topic", share=1.0), takes=always, write=without_heading, block="topic")
        ],
        blocks=[Block("topic", opening=f"{TOPIC_TITLE}{MARKER}\n{RULE}\n{NOTICE}\n", closing=RULE)],
        on_request=(),
    )
