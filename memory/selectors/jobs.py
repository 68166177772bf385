"""Figures of the background work."""

from __future__ import annotations

from django.db.models import Count

from memory.models import Job


def jobs_by_state() -> dict[str, int]:
    """How many jobs of the scope's teams are in each state."""
    rows = Job.objects.order_by().values_list("state").annotate(count=Count("*"))
    found = dict(rows)
    return {state.value: found.get(state.value, 0) for state in Job.State}
