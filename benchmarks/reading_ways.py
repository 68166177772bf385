"""Every way to ask an owner's memories, and how long each takes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

import numpy as np
from django.db import connection
from django.test.utils import override_settings
from django.utils import timezone
from numpy.typing import NDArray
from pgvector import HalfVector

from benchmarks.reading_ground import ACTOR, Owner
from memory.clients.tools import Tools
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import retrieve, search
from teams.services.people import ensure_project
from teams.tenancy import team_scope

WAYS = ("retrieve", "again", "search", "exact scan", "no sketch", "after a write", "filtered")
_EXACT = """
SELECT memory_id FROM memory_searchentry
WHERE team_id = %s AND (end_user_id = %s OR end_user_id IS NULL AND %s::uuid IS NULL)
ORDER BY embedding <#> %s::halfvec LIMIT 10
"""


@dataclass(slots=True)
class Timings:
    """Milliseconds by what was measured."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def measure(self, name: str, call: Callable[[], object]) -> None:
        """Call it and note how long it took."""
        started = time.perf_counter()
        call()
        self.values[name].append(1000 * (time.perf_counter() - started))

    def rows(self) -> list[tuple[str, str]]:
        """Every name with its row."""
        return [(name, self.row(name)) for name in self.values]

    def row(self, name: str) -> str:
        """Median and 95th percentile."""
        p50, p95 = np.percentile(self.values[name], [50, 95])
        return f"{p50:>8.1f}{p95:>8.1f}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who asks an owner's memories in every way there is."""

    owner: Owner
    tools: Tools
    times: Timings = field(default_factory=Timings)
    steps: Timings = field(default_factory=Timings)

    def measure(self, asked: Sequence[str]) -> None:
        """Ask each question in each way, and note the times."""
        viewer, vectors = self.owner.viewer(), self.tools.embedder.embed(asked)
        for text in asked[:5]:
            self._retrieve(viewer, text)  # a connection's first statements are planned
            self._search(viewer, text)
        self.steps.values.clear()
        measure = self.times.measure
        for text, vector in zip(asked, vectors, strict=True):
            retrieve_it = partial(self._retrieve, viewer, text)
            measure("retrieve", retrieve_it)
            measure("again", retrieve_it)
            measure("search", partial(self._search, viewer, text))
            measure("exact scan", partial(self._scan, viewer, vector))

    def measure_without_sketch(self, asked: Sequence[str]) -> None:
        """The same questions where no sketch helps."""
        viewer, measure = self.owner.viewer(), self.times.measure
        for number, text in enumerate(asked):
            if number == 5:
                for way in ("no sketch", "after a write", "filtered"):
                    self.times.values[way].clear()
            with override_settings(SKETCH_MOST_MEMORIES=0, HOT_ANSWER_SECONDS=0):
                measure("no sketch", partial(self._retrieve, viewer, text, notes=False))
            with team_scope(team_ids=[viewer.team_id], actor=ACTOR):
                ensure_project(team_id=viewer.team_id, slug=f"reading-{uuid4().hex}")
                measure("after a write", partial(self._search, viewer, text))
            measure("filtered", partial(self._search, viewer, text, least_importance=6))

    def _retrieve(self, viewer: Viewer, text: str, *, notes: bool = True) -> None:
        found = retrieve(
            viewer=viewer,
            question=Question(text),
            weights=Weights(),
            token_budget=2000,
            limit=None,
            include_cold=False,
            tools=self.tools,
            now=timezone.now(),
        )
        for name, value in found.stats.steps_ms.items() if notes else ():
            self.steps.values[name].append(value)

    def _search(self, viewer: Viewer, text: str, *, least_importance: int = 0) -> None:
        rows = None
        if least_importance:
            rows = Memory.objects.filter(importance__gte=least_importance)
        now = timezone.now()
        search(
            viewer=viewer, question=Question(text), limit=10, tools=self.tools, now=now, rows=rows
        )

    def _scan(self, viewer: Viewer, vector: NDArray[np.float32]) -> None:
        user, text = viewer.end_user_id, HalfVector(vector).to_text()
        with team_scope(team_ids=[viewer.team_id], actor=ACTOR), connection.cursor() as cursor:
            cursor.execute(_EXACT, [viewer.team_id, user, user, text])
            cursor.fetchall()
