"""Episodes of the times that a question names."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.retrieval.question import Asked
from memory.models import Memory

_MOST = 20


def episodes_of(*, viewer: Viewer, asked: Asked) -> list[UUID]:
    """The latest episodes that the viewer may see of the periods asked about; call it in scope.

    However many memories there are since, and however little of the question is in their words.
    None for a day of no year: it would be of any.
    """
    ahead = timedelta(seconds=asked.ahead)
    periods = [
        Q(created_at__gte=each.start - ahead, created_at__lt=each.end - ahead)
        for each in asked.periods
        if not each.yearly
    ]
    if not periods:
        return []
    rows = Memory.objects.visible_to(viewer).searchable(include_cold=False)
    found = rows.filter(reduce(or_, periods), form=Form.EPISODE.value).order_by("-id")
    return list(found.values_list("id", flat=True)[:_MOST])
