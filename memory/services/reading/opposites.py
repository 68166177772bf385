"""What each candidate contradicts, as the lines of a prompt quote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from memory.domain.rendering import Opposite
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.searching.signal_rows import SignalRow
from memory.services.reading.clashes import Clash


def opposites_among(
    *, viewer: Viewer, rows: Sequence[SignalRow], clashes: Sequence[Clash]
) -> Mapping[UUID, tuple[Opposite, ...]]:
    """The texts that each candidate contradicts, as far as the viewer may see them."""
    marked = [row for row in rows if row.contradicts]
    wanted = {other for row in marked for other in row.contradicts or ()}
    seen = Memory.objects.visible_to(viewer).filter(id__in=wanted) if wanted else ()
    texts = {memory.pk: Opposite(memory.content, memory.created_at) for memory in seen}
    found: dict[UUID, tuple[Opposite, ...]] = defaultdict(tuple)
    for row in marked:
        found[row.memory_id] += tuple(
            texts[each] for each in row.contradicts or () if each in texts
        )
    # What more see is not marked by what fewer see; who is shown both is told on both.
    against = {row.memory_id: row.contradicts or () for row in rows} if marked else {}
    for row in marked:
        for other in row.contradicts or ():
            if row.memory_id not in against.get(other, (row.memory_id,)):
                found[other] += (Opposite(row.content, row.created_at),)
    for clash in clashes:
        one, two = clash.earlier, clash.later
        found[one.memory_id] += (Opposite(two.content, two.created_at),)
        found[two.memory_id] += (Opposite(one.content, one.created_at),)
    return found
