"""Leaving a contradiction for later."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.selectors.contradictions import contradictions_visible_to
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope


def snooze_contradiction(*, viewer: Viewer, contradiction_id: UUID, until: datetime) -> None:
    """Leave an open contradiction out of the review queue until then; it stays open.

    Raises NotFoundError when the viewer may not see it and ConflictError when it is settled.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        if not contradictions_visible_to(viewer).filter(pk=contradiction_id).exists():
            raise NotFoundError("There is no such contradiction.")
        changed = Contradiction.objects.filter(
            team_id=viewer.team_id, pk=contradiction_id, resolved_at=None
        ).update(snoozed_until=until)
        if not changed:
            raise ConflictError("It is settled already.")
