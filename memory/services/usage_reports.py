"""What an agent reports of the memories that it was given: which it used, and which not."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from memory.domain.viewer import Viewer
from memory.domain.work import Work
from memory.models import Memory
from memory.services.read.usage import Uses, write_uses
from memory.services.retrying import retried
from memory.services.usefulness import note_useful
from teams.errors import NotFoundError
from teams.ids import new_id
from teams.tenancy import team_scope


@retried
def report_usage(
    *,
    viewer: Viewer,
    cited: Collection[UUID],
    ignored: Collection[UUID],
    work: Work | None = None,
) -> None:
    """Count one citation or ignore of each memory, in whatever status it is by now.

    At least one memory is named, and none in both. What was cited in a `work` is predicted when
    its signals come again. Raises NotFoundError with the first id that the viewer may not see; then
    nothing is counted.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = Memory.objects.visible_to(viewer).filter(pk__in={*cited, *ignored})
        known = {row.pk: row for row in rows.order_by("pk")}
        for field, ids in (("cited", cited), ("ignored", ignored)):
            for memory_id in ids:
                if memory_id not in known:
                    raise NotFoundError(f"There is no memory {memory_id}.", field=field)
        uses = {key: Uses(cited=int(key in cited), ignored=int(key in ignored)) for key in known}
        write_uses(team_id=viewer.team_id, batch=new_id(), uses=uses)
        if work is not None:
            for memory_id, memory in known.items():
                if memory_id in cited and memory.is_live:
                    note_useful(memory=memory, work=work)
