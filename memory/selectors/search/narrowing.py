"""What a filter leaves of what a viewer may see, by its ids."""

from __future__ import annotations

import numpy as np
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection

from memory.domain.viewer import Viewer
from memory.models.querysets import MemoryQuerySet
from teams.prepared import Uuids

# As one value: so many ids take longer to be read than to be found.
_AS_ONE = "SELECT string_agg(uuid_send(id), ''::bytea) FROM ({rows}) AS chosen"


def narrowed(*, viewer: Viewer, rows: MemoryQuerySet) -> Uuids | None:
    """What the viewer may see of the rows, or None where those are too many to name.

    A filter that leaves no more than FILTERED_FIRST is applied before the search, else after it.
    """
    most = settings.FILTERED_FIRST
    chosen = rows.visible_to(viewer).order_by().values_list("id", flat=True)[: most + 1]
    found = b""
    try:
        statement, values = chosen.query.sql_with_params()
    except EmptyResultSet:
        pass
    else:
        with connection.cursor() as cursor:
            cursor.execute(_AS_ONE.format(rows=statement), values)
            ((found,),) = cursor.fetchall()
    ids = np.frombuffer(found or b"", dtype="S16").view(Uuids)
    return ids if len(ids) <= most else None
