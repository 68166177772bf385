"""A team with everything that the admin shows, filled in bulk past the services.

Rows go in as the database's owner, with the database's own rules in force but one: the trigger that
logs new memories stands still, so that the log can begin ninety days ago and not all at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from django.db import connections, transaction
from django.db.models import Model
from django.utils import timezone
from pgvector import HalfVector
from pydantic_core import to_jsonable_python

from benchmarks.admin_ground_rows import EVENTS, JOBS, LOG, SEARCH, SPEND, TALK, USES
from benchmarks.texts import Texts
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Status
from memory.models import Category, Contradiction, Memory, MemoryRelation, Settlement
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, pin_memory
from memory.writing.drafts import MemoryDraft
from teams.models import Agent, EndUser, Membership, Project, StaffUser

OWNER: Final = "owner"
PAST: Final = timedelta(days=90)
AGENTS, PROJECTS, CATEGORIES = 20, 20, 12
PEOPLE_SHARE, TALK_SHARE = 50, 50
DISPUTES, REQUESTS = 400, 150
CORRECTIONS, PINNINGS, LINKS = 12, 200, 300
BATCH = 2_000
_COMMIT = 100
_TYPES = [MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.PROCEDURAL, MemoryType.SHARED]
# What became of most memories, and of the others.
_STATUSES = [Status.ACTIVE] * 17 + [Status.ARCHIVED, Status.SOFT_DELETED, Status.SUPERSEDED]
_SUBJECTS = ("user.work", "user.home", "project.plan", "")


@dataclass(slots=True)
class AdminGround:
    """The team, who signs in to it, and its rows, the oldest memory first."""

    team_id: UUID
    login: StaffUser
    now: datetime = field(default_factory=timezone.now)
    texts: Texts = field(default_factory=lambda: Texts(17))
    draw: random.Random = field(default_factory=lambda: random.Random(17))
    agents: list[UUID] = field(default_factory=list)
    people: list[UUID] = field(default_factory=list)
    projects: list[UUID] = field(default_factory=list)
    memories: list[UUID] = field(default_factory=list)
    # Pairs of these stand against each other.
    disputed: list[UUID] = field(default_factory=list)

    def fill(self, *, memories: int, tools: Tools) -> None:
        """Everything, with so many memories."""
        self._people(max(20, memories // PEOPLE_SHARE))
        self._memories(memories, tools)
        connection = connections[OWNER]
        values: dict[str, UUID | datetime | int] = {
            "team": self.team_id,
            "now": self.now,
            "days": PAST.days,
            "memories": memories,
            "conversations": max(10, memories // TALK_SHARE),
        }
        for statement in (*TALK, *USES, *JOBS, *EVENTS, *SPEND):
            with transaction.atomic(using=OWNER), connection.cursor() as cursor:
                cursor.execute(statement, values)
        self._relations(memories // 5)
        self._disputes()
        self._requests(min(REQUESTS, memories // 20))

    def tell_story(self, *, tools: Tools) -> None:
        """One memory that was corrected, pinned and let go again, and linked, very often."""
        viewer = Viewer(self.team_id, "staff:ann")
        told = Memory.objects.using(OWNER).filter(team_id=self.team_id, status=Status.ACTIVE)
        pk = told.order_by("id").values_list("pk", flat=True)[0]
        for number in range(CORRECTIONS):
            pk = correct_memory(
                viewer=viewer,
                memory_id=pk,
                corrected_content=f"The office has {number} doors, and two lifts.",
                reason="counted again",
                tools=tools,
                now=timezone.now(),
            ).memory.pk
        for number in range(PINNINGS):
            pin_memory(viewer=viewer, memory_id=pk, pinned=number % 2 == 0)
        self._link([(pk, other) for other in self.memories[-LINKS:]])

    def at(self, share: float) -> datetime:
        """The time after that share of the past."""
        return self.now - PAST * (1 - share)

    def _store(self, rows: Sequence[Model]) -> list[UUID]:
        if rows:
            type(rows[0])._default_manager.using(OWNER).bulk_create(rows, batch_size=BATCH)
        return [row.pk for row in rows]

    def _people(self, count: int) -> None:
        team = self.team_id
        Membership.objects.using(OWNER).create(
            team_id=team, user_id=self.login.pk, role=Membership.Role.ADMIN
        )
        names = [f"agent-{number}" for number in range(AGENTS)]
        self.agents = self._store([Agent(team_id=team, slug=name, name=name) for name in names])
        self.projects = self._store(
            [
                Project(team_id=team, slug=f"project-{n}", name=f"Project {n}")
                for n in range(PROJECTS)
            ]
        )
        self.people = self._store(
            [
                EndUser(team_id=team, external_id=f"person-{n}", display_name=f"Person {n}")
                for n in range(count)
            ]
        )
        self._store([Category(team_id=team, name=f"category-{n}") for n in range(CATEGORIES)])

    def _memories(self, count: int, tools: Tools) -> None:
        rows = list(self._new_memories(count))
        self.memories = [row.pk for row in rows]
        self.disputed = [row.pk for row in rows if row.status == Status.DISPUTED]
        for first in range(0, count, BATCH):
            batch = rows[first : first + BATCH]
            vectors = tools.embedder.embed([row.content for row in batch])
            with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
                cursor.execute("ALTER TABLE memory_memory DISABLE TRIGGER log_new_memories")
                self._store(batch)
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("ALTER TABLE memory_memory ENABLE TRIGGER log_new_memories")
                ids = [row.pk for row in batch]
                for statement in LOG:
                    cursor.execute(
                        statement,
                        {
                            "team": self.team_id,
                            "ids": ids,
                            "first": first,
                            "of_each": _COMMIT,
                        },
                    )
                cursor.execute(
                    SEARCH,
                    {
                        "ids": ids,
                        "team": self.team_id,
                        "vectors": [HalfVector(vector).to_text() for vector in vectors],
                        "model": tools.embedder.name,
                    },
                )

    def _new_memories(self, count: int) -> Iterator[Memory]:
        draw = self.draw
        disputed = set(draw.sample(range(count), min(2 * DISPUTES, count // 10)))
        for number in range(count):
            at = self.at(number / count)
            is_disputed = number in disputed
            status = Status.DISPUTED if is_disputed else draw.choice(_STATUSES)
            about = draw.choice(self.people) if draw.random() < 0.7 else None
            importance = self.texts.importance()
            yield Memory(
                id=_id_of(at, draw),
                team_id=self.team_id,
                memory_type=draw.choice(_TYPES).value,
                scope="user" if about else "team",
                content=self.texts.statement(),
                subject=draw.choice(_SUBJECTS),
                importance=importance,
                status=status.value,
                tier="hot" if importance == 9 else draw.choice(["warm", "warm", "warm", "cold"]),
                is_pinned=status is Status.ACTIVE and draw.random() < 0.0002,
                category=f"category-{draw.randrange(CATEGORIES)}" if draw.random() < 0.5 else "",
                tags=[f"tag-{draw.randrange(200)}"] if draw.random() < 0.5 else [],
                agent_id=draw.choice(self.agents),
                end_user_id=about,
                project_id=draw.choice(self.projects) if draw.random() < 0.2 else None,
                extractor="benchmark",
                actor="task:extract",
                created_at=at,
            )

    def _relations(self, count: int) -> None:
        draws = (self.draw.sample(self.memories, 2) for _ in range(count))
        pairs = {(one, other) for one, other in draws}
        self._link(pairs)

    def _link(self, pairs: Iterable[tuple[UUID, UUID]]) -> None:
        self._store(
            [
                MemoryRelation(
                    team_id=self.team_id,
                    from_memory_id=one,
                    to_memory_id=other,
                    strength=round(self.draw.random(), 2),
                )
                for one, other in pairs
            ]
        )

    def _disputes(self) -> None:
        rows = _contradictions(self.team_id, self.disputed, self.draw, now=self.now)
        self._store(rows)
        self._store(_settlements(rows))
        with connections[OWNER].cursor() as cursor:
            # The rows themselves can only be made now.
            cursor.execute(
                "UPDATE memory_contradiction SET detected_at = %s - random() * %s::interval"
                " WHERE team_id = %s",
                [self.now, f"{PAST.days} days", self.team_id],
            )

    def _requests(self, count: int) -> None:
        self._store(
            _consent_requests(self.team_id, self.people, self.draw, count=count, now=self.now)
        )


def _id_of(at: datetime, draw: random.Random) -> UUID:
    """A UUIDv7 of that time."""
    milliseconds = int((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | draw.getrandbits(62))


def _contradictions(
    team_id: UUID, memories: Sequence[UUID], draw: random.Random, *, now: datetime
) -> list[Contradiction]:
    """Every two of the memories in one; three of four are open, some of them about the same."""
    rows: list[Contradiction] = []
    for number, (one, other) in enumerate(zip(memories[::2], memories[1::2], strict=False)):
        is_open = number % 4 != 0
        rows.append(
            Contradiction(
                team_id=team_id,
                memory_a_id=rows[-1].memory_a_id if number % 8 == 7 else one,
                memory_b_id=other,
                strategy="same_subject",
                judge="fallback",
                verdict="dispute",
                reason=f"Both tell of “subject {number % 10}”.",
                resolution="" if is_open else draw.choice(["a_wins", "both_valid"]),
                resolved_by="" if is_open else "staff:ann",
                resolved_at=None if is_open else now - draw.random() * PAST,
            )
        )
    return rows


def _settlements(rows: Sequence[Contradiction]) -> list[Settlement]:
    """The decisions on those that are settled."""
    return [
        Settlement(
            team_id=row.team_id,
            contradiction_id=row.pk,
            resolution=row.resolution,
            actor=row.resolved_by,
            settled_at=row.resolved_at,
        )
        for row in rows
        if row.resolved_at
    ]


def _consent_requests(
    team_id: UUID, people: Sequence[UUID], draw: random.Random, *, count: int, now: datetime
) -> list[ConsentRequest]:
    """So many; a third of them wait."""
    rows = []
    for number in range(count):
        at = now - draw.random() * PAST
        decided: dict[str, Any] = (  # Any: a row's own fields
            {"created_at": now - timedelta(hours=number)}
            if number % 3 == 0
            else {"state": "approved", "decided_by": "staff:ann", "decided_at": at}
        )
        draft = MemoryDraft(
            team_id=team_id,
            content=f"Lives in town {number}.",
            memory_type=MemoryType.USER_PROFILE,
            importance=7,
            extractor="small-reader",
            created_at=at,
            subject="user.profile.city",
            end_user_id=people[number % len(people)],
        )
        rows.append(
            ConsentRequest(
                **{"created_at": at, **decided},
                team_id=team_id,
                end_user_id=draft.end_user_id,
                field="city",
                content=draft.content,
                draft=to_jsonable_python(draft),
                value_key=sha256(str(number).encode()).digest(),
                proposed_by="task:extract",
                expires_at=now + timedelta(days=7),
            )
        )
    return rows
