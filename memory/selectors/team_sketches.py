"""A sketch of a team's memories, and which of them a viewer may see."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import Places, Vectors
from memory.domain.retrieval.sketch import Ids, Sketch
from memory.domain.retrieval.word_places import Words
from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.selectors.conditions import viewer_parameters, viewer_sql
from memory.selectors.prepared import fetch_planned

# Of how many viewers it is known what they see, for each sketch.
_MOST_VIEWERS = 16

# The rule of visibility, asked of each audience in the place of a memory.
_VISIBLE = """
SELECT memory_searchentry.number
FROM (
    SELECT %(team)s::uuid AS team_id, given.*
    FROM unnest(
        %(numbers)s::int[], %(types)s::text[], %(agents)s::uuid[], %(users)s::uuid[],
        %(projects)s::uuid[]
    ) AS given (number, memory_type, agent_id, end_user_id, project_id)
) AS memory_searchentry
WHERE {visible}
"""


@dataclass(frozen=True, slots=True)
class Audience:
    """Whose some memories are."""

    memory_type: str
    agent_id: UUID | None
    end_user_id: UUID | None
    project_id: UUID | None


@dataclass(frozen=True, slots=True)
class Part:
    """Those memories of a sketch that a question is asked of: their places, None for all of them.

    `is_in` says of each memory of the sketch whether it is one.
    """

    sketch: Sketch
    places: Places | None = None
    is_in: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.sketch.ids) if self.places is None else len(self.places)

    def nearest(self, vector: Vectors, *, limit: int) -> Ids:
        """The ids of about the `limit` closest to a vector."""
        places = self.sketch.vectors.nearest(vector, among=self.places, limit=limit)
        ids: Ids = self.sketch.ids[places]
        return ids

    def with_words(self, terms: Sequence[Sequence[str]], *, most: int, limit: int) -> Words:
        """Who holds the words, see `WordPlaces.find`."""
        return self.sketch.words.find(
            terms, is_among=self.is_in, total=len(self), most=most, limit=limit
        )

    def holds(self, places: Places) -> NDArray[np.bool_]:
        """Which of the places belong to it; -1 is none."""
        held = places >= 0
        return held if self.is_in is None else held & self.is_in[places]


@dataclass(frozen=True, slots=True)
class TeamSketch:
    """A team's sketch for the vectors of one model, made at a position of its log.

    `lacking` are the memories without such a vector then.
    """

    sketch: Sketch
    audiences: Sequence[Audience]
    model: str
    position: int
    made_at: float
    lacking: Sequence[UUID] = ()
    _seen: dict[tuple[UUID | None, ...], Part] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def seen_by(self, viewer: Viewer) -> Part:
        """What a viewer may see; call it in the team's scope."""
        known = self.known_part(viewer)
        if known is None:
            known = self._visible_to(viewer)
            with self._changing:
                self._seen[_key(viewer)] = known
                while len(self._seen) > _MOST_VIEWERS:
                    self._seen.pop(next(iter(self._seen)))
        return known

    def known_part(self, viewer: Viewer) -> Part | None:
        """What a viewer may see, None before they have asked for any."""
        with self._changing:
            return self._seen.get(_key(viewer))

    def part_of(self, ids: Sequence[UUID]) -> tuple[Part, list[UUID]]:
        """The memories of those ids, and the ids of those that it does not have."""
        places = self.sketch.places_of(np.array([pk.bytes for pk in ids], dtype="S16"))
        is_in = np.zeros(len(self.sketch.ids), dtype=bool)
        is_in[places[places >= 0]] = True
        missing = [ids[number] for number in np.flatnonzero(places < 0).tolist()]
        return Part(self.sketch, np.flatnonzero(is_in).astype(np.int32), is_in), missing

    def _visible_to(self, viewer: Viewer) -> Part:
        statement = _VISIBLE.format(
            visible=viewer_sql(
                visible_to_q,
                of_agent=viewer.agent_id is not None,
                of_user=viewer.end_user_id is not None,
                of_project=viewer.project_id is not None,
            )
        )
        given = {
            **viewer_parameters(viewer),
            "numbers": list(range(len(self.audiences))),
            "types": [each.memory_type for each in self.audiences],
            "agents": [each.agent_id for each in self.audiences],
            "users": [each.end_user_id for each in self.audiences],
            "projects": [each.project_id for each in self.audiences],
        }
        is_visible = np.zeros(len(self.audiences), dtype=bool)
        for (number,) in fetch_planned(statement, given):
            is_visible[number] = True
        if is_visible.all():
            return Part(self.sketch)
        is_seen = is_visible[self.sketch.audiences]
        return Part(self.sketch, np.flatnonzero(is_seen).astype(np.int32), is_seen)


def _key(viewer: Viewer) -> tuple[UUID | None, ...]:
    return (viewer.agent_id, viewer.end_user_id, viewer.project_id)
