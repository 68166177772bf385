"""Which facts stand already, by the words of what is written, and under what a new one stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory.domain.audience import Reach
from memory.domain.letter_case import other_case
from memory.models import Memory
from memory.selectors.meeting.comparing import live_facts
from memory.services.writing.inserting import PreparedDraft
from memory.services.writing.readers import Readers


class StandingFacts:
    """The live memories that stand under the keys of one write's drafts, and those it stores.

    Call it in the write's transaction, which keeps other writers of the same facts out.
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
            if other_case(memory.content, item.draft.content) is None:
                return memory
        return None

    def take_key(self, item: PreparedDraft, memory: Memory) -> None:
        """Let the new memory stand under a key of its own, beside an equal one of other readers.

        So it stands beside one that differs from it in capitals that carry meaning.

        Where there is none left (a writer files under what it may not read, where the same stands),
        it stands without: refusing it would tell the writer what is there.
        """
        if self.same_as(item) is not None:
            memory.dedupe_key = item.key
        else:
            free = (key for key in item.keys if key not in self._by_key)
            memory.dedupe_key = next(free, None)
        if memory.is_live and memory.dedupe_key is not None:
            self._by_key[memory.dedupe_key] = memory

    def forget(self, ids: Iterable[UUID]) -> None:
        """These are past: said again, it would be a change back and no repetition."""
        gone = set(ids)
        if not gone:
            return  # of nearly every draft
        self._by_key = {key: each for key, each in self._by_key.items() if each.pk not in gone}
