"""A committed team, and what is held of Sarah in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from rest_framework.test import APIClient

from audit.services.events import Event, record_events
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.pipeline import run_job
from teams.errors import NotFoundError
from teams.models import EndUser, Message
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, Clients, make_cast
from tests.support.erasure import NEEDLE, erase, post, said


@pytest.fixture
def town(committed_db: None) -> Iterator[Cast]:
    """A committed team, of whose Sarah nothing is left behind for other tests to find."""
    town = make_cast(f"town-{uuid4().hex}")
    yield town
    with suppress(NotFoundError):
        erase(town, "sarah")


@pytest.fixture
def story(town: Cast, client_of: Clients, tools: Tools) -> APIClient:
    """Sarah has talked, been remembered, corrected, contradicted, merged, summed up and asked for.

    Dmitri has done a little of it, and some memories are about nobody.
    """
    api = client_of(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        EndUser.objects.filter(pk=town.sarah.pk).update(
            display_name=f"Sarah {NEEDLE}", profile={"lives in": NEEDLE}
        )
    talk = post(api, "conversations", agent="kyra", user="sarah", thread_id=f"{NEEDLE}-1")["id"]
    post(
        api,
        f"conversations/{talk}/messages",
        key="said",
        messages=[
            {
                "role": "user",
                "content": f"I play chess at the club of {NEEDLE} on Sundays.",
                "name": NEEDLE,
            },
            {"role": "assistant", "content": f"{NEEDLE} is far away.", "external_id": NEEDLE},
            {"role": "user", "content": f"I decided to use {NEEDLE} for my own thesis."},
            {"role": "system", "content": f"Prompt about {NEEDLE}."},
        ],
    )
    post(api, f"conversations/{talk}/compact", keep_last=1)
    post(
        api,
        f"conversations/{talk}/messages",
        messages=[{"role": "user", "content": f"I am allergic to {NEEDLE} peanuts."}],
    )
    with team_scope(team_ids=[town.team.id], actor="test"):
        Job.objects.update(error=f"failed at {NEEDLE}")
    one = post(
        api,
        "memories",
        key="stated",
        content=f"Sarah drives a {NEEDLE}.",
        check=False,
        user="sarah",
        subject=f"sarah.{NEEDLE}",
        tags=[NEEDLE],
        category=NEEDLE,
        external_id=NEEDLE,
        valid_from="1990-05-12T00:00:00Z",
    )["id"]
    two = post(
        api,
        f"memories/{one}/correct",
        corrected_content=f"Sarah drives two {NEEDLE}.",
        reason=NEEDLE,
    )["id"]
    post(api, f"memories/{two}/feedback", signal="wrong", note=f"no {NEEDLE}")
    for content in (f"The {NEEDLE} limit is 100.", f"The {NEEDLE} limit is 500."):
        post(api, "memories", content=content, user="sarah")
    again = f"The {NEEDLE} limit is 100."
    post(api, "memories", content=again, user="sarah", external_id=f"{NEEDLE}-again")
    post(api, "memories", content="Dmitri likes tea.", user="dmitri", subject="dmitri")
    post(api, "memories", content="The team meets on Mondays.")
    post(
        api,
        "memories",
        form="episode",
        payload={
            "title": "The refactor went well",
            "narrative": f"Sarah told of {NEEDLE}.",
            "artifacts": [{"kind": "file", "ref": f"src/{NEEDLE}.py"}],
        },
        content=f"Sarah led a refactor of {NEEDLE}.",
        user="sarah",
    )
    other = post(api, "conversations", agent="kyra", user="dmitri", thread_id="d")["id"]
    post(
        api,
        f"conversations/{other}/messages",
        messages=[{"role": "user", "content": "My name is Dmitri and I live in Paris."}],
    )
    api.put(
        f"/v1/threads/{NEEDLE}/checkpoint",
        {"user": "sarah", "data": {"step": NEEDLE}},
        format="json",
    )
    told = {"channel": NEEDLE, "type": "text", "value": ""}
    api.put(
        f"/v1/threads/{NEEDLE}/checkpoints/c1",
        {"user": "sarah", "data": {}, "channels": {NEEDLE: "1"}, "values": [told]},
        format="json",
    )
    post(
        api,
        f"threads/{NEEDLE}/checkpoints/c1/writes",
        task_id="t",
        writes=[{"index": 0, **told}],
    )
    post(
        api,
        "items",
        items=[{"namespace": ["users", "sarah"], "key": "k", "value": {"said": NEEDLE}}],
    )
    post(api, "prompt", key="asked", agent="kyra", user="sarah", query=f"Where is {NEEDLE}?")
    post(api, "retrieve", key="got", agent="kyra", user="sarah", query=f"Where is {NEEDLE}?")
    with team_scope(team_ids=[town.team.id], actor="test"):
        record_events(
            team_id=town.team.id,
            events=[Event(node="x", op="y", end_user_id=town.sarah.pk, meta={"said": NEEDLE})],
        )
        staff = factories.StaffUserFactory.create(username=uuid4().hex)
        LogEntry.objects.create(
            user=staff, object_id=one, object_repr=f"Sarah drives a {NEEDLE}.", action_flag=CHANGE
        )
        for job in Job.objects.filter(team=town.team).exclude(state="done"):
            run_job(team_id=town.team.id, job_id=job.pk, tools=tools)
    return api


@pytest.fixture
def held(town: Cast) -> tuple[Cast, Memory, Message]:
    """A memory and a message of Sarah's."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        message = said(town, town.sarah, "Hello.")
        memory = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
    return town, memory, message
