"""The plans of consolidation steps and the needs of their changes (seed 002, "Consolidation")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from memory.models import Memory
from memory.satellites.lifecycle.models import ConsolidationChange, Kind
from memory.understanding.tools import Tools
from teams.domain.team_settings import LifecycleSettings

ACTOR = "task:consolidate"
# How long a judgement of a pair is reused.
KEPT = timedelta(days=14)
Json = Any  # Any: what JSON holds


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
    """A step's proposals for a page of its candidates.

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
    """The memories that a run may look at, and the time of its planning.

    `since` is when the last run of the same scope and steps began, at least three days ago; None
    where there was none. `resume` is what that one's pages gave as theirs, by step. `left_usd` is
    what the run may yet spend on models; a dry run asks none.
    """

    team_id: UUID
    run_id: UUID
    settings: LifecycleSettings
    now: datetime
    since: datetime | None = None
    resume: Mapping[str, Json] = field(default_factory=dict)
    left_usd: Decimal = Decimal(0)
    is_dry: bool = False
    end_user_id: UUID | None = None
    project_id: UUID | None = None

    @property
    def owners(self) -> dict[str, UUID]:
        """The person and project whose memories alone the run may change, as a filter."""
        given = {"end_user_id": self.end_user_id, "project_id": self.project_id}
        return {name: value for name, value in given.items() if value is not None}

    def has(self, memory: Memory) -> bool:
        """Returns whether the run may change the memory."""
        return all(getattr(memory, name) == value for name, value in self.owners.items())


# Reads a page of its candidates, from a cursor on, and says what to change; called in no
# transaction, for it may ask a model.
Plan: TypeAlias = Callable[[Scope, Json, Tools], Page]


@dataclass(frozen=True, slots=True)
class Batch:
    """The transaction of a few changes: `memories` are those they are about, locked."""

    team_id: UUID
    actor: str
    now: datetime
    memories: Mapping[UUID, Memory]
    tools: Tools

    def pair(self, change: ConsolidationChange) -> tuple[Memory, Memory]:
        """Both memories of a change that is about two."""
        assert change.other_id is not None
        return self.memories[change.memory_id], self.memories[change.other_id]


Action: TypeAlias = Callable[[ConsolidationChange, Batch], str]


@dataclass(frozen=True, slots=True)
class Executor:
    """Makes the changes of a kind, and undoes what the log of memories does not hold.

    `make` keeps in `change.result` what else was written. `undo` comes after the memories' own
    columns are as before. Both return why not, "" where it is done.
    """

    make: Action
    undo: Action = lambda _change, _batch: ""
