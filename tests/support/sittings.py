"""Sittings of talk, said through the API and told as the workers do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Job, Memory
from memory.satellites.episodes.making import make_episode, queue_episodes
from memory.understanding.tools import Tools
from memory.writing.jobs import due_jobs, taken
from memory.writing.pipeline import run_job
from teams.tenancy import team_scope
from tests.support.cast import Cast

Lines = Sequence[tuple[str, str]]
DAY = timedelta(days=1)
WORK: Lines = (
    ("user", "The login breaks because the session token of the proxy is too large."),
    ("assistant", "The proxy drops headers above eight kilobytes, so the token is lost."),
    ("user", "We decided to keep the session on the server and store its number in a cookie."),
    ("assistant", "I changed src/auth/login.ts in commit 4f2a9bc and opened PR #42."),
    ("user", "The session tests pass now, see https://ci.example.org/runs/7 for the proxy."),
    ("user", "Thanks!"),
)


def post(
    api: APIClient,
    lines: Lines,
    *,
    at: datetime,
    user: str = "sarah",
    agent: str = "kyra",
    thread: str = "work",
    **names: str,
) -> str:
    """Say the lines a minute apart, the first at `at`, and close; the conversation's id."""
    body = {"agent": agent, "user": user, "thread_id": thread, **names}
    conversation = api.post("/v1/conversations", body, format="json").json()["id"]
    said = [
        {"role": role, "content": text, "created_at": (at + timedelta(minutes=place)).isoformat()}
        for place, (role, text) in enumerate(lines)
    ]
    path = f"/v1/conversations/{conversation}"
    response = api.post(f"{path}/messages", {"messages": said}, format="json")
    assert response.status_code == 201, response.json()
    assert api.post(f"{path}/close").status_code == 200
    return str(conversation)


def extract(cast: Cast, tools: Tools) -> None:
    """Extract what waits."""
    while jobs := waiting(cast, Job.Kind.EXTRACT):
        for job in jobs:
            run_job(team_id=cast.team.pk, job_id=job.pk, tools=tools)


def tell(cast: Cast, tools: Tools, *, now: datetime | None = None) -> list[Memory]:
    """Extract and tell what waits, a day later; all episodes of the team, oldest first."""
    now = now or timezone.now() + DAY
    extract(cast, tools)
    queue_episodes(team_id=cast.team.pk, now=now)
    while jobs := waiting(cast, Job.Kind.EPISODE):
        for job in jobs:
            run_episode(job, tools, now=now)
    return episodes(cast)


def run_episode(job: Job, tools: Tools, *, now: datetime) -> UUID | None:
    """Run an episode's job as a worker does; the memory that it made."""
    with taken(job=job, clock=lambda: now) as run:
        return None if run is None else make_episode(run, tools=tools, now=now)


def waiting(cast: Cast, kind: Job.Kind) -> list[Job]:
    """The jobs of the kind that wait."""
    return due_jobs(team_id=cast.team.pk, now=timezone.now() + DAY, kind=kind)


def episodes(cast: Cast) -> list[Memory]:
    """The team's episodes, oldest first."""
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        rows = Memory.objects.filter(team=cast.team, form="episode")
        return list(rows.order_by("created_at"))
