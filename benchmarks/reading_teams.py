"""The teams that `benchmarks.reading` reads, filled once and found again by their name."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from benchmarks.texts import Texts
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.write.explicit import StatedMemory, remember
from teams.models import Agent, EndUser
from teams.services.people import ensure_agent, ensure_team
from teams.tenancy import team_scope

ACTOR = "benchmark:reading"
AGENT = "reader"
BATCH = 1_000
# The people of one team, of whom the first of each size is read, and teams without users.
PEOPLE = {1_000: 10, 20_000: 1, 500: 20}
READ_PEOPLE = (1_000, 20_000)
TEAMS = (1_000, 10_000, 100_000)


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


def parts(scale: float) -> Iterator[Part]:
    """Every owner there is, the smallest teams first; `scale` is of the number of memories."""
    for size, people in PEOPLE.items():
        count = max(1, round(scale * size))
        for number in range(people):
            is_read = number == 0 and size in READ_PEOPLE
            yield Part("people", count, f"{size}-{number}", f"user of {count:,}" * is_read)
    for size in TEAMS:
        count = max(1, round(scale * size))
        yield Part(f"team-{size}", count, title=f"team of {count:,}")


def filled(*, name: str, scale: float, tools: Tools) -> list[Owner]:
    """Write what no run of that name has written, and return the owners that are read."""
    texts, owners = Texts(random.randrange(2**32)), []
    for part in parts(scale):
        team_id = ensure_team(slug=f"{name}-{part.team}", actor=ACTOR)
        with team_scope(team_ids=[team_id], actor=ACTOR):
            ensure_agent(team_id=team_id, slug=AGENT)
            stored = Memory.objects.filter(team_id=team_id, end_user__external_id=part.user).count()
        for begin in range(stored, part.count, BATCH):
            stated = [
                StatedMemory(
                    content=texts.statement(),
                    importance=texts.importance(),
                    user=part.user,
                    check=False,
                )
                for _ in range(min(BATCH, part.count - begin))
            ]
            viewer = Viewer(team_id=team_id, actor=ACTOR)
            remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())
        if part.title:
            owners.append(Owner(part.title, team_id, part.user))
    return owners


def questions(count: int) -> list[str]:
    """So many questions about what such memories say."""
    texts = Texts(random.randrange(2**32))
    return [texts.statement().rstrip(".") + "?" for _ in range(count)]
