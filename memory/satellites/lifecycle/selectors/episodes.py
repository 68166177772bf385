"""Which episodes are old enough to be told in fewer words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Q

from memory.domain.forms import Form
from memory.domain.levels import WHOLE_FROM
from memory.domain.types import MemoryType
from memory.models import MemoryLevels
from memory.satellites.lifecycle.selectors.candidates import PAGE, changed_since, in_scope
from memory.satellites.lifecycle.selectors.scope import Scope
from memory.satellites.lifecycle.steps import Step

_EPISODES = Q(memory_type=MemoryType.EPISODIC.value) | Q(form=Form.EPISODE.value)


def ages(scope: Scope) -> list[int]:
    """After how many days episodes are summarised and compressed."""
    return [scope.settings.summarise_after_days, scope.settings.compress_after_days]


def old_episodes(*, scope: Scope, after: UUID) -> Sequence[MemoryLevels]:
    """The next episodes that may have come of age, with their memories; call it in scope.

    Neither pinned ones nor important ones nor identity, nor those whose shorter versions are not
    written. Of a team whose last run had the same ages only those that came of age since, or
    changed; of another one all.
    """
    rows = in_scope(scope=scope).filter(
        _EPISODES, importance__lt=WHOLE_FROM, is_pinned=False, id__gt=after
    )
    rows = rows.exclude(memory_type=MemoryType.IDENTITY.value)
    rows = rows.filter(created_at__lte=scope.now - timedelta(days=min(ages(scope))))
    if scope.since is not None and scope.resume.get(Step.COMPRESS.value) == ages(scope):
        due = Q(id__in=changed_since(scope=scope, after=after))
        for days in ages(scope):
            age = timedelta(days=days)
            due |= Q(created_at__gt=scope.since - age, created_at__lte=scope.now - age)
        rows = rows.filter(due)
    levels = MemoryLevels.objects.filter(team_id=scope.team_id, memory__in=rows)
    return list(levels.exclude(writer="").select_related("memory").order_by("memory_id")[:PAGE])
