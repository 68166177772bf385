"""The neighbours of the drafts of one write: what is stored, and earlier drafts of the write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.domain.audience import OPEN, Audience
from memory.domain.judging.pairs.change_words import tells_change
from memory.domain.judging.relatedness import Change, names_change
from memory.models import Memory
from memory.selectors.meeting.comparing import live_memories
from memory.selectors.meeting.many_neighbours import Asked
from memory.selectors.meeting.neighbours import Company, Neighbour
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.matters import as_statements
from memory.services.writing.nearness import Added, Near, best
from memory.services.writing.readers import Readers
from memory.services.writing.stored_neighbours import Look, Stored, stored_neighbours

# How many are looked through for what a draft says has changed ("switched to Linear"): the vectors
# of the old value and the new one may have nothing in common.
WIDE_LOOK = 40


class Surroundings:
    """What each draft of one write is compared with; made and used in the write's transaction.

    `vectors` are unit vectors, shape (drafts, dimensions). A draft that was stored is made known
    by `add`, what left the live memories by `drop`.
    """

    def __init__(
        self,
        *,
        drafts: Sequence[MemoryDraft],
        vectors: NDArray[np.float32],
        embedding_model: str,
        opposition_similarity: float,
        readers: Readers | None = None,
    ) -> None:
        self._drafts = drafts
        self._readers = readers or Readers()
        # As the database keeps them, so that a draft of this write is as near as a stored one.
        self._vectors = vectors.astype(np.float16).astype(np.float32)
        self._model = embedding_model
        self._relevant = min(opposition_similarity, settings.LINK_SIMILARITY)
        self._limit = settings.JUDGED_NEIGHBOURS
        self._near: dict[int, Stored] = {}
        self._known: dict[UUID, Memory] = {}
        self._gone: set[UUID] = set()
        self._added: dict[Audience, Added] = defaultdict(Added)
        self._wide: set[int] = set()
        checked = [index for index, draft in enumerate(drafts) if draft.check]
        self._wide |= {index for index in checked if tells_change(drafts[index].content)}
        self._ask(checked)
        self._load(
            pk
            for index, stored in self._near.items()
            for pk, _ in [*stored.near[: self._look(index)], *stored.of_subject]
        )

    def of(self, index: int) -> list[Neighbour]:
        """The nearest live memories of the draft and those of its subject, nearest first.

        Those too far away for a judge or a link are left out, unless the subject is the same or
        the draft says in so many words that something of theirs has changed.
        """
        draft = self._drafts[index]
        if not draft.check:
            return []
        stored = self._stored(index)
        # A draft of this write may be among the stored ones by now.
        earlier = self._earlier(index)
        close = best({**dict(stored.near), **dict(earlier)}, self._look(index))
        close = self._met(draft, close)
        found = {pk: value for pk, value in close[: self._limit] if value >= self._relevant}
        if index in self._wide:
            found |= self._changed(draft, close)
        if draft.subject:
            same = {pk: value for pk, value in earlier if self._known[pk].subject == draft.subject}
            near = self._met(draft, list({**dict(stored.of_subject), **same}.items()))
            found |= dict(best(dict(near), self._limit))
        self._load(found)
        met = [(pk, value) for pk, value in found.items() if pk in self._known]
        reach = {pk: self._readers.reach(self._known[pk], draft) for pk, _ in met}
        return sorted(
            (
                Neighbour(self._known[pk], value, who)
                for pk, value in met
                if (who := reach[pk]) is not None
            ),
            key=lambda neighbour: (-neighbour.similarity, neighbour.memory.pk),
        )

    def _met(self, draft: MemoryDraft, near: Near) -> Near:
        """Those of the near that the draft may meet, so that what is hidden takes no place."""
        if self._readers.are_alike:
            return near
        self._load(pk for pk, _ in near)
        return [
            (pk, value)
            for pk, value in near
            if pk in self._known and self._readers.reach(self._known[pk], draft) is not None
        ]

    def _look(self, index: int) -> int:
        """How many of the nearest are looked at: more where some may be hidden from the writer."""
        is_wide = index in self._wide or not self._readers.are_alike
        return WIDE_LOOK if is_wide else self._limit

    def _changed(self, draft: MemoryDraft, near: Near) -> dict[UUID, float]:
        """Those of which the draft says that something has changed, however far their vectors."""
        self._load(pk for pk, _ in near)
        found: dict[UUID, float] = {}
        for pk, value in near:
            memory = self._known.get(pk)
            if memory is None or memory.created_at > draft.created_at:
                continue
            existing, new = as_statements(earlier=memory, later=draft)
            if names_change(existing=existing, new=new) is not Change.NONE:
                found[pk] = value
        return found

    @property
    def stored(self) -> list[UUID]:
        """The stored memories that the drafts may meet."""
        found = (
            near for stored in self._near.values() for near in (stored.near, stored.of_subject)
        )
        return list({pk for near in found for pk, _ in near})

    def add(self, index: int, memory: Memory) -> None:
        """The draft stands as `memory` from now on."""
        self._added[self._drafts[index].audience].append(index, memory)
        self._known[memory.pk] = memory

    def drop(self, ids: Iterable[UUID]) -> None:
        """These are no longer live."""
        gone = set(ids)
        if not gone:
            return  # by nearly every draft
        self._gone |= gone
        for added in self._added.values():
            added.remove(gone)

    def look_again(self, ids: Iterable[UUID]) -> None:
        """Read these as they stand now, and drop those that are no longer live."""
        wanted = set(ids)
        team_id = self._drafts[0].team_id
        rows = live_memories(team_id=team_id, ids=wanted)
        self._known |= rows
        self.drop(wanted - rows.keys())

    def _stored(self, index: int) -> Stored:
        """The nearest memories in the database and those of the subject, without what is gone."""
        left, before = self._left(index), self._near[index]
        if any(
            len(now) < min(self._limit, len(then))
            for now, then in (
                (left.near, before.near),
                (left.of_subject, before.of_subject),
            )
        ):
            # Too many are gone to tell who is nearest among the others.
            self._ask([index])
            left = self._left(index)
        return left

    def _left(self, index: int) -> Stored:
        before = self._near[index]
        return Stored(
            [each for each in before.near if each[0] not in self._gone],
            [each for each in before.of_subject if each[0] not in self._gone],
        )

    def _ask(self, indexes: Sequence[int]) -> None:
        """Look in the database as it is now."""
        looks = [
            Look(
                Asked(
                    company_of(self._drafts[index]),
                    self._vectors[index],
                    self._drafts[index].subject,
                ),
                near=self._look(index),
                of_subject=self._limit if self._readers.are_alike else WIDE_LOOK,
            )
            for index in indexes
        ]
        found = stored_neighbours(looks=looks, embedding_model=self._model)
        self._near |= zip(indexes, found, strict=True)

    def _earlier(self, index: int) -> Near:
        """The nearest drafts stored before in this write, and all of the same subject."""
        company, subject = company_of(self._drafts[index]), self._drafts[index].subject
        near: Near = []
        for audience, added in self._added.items():
            if not added.indexes or not keeps(company, audience):
                continue
            cosines = self._vectors[added.indexes] @ self._vectors[index]
            count = min(self._look(index), len(cosines))
            best = set(np.argpartition(-cosines, count - 1)[:count].tolist())
            if subject:
                best.update(added.of_subject[subject])
            near += [(added.memories[place].pk, float(cosines[place])) for place in best]
        return near

    def _load(self, ids: Iterable[UUID]) -> None:
        wanted = {pk for pk in ids if pk not in self._known and pk not in self._gone}
        if wanted:
            self.look_again(wanted)


def company_of(draft: MemoryDraft) -> Company:
    """The memories that a draft is compared with."""
    author = draft.author_id if draft.audience.agent_id is None else None
    return Company(draft.audience, author)


def keeps(company: Company, other: Audience) -> bool:
    """Whether a memory of the `other` audience is one of the company's, see `Company.as_q`."""
    mine = company.audience
    if (mine.kind, mine.end_user_id) != (other.kind, other.end_user_id):
        return False
    if mine == other:
        return True
    if mine.kind != OPEN:
        return False
    if mine.agent_id is None and other.agent_id is not None:
        of_its = company.author_id in (None, other.agent_id)
        return of_its and mine.project_id in (None, other.project_id)
    return other.agent_id in (None, mine.agent_id) and other.project_id in (None, mine.project_id)
