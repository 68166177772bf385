"""Throwaway teams with a long log, for the benchmarks of the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from django.db import connection, connections

from audit.selectors.instants import instant_at
from memory.domain.viewer import Viewer
from teams.ids import new_id
from teams.services.people import create_team, ensure_end_user
from teams.tenancy import team_scope

ACTOR = "benchmark:log"
SIZES = (10_000, 100_000, 1_000_000)
PER_MEMORY = 10
BATCH = 500
PEOPLE = 50
_INSERT = """
INSERT INTO {table} (id, team_id, memory_type, form, payload, scope, category, subject, content,
    importance, confidence, corroboration, is_pinned, status, tier, version, tags, contradicts,
    end_user_id, source_message_ids, source_external_ids, extractor, actor, created_at, updated_at)
SELECT given.id, %s, 'semantic', '', '{{}}', 'team', '', 'user.fact', 'Fact ' || given.id, 5, 1, 0,
    false, 'active', 'warm', 1, '{{a,b}}', '{{}}', given.person, '{{}}', '{{}}', 'benchmark', %s,
    now(), now()
FROM unnest(%s::uuid[], %s::uuid[]) AS given (id, person)
"""
_CHANGE = (
    "UPDATE {table} SET importance = importance %% 10 + 1 WHERE team_id = %s AND id = ANY (%s)"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """A throwaway team, its people and its memories, with an instant at each tenth of its log."""

    viewer: Viewer
    people: list[UUID]
    ids: list[UUID]
    instants: list[datetime]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """One transaction of the team."""
        with team_scope(team_ids=[self.viewer.team_id], actor=ACTOR):
            yield


def new_ground() -> Ground:
    """A new team without memories."""
    slug = f"audit-{uuid4().hex[:12]}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    ground = Ground(Viewer(team_id=team.id, actor=ACTOR), [], [], [])
    with ground.scope():
        ground.people.extend(
            ensure_end_user(team_id=team.id, external_id=f"person-{each}").pk
            for each in range(PEOPLE)
        )
    return ground


def insert(ground: Ground, ids: list[UUID], *, table: str = "memory_memory") -> None:
    """Insert memories in one transaction."""
    people = [ground.people[index % PEOPLE] for index in range(len(ids))]
    with ground.scope(), connection.cursor() as cursor:
        cursor.execute(_INSERT.format(table=table), [ground.viewer.team_id, ACTOR, ids, people])


def change(ground: Ground, ids: list[UUID], *, table: str = "memory_memory") -> None:
    """Change memories in one transaction."""
    with ground.scope(), connection.cursor() as cursor:
        cursor.execute(_CHANGE.format(table=table), [ground.viewer.team_id, ids])


def fill(ground: Ground, size: int) -> None:
    """Bring the team's log to `size` rows, `PER_MEMORY` of each memory."""
    for _ in range(0, size // PER_MEMORY, BATCH):
        ids = [new_id() for _ in range(min(BATCH, size // PER_MEMORY))]
        insert(ground, ids)
        ground.ids.extend(ids)
    note(ground)
    for _ in range(PER_MEMORY - 1):
        grow(ground)
    for table in ("audit_memorylog", "audit_logcommit", "memory_memory"):
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {table}")


def grow(ground: Ground) -> None:
    """One more log row of each memory."""
    for start in range(0, len(ground.ids), BATCH):
        change(ground, ground.ids[start : start + BATCH])
    note(ground)


def note(ground: Ground) -> None:
    """Remember this moment."""
    with ground.scope():
        ground.instants.append(instant_at(team_id=ground.viewer.team_id, at=None).at)
