"""What it adds to a memory that its fact is said again."""

from __future__ import annotations

from django.db.models import F

from memory.models import Memory
from memory.services.writing.drafts import MemoryDraft


def corroborate(*, existing: Memory, draft: MemoryDraft) -> Memory:
    """Note on the existing memory that the fact was said again, and by which messages.

    Messages that it already names add nothing: a repeated delivery is not a second witness.
    """
    known = set(existing.source_message_ids)
    fresh = [item for item in draft.message_ids if item not in known]
    if draft.message_ids and not fresh:
        return existing
    external = [item for item in draft.message_external_ids if item]
    existing.source_message_ids = [*existing.source_message_ids, *fresh]
    existing.source_external_ids = list(dict.fromkeys([*existing.source_external_ids, *external]))
    Memory.objects.filter(team_id=existing.team_id, pk=existing.pk).update(
        source_message_ids=existing.source_message_ids,
        source_external_ids=existing.source_external_ids,
        corroboration=F("corroboration") + 1,
    )
    existing.corroboration += 1
    return existing
