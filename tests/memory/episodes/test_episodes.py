"""Talk at rest becomes one episode of each sitting, found by when it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.clients.tools import Tools
from memory.models import Job, Memory
from memory.services.episodes.making import run_episode_job
from memory.services.episodes.sittings import queue_episodes
from memory.services.extraction.job_runs import run_job
from memory.services.extraction.jobs import overdue_jobs
from teams.models import Conversation, Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients

WORK = (
    ("user", "The login breaks because the session token of the proxy is too large."),
    ("assistant", "The proxy drops headers above eight kilobytes, so the session token is lost."),
    ("user", "We decided to keep the session on the server and store only its number in a cookie."),
    ("assistant", "I changed src/auth/login.ts in commit 4f2a9bc and opened PR #42 for the session."),
    ("user", "The session tests pass now, see https://ci.example.org/runs/7 for the proxy."),
    ("user", "Thanks!"),
)


def post(
    api: APIClient,
    lines: Sequence[tuple[str, str]],
    *,
    at: datetime,
    user: str = "sarah",
    agent: str = "kyra",
    thread: str = "work",
) -> str:
    """Say the lines a minute apart, the first at `at`; the conversation's id."""
    body = {"agent": agent, "user": user, "thread_id": thread}
    conversation = api.post("/v1/conversations", body, format="json").json()["id"]
    said = [
        {
            "role": role,
            "content": content,
            "created_at": (at + timedelta(minutes=number)).isoformat(),
        }
        for number, (role, content) in enumerate(lines)
    ]
    response = api.post(
        f"/v1/conversations/{conversation}/messages", {"messages": said}, format="json"
    )
    assert response.status_code == 201, response.json()
    assert api.post(f"/v1/conversations/{conversation}/close").status_code == 200
    return str(conversation)


def work(cast: Cast, tools: Tools, *, now: datetime | None = None) -> list[Memory]:
    """Extract and tell what waits, as the workers do, a day later; the episodes."""
    now = now or timezone.now() + timedelta(days=1)
    team_id = cast.team.pk
    run_all(cast, tools, Job.Kind.EXTRACT, now)
    queue_episodes(team_id=team_id, now=now)
    run_all(cast, tools, Job.Kind.EPISODE, now)
    return episodes(cast)


def run_all(cast: Cast, tools: Tools, kind: Job.Kind, now: datetime) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        waiting = overdue_jobs(team_id=cast.team.pk, now=now, kind=kind)
    for job_id in waiting:
        if kind is Job.Kind.EXTRACT:
            run_job(team_id=cast.team.pk, job_id=job_id, tools=tools)
        else:
            run_episode_job(team_id=cast.team.pk, job_id=job_id, tools=tools, now=now)


def episodes(cast: Cast) -> list[Memory]:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return list(Memory.objects.filter(team=cast.team, form="episode").order_by("created_at"))


def test_x(acme: Cast, api: APIClient, tools: Tools) -> None:
    start = timezone.now() - timedelta(days=7)
    post(api, WORK, at=start)
    made = work(acme, tools)
    for each in made:
        print(each.content, each.payload, each.tags, each.source_message_ids, each.created_at, each.valid_from)
    body = {"agent": "kyra", "user": "sarah", "query": "What did we do last week?"}
    answer = api.post("/v1/retrieve", body, format="json").json()
    for each in answer["memories"]:
        print(each["score"], each["content"][:80])
    print(answer["prompt"] if "prompt" in answer else answer.keys())
    assert 0
