"""Making, weakening and removing the edges that consolidations find; no others."""

from __future__ import annotations

from datetime import datetime

from memory.models import MemoryRelation
from memory.satellites.lifecycle.batches import Batch
from memory.satellites.lifecycle.linking import are_for_the_same
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.services.write.audiences import readers_in

_TYPE = "related_to"
_OTHER = "its edge is another by now"


class Link:
    """Joins two memories."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        newer, older = batch.pair(change)
        if not (newer.is_live and older.is_live):
            return "one of them is no longer current"
        readers = readers_in(team_id=batch.team_id)
        if not are_for_the_same(newer, older, readers=readers):
            return "they are for other readers by now"
        edge, is_new = MemoryRelation.objects.get_or_create(
            team_id=batch.team_id,
            from_memory=newer,
            to_memory=older,
            relation_type=_TYPE,
            defaults={**change.after},
        )
        if not is_new:
            return "they are linked already"
        change.result = {"edge": str(edge.pk)}
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Remove the edge, also where it is weaker by now."""
        MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"]).delete()
        return ""


class Weaken:
    """Lets an edge weigh less."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        edge = _edge(change, batch)
        if edge is None:
            return _OTHER
        edge.strength = change.after["strength"]
        edge.save(update_fields=["strength"])
        change.result = {"edge": str(edge.pk)}
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Let it weigh what it did; an edge that is gone since stays so."""
        rows = MemoryRelation.objects.filter(team_id=batch.team_id, pk=change.result["edge"])
        rows.filter(strength=change.after["strength"]).update(strength=change.before["strength"])
        return ""


class Unlink:
    """Removes an edge, which is kept with the change."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        edge = _edge(change, batch)
        if edge is None:
            return _OTHER
        change.result = {"edge": str(edge.pk), "created_at": edge.created_at.isoformat()}
        edge.delete()
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Join the two again, unless they were since."""
        edge, is_new = MemoryRelation.objects.get_or_create(
            team_id=batch.team_id,
            from_memory_id=change.memory_id,
            to_memory_id=change.other_id,
            relation_type=_TYPE,
            defaults={**change.before, "id": change.result["edge"]},
        )
        if is_new:
            found_at = datetime.fromisoformat(change.result["created_at"])
            MemoryRelation.objects.filter(team_id=batch.team_id, pk=edge.pk).update(
                created_at=found_at
            )
        return ""


def _edge(change: ConsolidationChange, batch: Batch) -> MemoryRelation | None:
    """The edge as it was when the change was planned, locked."""
    return (
        MemoryRelation.objects.select_for_update()
        .filter(
            team_id=batch.team_id,
            from_memory=change.memory_id,
            to_memory=change.other_id,
            relation_type=_TYPE,
            **change.before,
        )
        .first()
    )
