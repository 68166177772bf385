"""The demo team: a story that can be told twice and shows what the product is for."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memory.api.forms import checked_payload
from memory.domain.audience import Viewer
from memory.domain.forms import PROJECT_FORMS, Form
from memory.domain.types import MemoryType, Role, Status
from memory.models import Contradiction, Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.demo.services import load_demo, read_story
from memory.satellites.lifecycle.models import ConsolidationRun, Kind
from memory.satellites.tasks.services import items_of
from memory.satellites.transfer.models import ImportRun
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from memory.understanding.tools import Tools
from routing.domain.budgets import CapKind
from routing.models import SpendTotal
from teams.models import Agent, Conversation, EndUser, Message
from tests.support.cast import Cast

NOW = datetime(2026, 6, 17, 12, 0, tzinfo=UTC)


def load(acme: Cast, tools: Tools, now: datetime = NOW) -> int:
    done = load_demo(team_id=acme.team.id, tools=tools, actor="test", now=now)
    return done.new_messages + done.new_memories


def test_the_story_holds_weeks_of_talk_by_three_people_and_two_agents() -> None:
    story = read_story()

    agents = {each["slug"] for each in story["agents"]}
    people = {each["external_id"] for each in story["people"]}
    talks = story["conversations"]
    assert len({each["days_ago"] for each in talks}) == len(talks) == 10
    assert {each["agent"] for each in talks} == agents == {"kyra", "luke"}
    assert {each["user"] for each in talks} == people == {"sarah", "dmitri", "ingrid"}
    assert all(10 <= len(each["messages"]) <= 20 for each in talks)
    assert {role for each in talks for role, _ in each["messages"]} <= set(Role)
    assert len({each["thread_id"] for each in talks}) == len(talks)


def test_what_is_stated_of_the_project_is_valid_by_the_api() -> None:
    formed = [each for each in read_story()["stated"] if "form" in each]

    for each in formed:
        checked_payload(Form(each["form"]), each["payload"], gives_text=True)
    assert {each["form"] for each in formed} == PROJECT_FORMS


def rows(cast: Cast) -> dict[str, int]:
    """Counts the rows of each kind that the pages of the admin show."""
    models = (
        *(Memory, Contradiction, ConsentRequest, ImportRun, ConsolidationRun, WebhookEndpoint),
        *(WebhookDelivery, SpendTotal, Conversation, Message, Agent, EndUser),
    )
    return {each.__name__: each._default_manager.filter(team=cast.team).count() for each in models}


def test_telling_it_again_a_week_later_changes_nothing(acme: Cast, tools: Tools) -> None:
    assert load(acme, tools) > 0
    before = rows(acme)

    assert load(acme, tools, NOW.replace(day=24)) == 0
    assert rows(acme) == before


def test_what_a_loading_that_broke_off_did_not_make_is_made_by_the_next(
    acme: Cast, tools: Tools
) -> None:
    load(acme, tools)
    before = rows(acme)
    WebhookEndpoint.objects.all().delete()

    load(acme, tools, NOW.replace(hour=13))

    assert rows(acme) == before


# Statements that a judge has to find contrary: those of one month are no proof for another.
@pytest.mark.parametrize("month", [2, 12])
def test_every_kind_of_decision_waits(acme: Cast, tools: Tools, month: int) -> None:
    load(acme, tools, NOW.replace(month=month))

    assert Contradiction.objects.filter(resolved_at=None).count() == 8
    waiting = ConsentRequest.objects.filter(state=ConsentRequest.State.WAITING)
    kinds = ConsentRequest.Kind
    assert Counter(waiting.values_list("kind", flat=True)) == {
        kinds.PROFILE_FIELD: 3,
        kinds.TEAM_FACT: 1,
    }
    asked = waiting.filter(kind=kinds.PROFILE_FIELD)
    assert set(asked.values_list("end_user__external_id", "field")) == {
        ("sarah", "city"),
        ("dmitri", "language"),
        ("ingrid", "preferred_name"),
    }


def test_runs_are_finished_and_the_other_pages_are_not_empty(acme: Cast, tools: Tools) -> None:
    load(acme, tools)

    run = ImportRun.objects.get()
    assert (run.state, run.total, run.new, run.failed) == (ImportRun.State.DONE, 4, 4, 0)
    commits = Memory.objects.filter(form=Form.EPISODE, project__slug="lantern")
    assert [row.created_at < NOW for row in commits] == [True] * 4
    tended = ConsolidationRun.objects.get()
    assert tended.state == ConsolidationRun.State.DONE
    assert Kind.MERGE in tended.changes.values_list("kind", flat=True)
    month = SpendTotal.objects.get(kind=CapKind.TEAM_MONTH.value)
    assert month.spent_usd == Decimal("2.47")
    viewer = Viewer(team_id=acme.team.id, actor="test")
    assert len(items_of(viewer=viewer, task_id="LAN-214", now=NOW)) == 3


def test_its_webhook_sends_nothing_to_anybody(acme: Cast, tools: Tools) -> None:
    load(acme, tools)

    endpoint = WebhookEndpoint.objects.get()
    assert not endpoint.is_enabled
    assert endpoint.url.split("/")[2].endswith(".example"), "nobody's address"
    assert not WebhookDelivery.objects.exists()


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
    assert EndUser.objects.get(pk=acme.sarah.pk).display_name == "Sarah Lindqvist"
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
    assert said.startswith("Team showroom: 10 conversations with ")
    assert "manage.py key --team showroom" in said
    assert "URL=http://127.0.0.1:8123 " in said
    assert "curl" in said


def test_a_team_that_is_no_slug_is_refused() -> None:
    with pytest.raises(CommandError, match="--team must be a slug"):
        call_command("load_demo", "--team", "no slug")
