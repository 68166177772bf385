"""Throwaway teams of a wanted size, and ways to write to them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import uuid4

from django.db import OperationalError
from django.utils import timezone

from benchmarks.texts import Texts
from memory.clients.tools import Tools
from memory.domain.ports import Judge
from memory.domain.types import Judgement, Statement
from memory.domain.viewer import Viewer
from memory.models import SearchEntry, SearchGraph
from memory.models.search import Place
from memory.services.indexing.statistics import renew_outdated_statistics
from memory.services.indexing.vector_graphs import FRESH, extend_vector_graphs
from memory.services.write.explicit import StatedMemory, remember
from teams.services.people import create_team
from teams.tenancy import team_scope

ACTOR = "benchmark:ingest"
LOST = "lost"
BULK = 500
_WAIT_SECONDS = 0.5


@dataclass(slots=True)
class Ground:
    """A throwaway team and how many memories it holds."""

    viewer: Viewer
    count: int = 0


@dataclass(slots=True)
class CountingJudge:
    """A judge that counts what it is asked; all else is the inner one's."""

    inner: Judge
    name: str = field(init=False)
    asked: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.name = self.inner.name

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The inner judge's verdict."""
        with self._lock:
            self.asked += 1
        return self.inner.judge(existing=existing, new=new)

    def __getattr__(self, name: str) -> Any:  # Any: whatever the inner one has
        return getattr(self.inner, name)


def new_ground() -> Ground:
    """A new empty team."""
    slug = f"ingest-{uuid4().hex[:12]}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    return Ground(Viewer(team_id=team.id, actor=ACTOR))


def statements(texts: Texts, count: int, *, check: bool) -> list[StatedMemory]:
    """Facts to be written."""
    return [
        StatedMemory(
            content=texts.statement(),
            importance=texts.importance(),
            user=texts.user(),
            check=check,
        )
        for _ in range(count)
    ]


def write(ground: Ground, stated: Sequence[StatedMemory], tools: Tools) -> Counter[str]:
    """What became of them."""
    try:
        results = remember(viewer=ground.viewer, stated=stated, tools=tools, now=timezone.now())
    except OperationalError as error:
        # A batch that waited too long for its turn is lost, and the figures must say so.
        return Counter({f"{LOST} ({type(error.__cause__).__name__})": len(stated)})
    return Counter(result.outcome.value for result in results)


def fill(*, ground: Ground, size: int, users: int, tools: Tools) -> None:
    """Bring the team to `size` memories, unchecked, with their vectors indexed."""
    texts = Texts(random.randrange(2**32), users)
    while ground.count < size:
        count = min(BULK, size - ground.count)
        write(ground, statements(texts, count, check=False), tools)
        ground.count += count
    # What the worker's tasks do a few times a minute. Where a worker is at this team already, it is
    # waited for: what is not indexed yet is compared with each write.
    renew_outdated_statistics()
    extend_vector_graphs()
    while _waiting(ground) > 2 * FRESH:
        time.sleep(_WAIT_SECONDS)
        extend_vector_graphs()


def _waiting(ground: Ground) -> int:
    team_id = ground.viewer.team_id
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not SearchGraph.objects.filter(team_id=team_id).exists():
            return 0
        outside = SearchEntry.objects.filter(team_id=team_id, graph_dimensions=0)
        return outside.filter(place=Place.FOUND).count()
