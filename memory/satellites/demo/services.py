"""The demo team: a short story of three agents and two people, through the ordinary services."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Count

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Role
from memory.models import Contradiction, Memory
from memory.satellites.transfer.transcripts import (
    ImportTarget,
    Transcript,
    Turn,
    import_transcripts,
)
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.stating import StatedMemory, remember
from teams.models import Agent, EndUser
from teams.services.people import ensure_agent, ensure_end_user, ensure_project
from teams.tenancy import team_scope

STORY = Path(__file__).resolve().with_name("story.json")
IDENTITY_IMPORTANCE = 10
_DAY = re.compile(r"\{([+-]\d+)\}")
_MINUTES_A_MESSAGE = 2

Story = dict[str, Any]  # Any: our own JSON, whose shape the tests check


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """Counts of the rows that a loading added, and of those that the team has now."""

    new_messages: int
    new_memories: int
    conversations: int
    memories: dict[str, int]
    open_disputes: int


def read_story() -> Story:
    """The story as it is written."""
    story: Story = json.loads(STORY.read_text(encoding="utf-8"))
    return story


def load_demo(*, team_id: UUID, tools: Tools, actor: str, now: datetime) -> DemoSummary:
    """Tells the story, which ends two days before `now`, to a team; again adds nothing."""
    story = read_story()
    with team_scope(team_ids=[team_id], actor=actor):
        ensure_project(team_id=team_id, slug=story["project"])
        for each in story["agents"]:
            _introduce_agent(team_id, each)
        for each in story["people"]:
            _introduce_person(team_id, each)
    viewer = Viewer(team_id=team_id, actor=actor)
    results = remember(
        viewer=viewer,
        stated=[*_identities(story, now), *_stated(story, now)],
        tools=tools,
        now=now,
        reason="the demo's story",
        is_import=True,
    )
    new_messages = new_memories = 0
    for each in story["conversations"]:
        told = import_transcripts(
            target=ImportTarget(
                team_id=team_id,
                agent=each["agent"],
                user=each["user"],
                project=each.get("project"),
            ),
            transcripts=[_transcript(each, now)],
            extract=True,
            tools=tools,
            actor=actor,
            now=now,
        )
        new_messages += told.new_messages
        new_memories += told.new_memories
    with team_scope(team_ids=[team_id], actor=actor):
        return DemoSummary(
            new_messages=new_messages,
            new_memories=new_memories
            + sum(result.outcome != Outcome.DUPLICATE for result in results),
            conversations=len(story["conversations"]),
            memories=_count_by_status(team_id),
            open_disputes=Contradiction.objects.filter(team_id=team_id, resolved_at=None).count(),
        )


def _introduce_agent(team_id: UUID, given: Story) -> None:
    agent = ensure_agent(team_id=team_id, slug=given["slug"])
    document = {name: given[name] for name in ("name", "tagline", "personality", "rules")}
    empty = Agent.objects.filter(tagline="", personality={}, rules={})
    empty.filter(team_id=team_id, pk=agent.pk).update(**document)


def _introduce_person(team_id: UUID, given: Story) -> None:
    person = ensure_end_user(team_id=team_id, external_id=given["external_id"])
    EndUser.objects.filter(team_id=team_id, pk=person.pk, display_name="").update(
        display_name=given["display_name"]
    )


def _identities(story: Story, now: datetime) -> list[StatedMemory]:
    first_day = max(each["days_ago"] for each in story["conversations"]) + 1
    return [
        StatedMemory(
            content=content,
            memory_type=MemoryType.IDENTITY,
            importance=IDENTITY_IMPORTANCE,
            agent=agent["slug"],
            created_at=now - timedelta(days=first_day),
            external_id=f"demo:identity-{agent['slug']}-{number}",
        )
        for agent in story["agents"]
        for number, content in enumerate(agent["identity"], start=1)
    ]


def _stated(story: Story, now: datetime) -> list[StatedMemory]:
    own = {"key", "days_ago", "memory_type"}
    return [
        StatedMemory(
            **{name: value for name, value in each.items() if name not in own},
            memory_type=MemoryType(each["memory_type"]),
            created_at=now - timedelta(days=each["days_ago"]),
            external_id=f"demo:{each['key']}",
        )
        for each in story["stated"]
    ]


def _transcript(given: Story, now: datetime) -> Transcript:
    day = (now - timedelta(days=given["days_ago"])).date()
    start = datetime.combine(day, time.fromisoformat(given["time"]), tzinfo=now.tzinfo)
    return Transcript(
        thread_id=given["thread_id"],
        turns=tuple(
            Turn(
                role=Role(role),
                content=_dated(content, now),
                external_id=f"demo-{number}",
                created_at=start + timedelta(minutes=_MINUTES_A_MESSAGE * number),
            )
            for number, (role, content) in enumerate(given["messages"], start=1)
        ),
    )


def _dated(text: str, now: datetime) -> str:
    """The text with `{+9}` as the date nine days after `now`, in words."""

    def date(match: re.Match[str]) -> str:
        day = now + timedelta(days=int(match.group(1)))
        return f"{day:%B} {day.day}"

    return _DAY.sub(date, text)


def _count_by_status(team_id: UUID) -> dict[str, int]:
    rows = Memory.objects.filter(team_id=team_id).order_by("status").values_list("status")
    return dict(rows.annotate(Count("id")))
