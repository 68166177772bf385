"""A project keeps no more current memories than its `max_items` (seed 003, section 3.3)."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, F

from memory.domain.types import MemoryType, Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.decisions.state import archive_memory
from memory.services.retrying import retried
from teams.models import Project
from teams.services.people import all_team_ids
from teams.tenancy import hold_lock, team_scope

ACTOR = "task:project_limit"
# In one transaction, and how many of these a task makes; the next sweep goes on.
MOST_AT_ONCE = 500
ROUNDS = 20


def keep_to_limit(*, team_id: UUID, project_id: UUID) -> int:
    """Archive what a project has too much, a tenth after the other; returns how many memories.

    Run again it changes nothing until the project has too many once more.
    """
    archived = 0
    for _ in range(ROUNDS):
        count = _archive_tenth(team_id=team_id, project_id=project_id)
        archived += count
        if not count:
            break
    return archived


def keep_all_to_limits() -> int:
    """`keep_to_limit` for each project of all teams that has too many; returns how many memories.

    So a project whose task the queue lost, or whose limit was lowered, comes to its limit as well.
    """
    archived = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            live = Memory.objects.filter(team_id=team_id, project__isnull=False).live()
            counted = live.values("project_id").annotate(count=Count("pk"))
            over = list(
                counted.filter(count__gt=F("project__max_items")).values_list(
                    "project_id", flat=True
                )
            )
        archived += sum(keep_to_limit(team_id=team_id, project_id=each) for each in over)
    return archived


@retried
def _archive_tenth(*, team_id: UUID, project_id: UUID) -> int:
    """Archive the least important tenth, the oldest first, where there are too many.

    What is pinned, an identity, or in dispute, which a person is to settle, stays.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        # Two tasks for one project would each take a tenth.
        hold_lock(f"project-limit|{project_id}")
        project = Project.objects.filter(team_id=team_id, pk=project_id).first()
        if project is None:
            return 0
        live = Memory.objects.filter(team_id=team_id, project_id=project_id).live()
        count = live.count()
        if count <= project.max_items:
            return 0
        rows = (
            live.filter(status=Status.ACTIVE.value, is_pinned=False)
            .exclude(memory_type=MemoryType.IDENTITY.value)
            .order_by("importance", "created_at", "id")
            .select_for_update(no_key=True)
        )
        tenth = min(max(count // 10, 1), MOST_AT_ONCE)
        ids = [memory.pk for memory in rows.only("pk")[:tenth]]
        viewer = Viewer(team_id=team_id, actor=ACTOR)
        reason = (
            f"the project '{project.slug}' had {count:,} memories, more than {project.max_items:,}:"
            " its least important tenth is archived"
        )
        for memory_id in ids:
            archive_memory(viewer=viewer, memory_id=memory_id, reason=reason)
        return len(ids)
