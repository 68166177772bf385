"""Sketches of large teams' memories that this process keeps: made aside, never behind.

A sketch knows the position of the team's log that it was made at. What was changed since, as the
log says, is proposed for every question, and all that is proposed is read and compared by the same
statement as always: so a sketch decides neither what is visible nor what is true, and a memory is
found as soon as it is committed. What had no vector of the model yet is proposed as well, as the
log does not tell when it gets one. A team that changes much goes without a sketch until there is a
new one.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from memory.domain.retrieval.coarse_vectors import bytes_of
from memory.domain.viewer import Viewer
from memory.selectors.searching.sketch_reading import read_sketch
from memory.selectors.searching.team_sketches import TeamSketch
from teams.prepared import run_prepared
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "system:sketches"
# More changes than these are proposed for no question, and from so many on a new sketch is due.
MOST_CHANGED = 500
_WORTH_A_NEW_ONE = 250
# No sketch is made more often; none is used for longer, whatever it was made of.
_PAUSE_SECONDS = 120.0
_LIFE_SECONDS = 3_600.0
# The room of SKETCH_MOST_MEMORIES is meant for vectors of so many dimensions; of larger ones it
# holds fewer.
_USUAL_DIMENSIONS = 256

_COUNT = """
SELECT count(*), max(vector_dims(coalesce(embedding, next_embedding))) FROM (
    SELECT embedding, next_embedding FROM memory_searchentry
    WHERE team_id = $1 AND place = 0 LIMIT $2
) AS counted
"""


@dataclass(slots=True)
class _Maker:
    """The sketches of this process, and a thread while one is being made."""

    _made: dict[UUID, TeamSketch] = field(default_factory=dict)
    _tried_at: dict[UUID, float] = field(default_factory=dict)
    _waiting: dict[UUID, str] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def get(self, team_id: UUID, model: str) -> TeamSketch | None:
        since = time.monotonic() - _LIFE_SECONDS
        with self._changing:
            for old in [pk for pk, each in self._made.items() if each.made_at < since]:
                del self._made[old]
            made = self._made.pop(team_id, None)
            if made is not None:
                self._made[team_id] = made  # the one that was used last is given up last
        return made if made is not None and made.model == model else None

    def make_room(self, team_id: UUID, weight: float) -> None:
        """Give up what was used the longest time ago until a new one of that weight fits.

        The team's own last of all, so that its searches need not go without one meanwhile.
        """
        with self._changing:
            own = self._made.pop(team_id, None)
            while self._made and weight + self._weight() > settings.SKETCH_MOST_MEMORIES:
                self._made.pop(next(iter(self._made)))
            if own is not None and (
                weight + weight_of(own) + self._weight() <= settings.SKETCH_MOST_MEMORIES
            ):
                self._made[team_id] = own

    def _weight(self) -> float:
        return sum(map(weight_of, self._made.values()))

    def put(self, team_id: UUID, made: TeamSketch | None) -> None:
        with self._changing:
            self._tried_at[team_id] = time.monotonic()
            if made is not None:
                self._made[team_id] = made

    def drop(self, team_id: UUID, made: TeamSketch) -> None:
        with self._changing:
            if self._made.get(team_id) is made:
                del self._made[team_id]

    def ask_for(self, team_id: UUID, model: str) -> None:
        with self._changing:
            now = time.monotonic()
            if now - self._tried_at.get(team_id, -_PAUSE_SECONDS) < _PAUSE_SECONDS:
                return
            self._tried_at[team_id] = now
            self._waiting[team_id] = model
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sketch", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                with self._changing:
                    if not self._waiting:
                        self._thread = None
                        break
                    team_id, model = self._waiting.popitem()
                try:
                    make_sketch(team_id=team_id, embedding_model=model)
                except (DatabaseError, InterfaceError):
                    logger.warning("Searches of team %s go on without a sketch of it.", team_id)
                except Exception:
                    # Whatever it is: the thread serves other teams, and searches need no sketch.
                    logger.exception("No sketch was made of team %s.", team_id)
        finally:
            connection.close()

    def clear(self) -> None:
        with self._changing:
            self._made.clear()
            self._tried_at.clear()


_maker = _Maker()


def sketch_of(*, team_id: UUID, embedding_model: str) -> TeamSketch | None:
    """The team's sketch; None while there is none, and then one is made aside."""
    if not settings.SKETCH_MOST_MEMORIES:
        return None
    made = _maker.get(team_id, embedding_model)
    if made is None:
        _maker.ask_for(team_id, embedding_model)
    return made


def note_changed(*, team_id: UUID, made: TeamSketch, count: int) -> bool:
    """Whether a sketch still serves, now that so many memories are to be proposed beside it.

    One that does not is given up. From half as many on a new one is made aside.
    """
    if count > _WORTH_A_NEW_ONE:
        _maker.ask_for(team_id, made.model)
    if count > MOST_CHANGED:
        _maker.drop(team_id, made)
    return count <= MOST_CHANGED


def sketched_total(*, viewer: Viewer, embedding_model: str) -> int | None:
    """How many memories the viewer may see, as of the team's sketch; None where it cannot tell."""
    made = _maker.get(viewer.team_id, embedding_model)
    part = made.known_part(viewer) if made is not None else None
    return len(part) if part is not None else None


def weight_of(made: TeamSketch) -> float:
    """How much of SKETCH_MOST_MEMORIES it takes."""
    return _weight(len(made.sketch.ids), len(made.sketch.vectors.low))


def make_sketch(*, team_id: UUID, embedding_model: str) -> TeamSketch | None:
    """Make the team's sketch now and keep it; None for a team too large or without vectors."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        most = settings.SKETCH_MOST_MEMORIES
        ((count, dimensions),) = run_prepared(_COUNT, [team_id, most + 1])
        weight, made = _weight(count, dimensions or 0), None
        if weight <= most:
            _maker.make_room(team_id, weight)
            made = read_sketch(
                team_id=team_id, embedding_model=embedding_model, most_lacking=MOST_CHANGED
            )
    _maker.put(team_id, made)
    return made


def _weight(count: int, dimensions: int) -> float:
    return count * max(1.0, bytes_of(dimensions) / bytes_of(_USUAL_DIMENSIONS))


def forget_sketches() -> None:
    """Go without any until new ones are made."""
    _maker.clear()
