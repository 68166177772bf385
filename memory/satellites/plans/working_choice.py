"""Which candidates the context of work in progress tells, and in which of its tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.talk import SUMMARY_TAG
from memory.domain.types import MemoryType
from memory.domain.work import Signals
from memory.reading.conflicts import Clash
from memory.reading.packing import Chosen, line_of
from memory.reading.ranking import Ranked
from memory.reading.sources import Predicted
from memory.satellites.plans.placing import Candidate, Place, nearness, placed
from memory.satellites.plans.selectors.topics import topics_of
from memory.satellites.plans.selectors.working_set import files_of
from memory.selectors.person_names import PersonNames
from memory.selectors.search.signal_rows import SignalRow


@dataclass(slots=True)
class Chooser:
    """Places the candidates for these signals; `places` and `topics` are what came of it."""

    viewer: Viewer
    signals: Signals
    predicted: dict[UUID, Predicted]
    kept: frozenset[UUID]
    is_preferences_alone: bool
    collaborator_id: UUID | None
    places: dict[UUID, Place] = field(default_factory=dict)
    topics: dict[UUID, frozenset[str]] = field(default_factory=dict)

    def keeps(self, row: SignalRow) -> bool:
        """Whether it is told whatever words the question has."""
        return row.memory_id in self.kept

    def choose(
        self, ranked: Sequence[Ranked], clashes: Sequence[Clash], names: PersonNames
    ) -> Chosen:
        """The candidates in their tiers; of a collaborator only what they prefer."""
        ranked = [each for each in ranked if self._may_tell(each.row)]
        keys = {each.row.memory_id for each in ranked}
        files = files_of(team_id=self.viewer.team_id, ids=list(keys))
        opposites: dict[UUID, set[UUID]] = {
            each.row.memory_id: set(each.row.contradicts or ()) for each in ranked
        }
        clashes = [
            each for each in clashes if {each.earlier.memory_id, each.later.memory_id} <= keys
        ]
        for clash in clashes:
            one, other = clash.earlier.memory_id, clash.later.memory_id
            opposites[one].add(other)
            opposites[other].add(one)
        self.topics = {
            row.memory_id: topics_of(
                category=row.category,
                subject=row.subject,
                tags=row.tags or (),
                files=files.get(row.memory_id, ()),
            )
            for row in (each.row for each in ranked)
        }
        self.places = placed(
            [
                self._candidate(each, files.get(each.row.memory_id, ()), opposites)
                for each in ranked
            ],
            errors=self.signals.recent_errors,
        )
        chosen = [
            each._replace(rank=place.rank, score=place.rank)
            for each in ranked
            for place in [self.places[each.row.memory_id]]
        ]
        return Chosen(
            sorted(chosen, key=lambda each: -each.rank),
            clashes=clashes,
            sections={key: place.tier for key, place in self.places.items()},
        )

    def _may_tell(self, row: SignalRow) -> bool:
        is_theirs = row.end_user_id is not None and row.end_user_id == self.viewer.end_user_id
        return not (self.is_preferences_alone and is_theirs) or _is_liked(row)

    def _candidate(
        self, each: Ranked, files: Sequence[str], opposites: dict[UUID, set[UUID]]
    ) -> Candidate:
        row = each.row
        guess = self.predicted.get(row.memory_id)
        is_theirs = self.collaborator_id is not None and row.end_user_id == self.collaborator_id
        return Candidate(
            key=row.memory_id,
            rank=each.rank,
            content=row.content,
            memory_type=row.memory_type,
            form=row.form,
            nearness=nearness(
                self.signals, files=files, topics=[row.category, row.subject, *(row.tags or ())]
            ),
            confidence=guess.confidence if guess else 0.0,
            reasons=guess.reasons if guess else (),
            is_summary=SUMMARY_TAG in (row.tags or ()),
            is_liked=is_theirs and _is_liked(row),
            is_mandatory=row.is_pinned or row.memory_type == MemoryType.IDENTITY,
            opposites=frozenset(opposites[row.memory_id]),
        )


def _is_liked(row: SignalRow) -> bool:
    return row.memory_type == MemoryType.USER_PROFILE or line_of(row, "").is_preference
