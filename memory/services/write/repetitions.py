"""Facts that are stored already, by their words, and what it adds to say one again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import F

from memory.domain.audience import Reach
from memory.domain.letter_case import differs_in_case
from memory.models import Memory
from memory.selectors.neighbours.comparing import live_facts
from memory.services.write.audiences import Readers
from memory.services.write.drafts import MemoryDraft
from memory.services.write.inserting import PreparedDraft


class StoredFacts:
    """The live memories stored under the keys of one write's drafts, its own new ones included.

    Use it in the write's transaction, which keeps other writers of the same facts out.
    """

    def __init__(
        self, *, team_id: UUID, prepared: Sequence[PreparedDraft], readers: Readers
    ) -> None:
        wanted = {key for item in prepared if item.draft.check for key in item.keys}
        rows = live_facts(team_id=team_id, keys=wanted) if wanted else []
        self._by_key = {bytes(row.dedupe_key or b""): row for row in rows}
        self._readers = readers

    def same_as(self, item: PreparedDraft) -> Memory | None:
        """The memory that says the same to the same readers, if the writer may read it."""
        for key in item.keys:
            memory = self._by_key.get(key)
            if memory is None or self._readers.reach(memory, item.draft) is not Reach.SAME:
                continue
            if not differs_in_case(memory.content, item.draft.content):
                return memory
        return None

    def take_key(self, item: PreparedDraft, memory: Memory) -> None:
        """Store the new memory under a free key, beside an equal one of other readers.

        Likewise beside one that differs from it in capitals that carry meaning. Where no key is
        free (a writer files under a category that it may not read, where the same is stored), it
        gets none: refusing it would tell the writer what is there.
        """
        if self.same_as(item) is not None:
            memory.dedupe_key = item.key
        else:
            free = (key for key in item.keys if key not in self._by_key)
            memory.dedupe_key = next(free, None)
        if memory.is_live and memory.dedupe_key is not None:
            self._by_key[memory.dedupe_key] = memory

    def forget(self, ids: Iterable[UUID]) -> None:
        """These are retired: said again, it would be a change back and no repetition."""
        gone = set(ids)
        if gone:
            self._by_key = {k: each for k, each in self._by_key.items() if each.pk not in gone}


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
