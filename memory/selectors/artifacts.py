"""Memories by the artifacts that their payloads name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.domain.forms import ArtifactQuery
from memory.models import MemoryArtifact


def names_artifact_q(*, team_id: UUID, wanted: Sequence[ArtifactQuery]) -> Q:
    """Memories that name one of the artifacts; who may see them is the caller's to say."""
    each = (Q(kind=one.kind.value) & _ref_q(one) for one in wanted)
    rows = MemoryArtifact.objects.filter(team_id=team_id, memory_id=OuterRef("id"))
    return Q(Exists(rows.filter(reduce(or_, each))))


def _ref_q(wanted: ArtifactQuery) -> Q:
    if wanted.is_folder:
        return Q(ref__startswith=wanted.ref)
    return Q(ref=wanted.ref) if wanted.ref else Q()
