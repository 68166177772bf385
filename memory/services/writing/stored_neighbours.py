"""The nearest stored memories of many drafts, found the cheapest way that finds them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import SearchGraph
from memory.selectors.meeting.company_graphs import graphs_of
from memory.selectors.meeting.many_neighbours import (
    Asked,
    all_vectors,
    nearest_in_graph,
    nearest_of_many,
    nearest_of_subjects,
)
from memory.selectors.meeting.neighbours import Company, ids_of_subjects
from memory.services.writing.nearness import Near, Nearest, best

# From so many drafts about one company on, its vectors are read once for all of them. One with an
# approximate index only as long as they are no more than so many a draft: beyond, walking the
# index for each takes less than comparing all.
TOGETHER = 8
VECTORS_A_DRAFT = 100
# Spare neighbours, for what the write itself retires, and to tell apart who is equally near.
SPARE = 5


@dataclass(frozen=True, slots=True)
class Look:
    """What one draft looks for: its `near` nearest, and the `of_subject` nearest of its subject."""

    asked: Asked
    near: int
    of_subject: int


@dataclass(slots=True)
class Stored:
    """What a draft's look found, nearest first: of all its company, and of its subject."""

    near: Near
    of_subject: Near


def stored_neighbours(
    *, looks: Sequence[Look], embedding_model: str, vectors_a_draft: int = VECTORS_A_DRAFT
) -> list[Stored]:
    """For each look what it finds in the database, with some to spare; one team's drafts."""
    return _Search(looks, embedding_model, vectors_a_draft).run()


class _Search:
    """The looks of one write on their way to what they find."""

    def __init__(self, looks: Sequence[Look], embedding_model: str, vectors_a_draft: int) -> None:
        self._looks = looks
        self._vectors_a_draft = vectors_a_draft
        self._model = embedding_model
        self._near: list[dict[UUID, float]] = [{} for _ in looks]
        self._of_subject: list[dict[UUID, float]] = [{} for _ in looks]

    def run(self) -> list[Stored]:
        by_company: dict[Company, list[int]] = defaultdict(list)
        for place, look in enumerate(self._looks):
            by_company[look.asked.company].append(place)
        graphs = graphs_of(
            companies=list(by_company),
            embedding_model=self._model,
            limit=max((self._most(place) for place in range(len(self._looks))), default=1),
        )
        alone: list[int] = []
        apart: list[int] = []
        for company, places in by_company.items():
            graph, total = graphs.get(company, (None, 0))
            are_many = len(places) >= TOGETHER
            few = self._vectors_a_draft * len(places)
            if graph is not None and not (are_many and total <= few):
                self._look_inside(graph, places, with_outside=not are_many)
                if are_many:
                    self._read(company, places, outside_graph=True)
                apart += places
            elif are_many:
                self._read(company, places, outside_graph=False)
                self._read_subjects(company, places)
            else:
                alone += places
                apart += places
        self._look_alone(alone)
        self._look_for_subjects(apart)
        return [
            Stored(best(near, self._most(place)), best(same, look.of_subject + SPARE))
            for place, (look, near, same) in enumerate(
                zip(self._looks, self._near, self._of_subject, strict=True)
            )
        ]

    def _most(self, place: int) -> int:
        return self._looks[place].near + SPARE

    def _alike(self, places: Sequence[int]) -> dict[int, list[int]]:
        """The places by how many they look for."""
        alike: dict[int, list[int]] = defaultdict(list)
        for place in places:
            alike[self._most(place)].append(place)
        return alike

    def _look_inside(
        self, graph: SearchGraph, places: Sequence[int], *, with_outside: bool
    ) -> None:
        for most, alike in self._alike(places).items():
            found = nearest_in_graph(
                graph=graph,
                asked=self._asked(alike),
                embedding_model=self._model,
                limit=most,
                with_outside=with_outside,
            )
            self._keep(self._near, alike, found)

    def _look_alone(self, places: Sequence[int]) -> None:
        for most, alike in self._alike(places).items():
            found = nearest_of_many(
                asked=self._asked(alike), embedding_model=self._model, limit=most
            )
            self._keep(self._near, alike, found)

    def _look_for_subjects(self, places: Sequence[int]) -> None:
        with_subject = [place for place in places if self._looks[place].asked.subject]
        if with_subject:
            found = nearest_of_subjects(
                asked=self._asked(with_subject),
                embedding_model=self._model,
                limit=self._looks[with_subject[0]].of_subject + SPARE,
            )
            self._keep(self._of_subject, with_subject, found)

    def _read(self, company: Company, places: Sequence[int], *, outside_graph: bool) -> None:
        """Compare many looks of one company with all of its vectors, read once."""
        groups = [
            (alike, self._vectors(alike), Nearest(count=len(alike), most=most))
            for most, alike in self._alike(places).items()
        ]
        for ids, vectors in all_vectors(
            company=company, embedding_model=self._model, outside_graph=outside_graph
        ):
            for _, asked, nearest in groups:
                nearest.see(cosines=asked @ vectors.T, ids=ids)
        for alike, _, nearest in groups:
            self._keep(self._near, alike, [nearest.of(each) for each in range(len(alike))])

    def _read_subjects(self, company: Company, places: Sequence[int]) -> None:
        """The same for each subject that looks of one company name."""
        by_subject: dict[str, list[int]] = defaultdict(list)
        for place in places:
            if self._looks[place].asked.subject:
                by_subject[self._looks[place].asked.subject].append(place)
        if not by_subject:
            return
        subject_of = ids_of_subjects(company=company, subjects=list(by_subject))
        if not subject_of:
            return
        found = {
            subject: Nearest(count=len(alike), most=self._looks[alike[0]].of_subject + SPARE)
            for subject, alike in by_subject.items()
        }
        asked = {subject: self._vectors(alike) for subject, alike in by_subject.items()}
        for ids, vectors in all_vectors(
            company=company, embedding_model=self._model, only=list(subject_of)
        ):
            columns: dict[str, list[int]] = defaultdict(list)
            for column, pk in enumerate(ids):
                columns[subject_of[UUID(bytes=pk)]].append(column)
            for subject, chosen in columns.items():
                found[subject].see(
                    cosines=asked[subject] @ vectors[chosen].T,
                    ids=[ids[column] for column in chosen],
                )
        for subject, alike in by_subject.items():
            near = [found[subject].of(each) for each in range(len(alike))]
            self._keep(self._of_subject, alike, near)

    def _asked(self, places: Sequence[int]) -> list[Asked]:
        return [self._looks[place].asked for place in places]

    def _vectors(self, places: Sequence[int]) -> NDArray[np.float32]:
        return np.stack([self._looks[place].asked.vector for place in places])

    def _keep(
        self, kept: list[dict[UUID, float]], places: Sequence[int], found: Sequence[Near]
    ) -> None:
        for place, near in zip(places, found, strict=True):
            kept[place].update(near)
