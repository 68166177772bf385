"""A sketch of a team's memories, and which of them a viewer may see."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import Near, Places, Vectors
from memory.domain.retrieval.sketch import Ids, Sketch
from memory.domain.retrieval.word_places import Words
from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.selectors.conditions import viewer_parameters, viewer_sql
from memory.selectors.prepared import fetch_planned
from memory.selectors.searching.signal_parts import IMPORTANT_FROM, SIGNAL_LIMITS, always_told

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

    `is_in` says of each memory of the sketch whether it is one, `standing` are the places of what
    is proposed for every question: what is always told, the latest and the most important.
    """

    sketch: Sketch
    standing: Places
    places: Places | None = None
    is_in: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.sketch.ids) if self.places is None else len(self.places)

    def nearest(self, vector: Vectors, *, limit: int) -> Near:
        """About the `limit` closest to a vector."""
        return self.sketch.vectors.nearest(vector, among=self.places, limit=limit)

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
    categories: Sequence[str]
    model: str
    position: int
    made_at: float
    lacking: Ids
    _seen: dict[tuple[object, ...], Part] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def seen_by(self, viewer: Viewer) -> Part:
        """What a viewer may see and read; call it in the team's scope."""
        known = self.known_part(viewer)
        if known is None:
            known = self._part(self._visible_to(viewer), of_user=viewer.end_user_id is not None)
            with self._changing:
                self._seen[_key(viewer)] = known
                while len(self._seen) > _MOST_VIEWERS:
                    self._seen.pop(next(iter(self._seen)))
        return known

    def known_part(self, viewer: Viewer) -> Part | None:
        """What a viewer may see, None before they have asked for any."""
        with self._changing:
            return self._seen.get(_key(viewer))

    def part_of(self, ids: Ids, *, of_user: bool) -> tuple[Part, Ids]:
        """The memories of those ids, and the ids of those that it does not have.

        `of_user` is whether one person's memories are asked for.
        """
        places = self.sketch.places_of(ids)
        is_in = np.zeros(len(self.sketch.ids), dtype=bool)
        is_in[places[places >= 0]] = True
        return self._part(is_in, of_user=of_user), ids[places < 0]

    def _part(self, is_in: NDArray[np.bool_] | None, *, of_user: bool) -> Part:
        if is_in is None or is_in.all():
            every = np.arange(len(self.sketch.ids), dtype=np.int32)
            return Part(self.sketch, self._standing(every, of_user=of_user))
        places = np.flatnonzero(is_in).astype(np.int32)
        return Part(self.sketch, self._standing(places, of_user=of_user), places, is_in)

    def _standing(self, places: Places, *, of_user: bool) -> Places:
        if not of_user:
            return self._standing_of_one(places, of_user=False)
        # What is theirs and what is nobody's, so that neither is lost among the other.
        is_nobodys = np.array([each.end_user_id is None for each in self.audiences], dtype=bool)
        is_so = is_nobodys[self.sketch.audiences[places]]
        return np.concatenate(
            [self._standing_of_one(places[is_so == each], of_user=True) for each in (True, False)]
        )

    def _standing_of_one(self, places: Places, *, of_user: bool) -> Places:
        types, most = always_told(of_user=of_user), SIGNAL_LIMITS["MANDATORY_LIMIT"]
        is_told = np.array([each.memory_type in types for each in self.audiences], dtype=bool)
        told = places[is_told[self.sketch.audiences[places]]][:most]
        important = self.sketch.most_important(
            places, least=IMPORTANT_FROM, limit=SIGNAL_LIMITS["IMPORTANCE_LIMIT"]
        )
        latest = places[-SIGNAL_LIMITS["RECENCY_LIMIT"] :]
        pinned = self.sketch.pinned(places, limit=most - len(told))
        return np.concatenate([told, pinned, important, latest])

    def _visible_to(self, viewer: Viewer) -> NDArray[np.bool_] | None:
        """Of each memory whether the viewer may see and read it; None for all."""
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
        is_allowed = self._allowed(viewer.allowed_categories)
        if is_visible.all() and is_allowed is None:
            return None
        is_seen: NDArray[np.bool_] = is_visible[self.sketch.audiences]
        return is_seen if is_allowed is None else is_seen & is_allowed[self.sketch.categories]

    def _allowed(self, names: Collection[str]) -> NDArray[np.bool_] | None:
        """Which categories an agent may read that is allowed these; None for all."""
        if not names:
            return None
        # Those in no category are for everybody, see `allowed_q`.
        return np.array([each in ("", *names) for each in self.categories], dtype=bool)


def _key(viewer: Viewer) -> tuple[object, ...]:
    return (viewer.agent_id, viewer.end_user_id, viewer.project_id, viewer.allowed_categories)
