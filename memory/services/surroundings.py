"""The neighbours of the drafts of one write: what is stored, and earlier drafts of the write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.domain.audience import OPEN, Audience, Reach
from memory.domain.judging.relatedness import Change, names_change
from memory.domain.judging.replacing import tells_change
from memory.domain.types import Statement
from memory.models import Memory
from memory.selectors.neighbours import (
    Company,
    Neighbour,
    all_vectors,
    count_up_to,
    ids_of_subjects,
    nearest,
    nearest_of_subject,
)
from memory.services.drafts import MemoryDraft
from memory.services.nearness import Added, Near, best, keep_best

# From so many drafts about one audience on, its vectors are read once for all of them, as long as
# they are no more than so many a draft; below, or beyond, the database is asked for each draft.
TOGETHER = 8
VECTORS_A_DRAFT = 1_000
# Spare neighbours, for what the write itself retires, and to tell apart who is equally near.
_SPARE = 5
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
    ) -> None:
        self._drafts = drafts
        # As the database keeps them, so that a draft of this write is as near as a stored one.
        self._vectors = vectors.astype(np.float16).astype(np.float32)
        self._model = embedding_model
        self._relevant = min(opposition_similarity, settings.LINK_SIMILARITY)
        self._limit = settings.JUDGED_NEIGHBOURS
        self._near: dict[int, tuple[Near, Near]] = {}
        self._known: dict[UUID, Memory] = {}
        self._gone: set[UUID] = set()
        self._added: dict[Audience, Added] = defaultdict(Added)
        self._wide: set[int] = set()
        by_company: dict[Company, list[int]] = defaultdict(list)
        for index, draft in enumerate(drafts):
            if draft.check:
                if tells_change(draft.content):
                    self._wide.add(index)
                by_company[company_of(draft)].append(index)
        for company, indexes in by_company.items():
            most = VECTORS_A_DRAFT * len(indexes)
            if len(indexes) >= TOGETHER and count_up_to(company=company, most=most + 1) <= most:
                self._near |= self._all_near(company, indexes)
        self._load(
            pk
            for index, (near, of_subject) in self._near.items()
            for pk, _ in [*near[: self._look(index)], *of_subject]
        )

    def of(self, index: int) -> list[Neighbour]:
        """The nearest live memories of the draft and those of its subject, nearest first.

        Those too far away for a judge or a link are left out, unless the subject is the same or
        the draft says in so many words that something of theirs has changed.
        """
        draft = self._drafts[index]
        if not draft.check:
            return []
        near, of_subject = self._stored(index)
        # A draft of this write may be among the stored ones by now.
        earlier = self._earlier(index)
        close = best({**dict(near), **dict(earlier)}, self._look(index))
        found = {pk: value for pk, value in close[: self._limit] if value >= self._relevant}
        if index in self._wide:
            found |= self._changed(draft, close)
        if draft.subject:
            same = {pk: value for pk, value in earlier if self._known[pk].subject == draft.subject}
            found |= dict(best({**dict(of_subject), **same}, self._limit))
        self._load(found)
        return sorted(
            (
                Neighbour(self._known[pk], value, _reach(self._known[pk], draft.audience))
                for pk, value in found.items()
                if pk in self._known
            ),
            key=lambda neighbour: (-neighbour.similarity, neighbour.memory.pk),
        )

    def _look(self, index: int) -> int:
        """How many of the nearest are looked at."""
        return WIDE_LOOK if index in self._wide else self._limit

    def _changed(self, draft: MemoryDraft, near: Near) -> dict[UUID, float]:
        """Those of which the draft says that something has changed, however far their vectors."""
        self._load(pk for pk, _ in near)
        new = Statement(draft.content, draft.created_at, draft.subject)
        found: dict[UUID, float] = {}
        for pk, value in near:
            memory = self._known.get(pk)
            if memory is None or memory.created_at > draft.created_at:
                continue
            existing = Statement(memory.content, memory.created_at, memory.subject)
            if names_change(existing=existing, new=new) is not Change.NONE:
                found[pk] = value
        return found

    def add(self, index: int, memory: Memory) -> None:
        """The draft stands as `memory` from now on."""
        self._added[self._drafts[index].audience].append(index, memory)
        self._known[memory.pk] = memory

    def drop(self, ids: Iterable[UUID]) -> None:
        """These are no longer live."""
        gone = set(ids)
        self._gone |= gone
        for added in self._added.values():
            added.remove(gone)

    def look_again(self, ids: Iterable[UUID]) -> None:
        """Read these as they stand now, and drop those that are no longer live."""
        wanted = set(ids)
        team_id = self._drafts[0].team_id
        live = Memory.objects.live().filter(team_id=team_id, pk__in=wanted)
        rows = {row.pk: row for row in live}
        self._known |= rows
        self.drop(wanted - rows.keys())

    def _stored(self, index: int) -> tuple[Near, Near]:
        """The nearest memories in the database and those of the subject, without what is gone."""
        if index not in self._near:
            self._near[index] = self._ask(index)
        left = self._left(index)
        if any(
            len(now) < min(self._limit, len(before))
            for now, before in zip(left, self._near[index], strict=True)
        ):
            # Too many are gone to tell who is nearest among the others.
            self._near[index] = self._ask(index)
            left = self._left(index)
        return left

    def _left(self, index: int) -> tuple[Near, Near]:
        near, of_subject = (
            [each for each in found if each[0] not in self._gone] for found in self._near[index]
        )
        return near, of_subject

    def _ask(self, index: int) -> tuple[Near, Near]:
        draft, company = self._drafts[index], company_of(self._drafts[index])
        vector = self._vectors[index]
        near = nearest(
            company=company,
            vector=vector,
            embedding_model=self._model,
            limit=self._look(index) + _SPARE,
        )
        if not draft.subject:
            return near, []
        return near, nearest_of_subject(
            company=company,
            subject=draft.subject,
            vector=vector,
            embedding_model=self._model,
            limit=self._limit + _SPARE,
        )

    def _all_near(self, company: Company, indexes: Sequence[int]) -> dict[int, tuple[Near, Near]]:
        """The neighbours of many drafts of one company from one read of its vectors."""
        asked = self._vectors[list(indexes)]
        by_subject: dict[str, list[int]] = defaultdict(list)
        for place, index in enumerate(indexes):
            if self._drafts[index].subject:
                by_subject[self._drafts[index].subject].append(place)
        subject_of = (
            ids_of_subjects(company=company, subjects=list(by_subject)) if by_subject else {}
        )
        near: list[Near] = [[] for _ in indexes]
        of_subject: list[Near] = [[] for _ in indexes]
        for ids, vectors in all_vectors(company=company, embedding_model=self._model):
            cosines = np.nan_to_num(asked @ vectors.T)
            for look in {self._look(index) for index in indexes}:
                looking = [i for i, index in enumerate(indexes) if self._look(index) == look]
                keep_best(near, looking, cosines[looking], ids, look + _SPARE)
            columns: dict[str, list[int]] = defaultdict(list)
            for column, pk in enumerate(ids):
                if pk in subject_of:
                    columns[subject_of[pk]].append(column)
            for subject, chosen in columns.items():
                rows = by_subject[subject]
                keep_best(
                    of_subject,
                    rows,
                    cosines[np.ix_(rows, chosen)],
                    [ids[column] for column in chosen],
                    self._limit + _SPARE,
                )
        return {index: (near[place], of_subject[place]) for place, index in enumerate(indexes)}

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


def _reach(memory: Memory, audience: Audience) -> Reach:
    whose = Audience.of(
        team_id=memory.team_id,
        memory_type=memory.memory_type,
        agent_id=memory.agent_id,
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
    )
    return whose.reach_beside(audience)
