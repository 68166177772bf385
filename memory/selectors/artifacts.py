"""Memories by the artifacts that their payloads name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.domain.forms import ArtifactKind, ArtifactQuery
from memory.domain.prediction.ownership import LATEST, Touch
from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryArtifact

# Of files of the same names as the open ones, the latest; and rows of the latest memories.
_MOST_NAMED, _MOST_LATEST = 2_000, 500


@dataclass(frozen=True, slots=True)
class FileTouches:
    """Files that memories name, oldest memory first: of the names asked for, and the latest."""

    named: list[Touch]
    latest: list[Touch]


def names_artifact_q(*, team_id: UUID, wanted: Sequence[ArtifactQuery]) -> Q:
    """Memories that name one of the artifacts; who may see them is the caller's to say."""
    each = (Q(kind=one.kind.value) & _ref_q(one) for one in wanted)
    rows = MemoryArtifact.objects.filter(team_id=team_id, memory_id=OuterRef("id"))
    return Q(Exists(rows.filter(reduce(or_, each))))


def file_touches(*, viewer: Viewer, names: Sequence[str]) -> FileTouches:
    """Files of those names, and of the latest memories; call it in the team's scope.

    Read are the live memories that the viewer may see; they count from oldest to latest by id.
    """
    files = MemoryArtifact.objects.filter(team_id=viewer.team_id, kind=ArtifactKind.FILE.value)
    rows = files.order_by("-memory_id").values_list(
        "memory_id", "ref", "added", "removed", "breadth"
    )
    named, latest = rows.filter(name__in=names)[:_MOST_NAMED], rows[:_MOST_LATEST]
    read = [list(each) for each in (named, latest)]
    # In a statement of its own: as a condition the planner looks through all memories of the team
    # for each row.
    ids: set[UUID] = {row[0] for each in read for row in each}
    seen = set(
        Memory.objects.visible_to(viewer)
        .searchable(include_cold=False)
        .filter(id__in=ids)
        .values_list("id", flat=True)
    )
    named_first, latest_first = (
        [Touch(*row) for row in reversed(each) if row[0] in seen] for each in read
    )
    newest = set(list(dict.fromkeys(each.key for each in reversed(latest_first)))[:LATEST])
    return FileTouches(named_first, [each for each in latest_first if each.key in newest])


def _ref_q(wanted: ArtifactQuery) -> Q:
    if wanted.is_folder:
        return Q(ref__startswith=wanted.ref)
    return Q(ref=wanted.ref) if wanted.ref else Q()
