"""Steps of a consolidation, and what a plan of one says (seed 002, "Consolidation Engine")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from teams.domain.team_settings import LifecycleSettings

# How long a judgement of a pair is reused.
KEPT = timedelta(days=14)
Json = Any  # Any: what JSON holds


class Step(StrEnum):
    """The steps in the order in which they run; a memory is changed by one step of a run."""

    DEDUPLICATE = "deduplicate"
    COMPRESS = "compress"
    RANK = "rank"
    CONTRADICTIONS = "contradictions"
    FORGET = "forget"
    LINK = "link"


class Kind(StrEnum):
    """What a planned change does to its memory."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    DISPUTE = "dispute"
    MOVE_TIER = "move_tier"
    EXPIRE = "expire"
    SHORTEN = "shorten"
    LINK = "link"
    WEAKEN = "weaken"
    UNLINK = "unlink"


@dataclass(frozen=True, slots=True)
class Planned:
    """One change that a step proposes.

    `before` holds the columns of the memory that it rests on: where one of them is another when
    the change is to be made, it is left out; what is no column of it the executor compares.
    `after` is what they will be, and what else the kind needs; neither holds texts. `because` says
    in words why, at most 300 characters.
    """

    kind: Kind
    memory_id: UUID
    because: str
    other_id: UUID | None = None
    before: Mapping[str, Json] = field(default_factory=dict)
    after: Mapping[str, Json] = field(default_factory=dict)

    @property
    def memory_ids(self) -> tuple[UUID, ...]:
        """The memories that it is about."""
        return (self.memory_id,) if self.other_id is None else (self.memory_id, self.other_id)


@dataclass(frozen=True, slots=True)
class Page:
    """What a step proposes for a page of its candidates.

    `cursor` is where its next page begins, None after the last one, and `resume` where the next run
    goes on with what no run looks at wholly. `looked_at` counts the candidates, `judged` the pairs
    that a judge was asked about, which cost `cost_usd`.
    """

    planned: tuple[Planned, ...] = ()
    cursor: Json = None
    resume: Json = None
    looked_at: int = 0
    judged: int = 0
    cost_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run may look at, and when it was planned.

    `since` is when the last run of the same scope and steps began, at least three days ago; None
    where there was none. `resume` is what that one's pages gave as theirs, by step. `left_usd` is
    what the run may yet spend on models.
    """

    team_id: UUID
    run_id: UUID
    settings: LifecycleSettings
    now: datetime
    since: datetime | None = None
    resume: Mapping[str, Json] = field(default_factory=dict)
    left_usd: Decimal = Decimal(0)
    end_user_id: UUID | None = None
    project_id: UUID | None = None
