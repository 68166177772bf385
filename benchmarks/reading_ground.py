"""The teams that `benchmarks.reading` reads, filled once and found again by their name."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from benchmarks.texts import Texts
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.writing.explicit import StatedMemory, remember
from teams.models import Agent, EndUser
from teams.services.people import ensure_agent, ensure_team
from teams.tenancy import team_scope

ACTOR = "benchmark:reading"
AGENT = "reader"
BATCH = 1_000
# A million memories fill a database in some twenty minutes.
SMALL, LARGE, OTHER, WIDE = 600, 20_000, 500, 100_000
CLASSES = (100, 1_000, 10_000, 300_000)
# What fills the rest of the database: teams that nobody asks.
NEIGHBOUR = 2_000


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories are read: a user of a team, or a whole team."""

    title: str
    team_id: UUID
    user: str | None = None

    def viewer(self) -> Viewer:
        """The agent that asks about them."""
        with team_scope(team_ids=[self.team_id], actor=ACTOR):
            user = self.user and EndUser.objects.get(team_id=self.team_id, external_id=self.user).pk
            agent = Agent.objects.get(team_id=self.team_id, slug=AGENT).pk
        return Viewer(self.team_id, ACTOR, agent_id=agent, end_user_id=user or None)


@dataclass(frozen=True, slots=True)
class Part:
    """So many memories of one owner; `title` of one that is read."""

    team: str
    count: int
    user: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Ground:
    """What stands in the database: `name` is the prefix of the teams' slugs.

    `scale` is of the number of memories of each owner, `rows` the least of all together; `classes`
    says whether there is a team of each size class.
    """

    name: str
    scale: float = 1.0
    rows: int = 0
    classes: bool = False

    def parts(self) -> Iterator[Part]:
        """Every owner there is, the teams without a user last."""
        small, large, other, wide = map(self._scaled, (SMALL, LARGE, OTHER, WIDE))
        for number in range(10):
            title = f"user of {small:,}" if number == 3 else ""
            yield Part("shared", small, f"small-{number}", title)
        yield Part("shared", large, "large", f"user of {large:,}")
        for number in range(200):
            yield Part("shared", other, f"other-{number}")
        yield Part("wide", wide, title=f"team of {wide:,}")
        total = 10 * small + large + 200 * other + wide
        for size in map(self._scaled, CLASSES) if self.classes else ():
            yield Part(f"class-{size}", size, title=f"team of {size:,}")
            total += size
        while total < self.rows:
            yield Part(f"neighbour-{total}", NEIGHBOUR)
            total += NEIGHBOUR

    def fill(
        self, *, tools: Tools, on_progress: Callable[[int], object] = lambda _: None
    ) -> list[Owner]:
        """Write what is missing, and return those that are read; it may be stopped at any time."""
        texts, owners = Texts(random.randrange(2**32)), []
        for part in self.parts():
            team_id = ensure_team(slug=f"{self.name}-{part.team}", actor=ACTOR)
            with team_scope(team_ids=[team_id], actor=ACTOR):
                ensure_agent(team_id=team_id, slug=AGENT)
            missing = part.count - _stored(team_id, part.user)
            for begin in range(0, missing, BATCH):
                count = min(BATCH, missing - begin)
                _write(team_id=team_id, user=part.user, count=count, texts=texts, tools=tools)
                on_progress(count)
            if part.title:
                owners.append(Owner(part.title, team_id, part.user))
        return owners

    def _scaled(self, count: int) -> int:
        return max(1, round(self.scale * count))


def questions(count: int) -> list[str]:
    """So many questions about what such memories say."""
    texts = Texts(random.randrange(2**32))
    return [texts.statement().rstrip(".") + "?" for _ in range(count)]


def _stored(team_id: UUID, user: str | None) -> int:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        return Memory.objects.filter(team_id=team_id, end_user__external_id=user).count()


def _write(*, team_id: UUID, user: str | None, count: int, texts: Texts, tools: Tools) -> None:
    stated = [
        StatedMemory(
            content=texts.statement(), importance=texts.importance(), user=user, check=False
        )
        for _ in range(count)
    ]
    viewer = Viewer(team_id=team_id, actor=ACTOR)
    remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())
