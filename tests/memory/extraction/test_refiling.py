"""What a user says anew of their own person, against the profile that every agent sees."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from memory.clients.tools import default_tools
from memory.models import Job, Memory
from memory.services.extracting.job_runs import run_job
from memory.services.extracting.jobs import queue_extraction
from teams.models import Agent, Conversation
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast


def _say(cast: Cast, content: str, *, days_ago: int, role: str = "user") -> None:
    """One message in a conversation of its own between Kyra and Sarah, extracted."""
    talk: Conversation = factories.ConversationFactory.create(
        team=cast.team, agent=cast.kyra, end_user=cast.sarah
    )
    factories.MessageFactory.create(
        team=cast.team,
        conversation=talk,
        position=1,
        role=role,
        content=content,
        created_at=timezone.now() - timedelta(days=days_ago),
    )
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        talk.last_position = 1
        talk.save()
        job = queue_extraction(conversation=talk, is_capped=False)
    assert job is not None
    run_job(team_id=cast.team.pk, job_id=job.pk, tools=default_tools())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I work at Lidl.", "I quit my job at Lidl."),
        ("I work at Lidl.", "I left Lidl in April."),
        ("I live in Leeds.", "I moved to York last week."),
        ("I'm allergic to nuts.", "Turns out I'm not allergic to nuts."),
        ("My phone number ends in 44.", "I have changed my phone number, it ends in 91 now."),
        ("My phone number ends in 44.", "I got a new phone number, it ends in 91 now."),
        ("My address is 4 Elm Street.", "I changed my address, it is 9 Oak Lane now."),
        ("I have a cat named Miso.", "Miso died last week."),
    ],
)
def test_a_change_of_the_profile_retires_it_for_all_agents(
    acme: Cast, before: str, after: str
) -> None:
    _say(acme, before, days_ago=9)
    _say(acme, after, days_ago=8)

    old, new = Memory.objects.filter(team_id=acme.team.pk).order_by("created_at")
    assert (old.memory_type, old.status) == ("user_profile", "superseded")
    assert (new.memory_type, new.status, new.agent_id) == ("user_profile", "active", None)
    assert old.superseded_by_id == new.pk


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I work at Lidl.", "I sold my bike on Saturday."),
        ("I work at Lidl.", "My wife quit her job at Lidl."),
        ("I work at Lidl.", "I left my phone at Lidl."),
        ("I work at Lidl.", "I was promoted at Lidl."),
        ("I work at Lidl.", "My friend Joe left Lidl."),
        ("I live in Hull.", "I left my keys in Hull."),
        ("I live in Leeds.", "In this project we moved the servers from Leeds to York."),
        ("I'm allergic to nuts.", "I am not allergic to milk."),
        ("My phone number ends in 44.", "I have changed my phone case, it is red now."),
        ("I have a cat named Miso.", "Miso caught a mouse last week."),
        ("My phone number ends in 44.", "My wife changed her phone number, it ends in 91 now."),
    ],
)
def test_what_does_not_touch_the_profile_leaves_it(acme: Cast, before: str, after: str) -> None:
    _say(acme, before, days_ago=9)
    _say(acme, after, days_ago=8)

    (profile,) = Memory.objects.filter(team_id=acme.team.pk, memory_type="user_profile")
    assert profile.status == "active"


def test_a_change_told_in_the_same_messages_retires_the_profile_too(acme: Cast) -> None:
    _say(
        acme,
        "My phone number ends in 44. I have changed my phone number, it ends in 91 now.",
        days_ago=8,
    )

    rows = Memory.objects.filter(team_id=acme.team.pk)
    assert {(row.memory_type, row.status, "91" in row.content) for row in rows} == {
        ("user_profile", "active", True),
        ("user_profile", "superseded", False),
    }


def test_messages_read_again_give_the_profile_nothing_twice(acme: Cast) -> None:
    _say(acme, "I work at Lidl.", days_ago=9)
    _say(acme, "I quit my job at Lidl.", days_ago=8)
    Job.objects.filter(team_id=acme.team.pk).update(state=Job.State.QUEUED, done_position=0)
    for job in Job.objects.filter(team_id=acme.team.pk).order_by("created_at"):
        run_job(team_id=acme.team.pk, job_id=job.pk, tools=default_tools())

    rows = Memory.objects.filter(team_id=acme.team.pk).order_by("created_at")
    assert [(row.memory_type, row.status) for row in rows] == [
        ("user_profile", "superseded"),
        ("user_profile", "active"),
    ]


def test_an_agents_words_change_no_profile(acme: Cast) -> None:
    _say(acme, "I work at Lidl.", days_ago=9)
    _say(acme, "You quit your job at Lidl in April.", days_ago=8, role="assistant")

    profile = Memory.objects.get(team_id=acme.team.pk, memory_type="user_profile")
    assert profile.status == "active"


def test_an_agent_that_may_not_read_what_talk_gives_gives_it_once(acme: Cast) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(allowed_categories=["goals"])

    for days in (9, 8, 7):
        _say(acme, "I live in Leeds.", days_ago=days)
    _say(acme, "I moved to York last week.", days_ago=6)

    first, _ = Memory.objects.filter(team_id=acme.team.pk).order_by("created_at")
    assert (first.status, first.corroboration) == ("superseded", 2)
