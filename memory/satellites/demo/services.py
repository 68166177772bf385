"""The demo team: a story of three people and two agents, told through the ordinary services."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Count

from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.types import MemoryType, Role
from memory.models import Contradiction, Memory
from memory.satellites.consent.team_facts import propose_team_facts
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import start_run
from memory.satellites.tasks.services import NewItem, add_item, begin_task
from memory.satellites.tasks.store import ItemKind
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.imports import run_import, start_import
from memory.satellites.transfer.models import ImportRun
from memory.satellites.transfer.transcripts import (
    ImportTarget,
    Transcript,
    Turn,
    import_transcripts,
)
from memory.satellites.webhooks.endpoints import change_endpoint, create_endpoint
from memory.satellites.webhooks.models import WebhookEndpoint
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.stating import StatedMemory, remember
from routing.domain.budgets import Usage
from routing.models import SpendEntry
from routing.services.cost_guard import reserve, settle
from teams.errors import ConflictError
from teams.models import Role as TeamRole
from teams.models import Team
from teams.services.agents import change_agent
from teams.services.people import (
    change_person,
    ensure_agent,
    ensure_end_user,
    ensure_project,
)
from teams.tenancy import database_now, team_scope

STORY = Path(__file__).resolve().with_name("story.json")
COMMITS = STORY.with_name("commits.txt")
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
    """Tells the story, which ends two days before `now`, to a team; again adds what is missing."""
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
    # Each is made once, so that a loading that broke off is completed by the next one.
    for rows, make in (
        (ImportRun.objects.filter(actor=actor), _import_commits),
        (SpendEntry.objects.filter(model__in=[each["model"] for each in story["spend"]]), _spend),
        (WebhookEndpoint.objects.filter(name=story["webhook"]["name"]), _set_up_webhook),
        (ConsolidationRun.objects.all(), _consolidate),
    ):
        with team_scope(team_ids=[team_id], actor=actor):
            is_there = rows.filter(team_id=team_id).exists()
        if not is_there:
            make(story, viewer, tools, now)
    _note_task(story, viewer, now)
    propose_team_facts(team_id=team_id, now=database_now())
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
    if not (agent.tagline or agent.personality or agent.rules):
        own = ("name", "tagline", "personality", "rules", "model_config")
        change_agent(agent=agent, columns={name: given[name] for name in own})


def _introduce_person(team_id: UUID, given: Story) -> None:
    person = ensure_end_user(team_id=team_id, external_id=given["external_id"])
    if not person.display_name:
        ensure_end_user(team_id=team_id, **given)
    if not person.role:
        change_person(person=person, role=TeamRole.MEMBER)


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
    own = {"key", "days_ago", "memory_type", "form"}
    return [
        StatedMemory(
            **{name: value for name, value in each.items() if name not in own},
            memory_type=MemoryType(each.get("memory_type", MemoryType.SEMANTIC)),
            form=Form(each["form"]) if "form" in each else None,
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


def _spend(story: Story, viewer: Viewer, tools: Tools, now: datetime) -> None:
    del tools
    for each in story["spend"]:
        at = now - timedelta(days=each["days_ago"])
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            team = Team.objects.get(pk=viewer.team_id)
            agent = ensure_agent(team_id=team.pk, slug=each["agent"])
            person = ensure_end_user(team_id=team.pk, external_id=each["user"])
        usd = Decimal(each["usd"])
        held = reserve(team=team, agent=agent, end_user=person, estimated_usd=usd, now=at)
        usage = Usage(each["model"], each["tier"], *each["tokens"])
        settle(reservation=held, actual_usd=usd, usage=usage, now=at)


def _note_task(story: Story, viewer: Viewer, now: datetime) -> None:
    """An open task of this hour, as tasks expire; one that was ended stays so."""
    given = story["task"]
    try:
        task = begin_task(
            viewer=viewer,
            now=now,
            task_id=given["id"],
            agent=given["agent"],
            project=story["project"],
        )
    except ConflictError:
        return
    for each in given["items"]:
        item = NewItem(**{**each, "kind": ItemKind(each["kind"])})
        add_item(viewer=viewer, task_id=task.id, item=item, now=now)


def _set_up_webhook(story: Story, viewer: Viewer, tools: Tools, now: datetime) -> None:
    """A disabled webhook: its address belongs to nobody."""
    del tools, now
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        made = create_endpoint(team_id=viewer.team_id, **story["webhook"])
        change_endpoint(endpoint=made.endpoint, changes={"is_enabled": False})


def _consolidate(story: Story, viewer: Viewer, tools: Tools, now: datetime) -> None:
    del story
    run = start_run(viewer=viewer, now=now)
    run_consolidation(team_id=viewer.team_id, run_id=run.pk, tools=tools, clock=lambda: now)


def _import_commits(story: Story, viewer: Viewer, tools: Tools, now: datetime) -> None:
    log = _dated(COMMITS.read_text(encoding="utf-8"), now, is_iso=True)
    run = start_import(
        viewer=viewer,
        source=BytesIO(log.encode()),
        names=Names(project=story["project"]),
        now=now,
        format=Format.GIT,
        name=COMMITS.name,
        is_published=False,
    )
    run_import(team_id=viewer.team_id, run_id=run.pk, tools=tools)


def _dated(text: str, now: datetime, *, is_iso: bool = False) -> str:
    """The text with `{+9}` as the date nine days after `now`, in words or by ISO 8601."""

    def date(match: re.Match[str]) -> str:
        day = now + timedelta(days=int(match.group(1)))
        return f"{day:%Y-%m-%d}" if is_iso else f"{day:%B} {day.day}"

    return _DAY.sub(date, text)


def _count_by_status(team_id: UUID) -> dict[str, int]:
    rows = Memory.objects.filter(team_id=team_id).order_by("status").values_list("status")
    return dict(rows.annotate(Count("id")))
