"""The demo team: a story that can be told twice and shows what the product is for."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memory.domain.types import MemoryType, Role, Status
from memory.models import Contradiction, Memory
from memory.satellites.demo.services import load_demo, read_story
from memory.understanding.tools import Tools
from teams.models import Agent, Conversation, EndUser, Message
from tests.support.cast import Cast

NOW = datetime(2026, 6, 17, 12, 0, tzinfo=UTC)


def load(acme: Cast, tools: Tools, now: datetime = NOW) -> int:
    done = load_demo(team_id=acme.team.id, tools=tools, actor="test", now=now)
    return done.new_messages + done.new_memories


def test_the_story_holds_a_few_weeks_of_talk_between_known_names() -> None:
    story = read_story()

    agents = {each["slug"] for each in story["agents"]}
    people = {each["external_id"] for each in story["people"]}
    talks = story["conversations"]
    assert 8 <= len(talks) <= 10
    assert {each["agent"] for each in talks} == agents == {"kyra", "luke", "ada"}
    assert {each["user"] for each in talks} == people == {"sarah", "dmitri"}
    assert all(10 <= len(each["messages"]) <= 20 for each in talks)
    assert {role for each in talks for role, _ in each["messages"]} <= set(Role)
    assert len({each["thread_id"] for each in talks}) == len(talks)


def test_telling_it_again_a_week_later_adds_nothing(acme: Cast, tools: Tools) -> None:
    assert load(acme, tools) > 0

    assert load(acme, tools, NOW.replace(day=24)) == 0


def test_it_shows_every_kind_of_memory_a_dispute_and_a_supersession(
    acme: Cast, tools: Tools
) -> None:
    load(acme, tools)

    kinds = set(Memory.objects.values_list("memory_type", flat=True))
    assert kinds >= set(MemoryType) - {MemoryType.INSIGHT}
    assert Memory.objects.filter(status=Status.SUPERSEDED).exists()
    first = Memory.objects.get(content__contains="kept for 30 days")
    second = Memory.objects.get(content__contains="kept for 90 days")
    assert Contradiction.objects.filter(memory_a=first, memory_b=second, resolved_at=None).exists()


def test_it_happened_in_the_past_in_order_and_no_placeholder_is_left(
    acme: Cast, tools: Tools
) -> None:
    load(acme, tools)

    rows = list(Message.objects.order_by("conversation", "position"))
    assert all(row.created_at < NOW for row in rows)
    assert not [row.content for row in rows if "{" in row.content]
    times = [row.created_at for row in rows if row.conversation_id == rows[0].conversation_id]
    assert times == sorted(times)


def test_agents_get_their_identity_but_keep_what_somebody_wrote(acme: Cast, tools: Tools) -> None:
    Agent.objects.filter(pk=acme.luke.pk).update(tagline="Ours.", name="Lucas")

    load(acme, tools)

    kyra = Agent.objects.get(pk=acme.kyra.pk)
    luke = Agent.objects.get(pk=acme.luke.pk)
    assert kyra.tagline.startswith("Research and writing")
    assert kyra.rules
    assert (luke.name, luke.tagline) == ("Lucas", "Ours.")
    assert EndUser.objects.get(pk=acme.sarah.pk).display_name == "Sarah"
    assert Memory.objects.filter(
        memory_type=MemoryType.IDENTITY, agent=kyra, content__startswith="I am Kyra"
    ).exists()


def test_the_projects_talk_belongs_to_the_project(acme: Cast, tools: Tools) -> None:
    load(acme, tools)

    assert Conversation.objects.filter(project__slug="lantern").count() >= 7


@pytest.mark.django_db
def test_the_command_says_what_it_made_and_how_to_try_it(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setenv("PORT", "8123")

    call_command("load_demo", "--team", "showroom", stdout=out)

    said = out.getvalue()
    assert said.startswith("Team showroom: 9 conversations with ")
    assert "issue_key --team showroom" in said
    assert "URL=http://127.0.0.1:8123 " in said
    assert "curl" in said


def test_a_team_that_is_no_slug_is_refused() -> None:
    with pytest.raises(CommandError, match="--team must be a slug"):
        call_command("load_demo", "--team", "no slug")
