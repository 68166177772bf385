"""What a run may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from memory.satellites.lifecycle.steps import Json
from teams.domain.lifecycle_settings import LifecycleSettings


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
