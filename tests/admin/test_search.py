"""The search of Ctrl-K: the memories, names, pages and settings it finds, and for whom."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from memory.admin.memory_list import marked_words
from memory.understanding.tools import Tools
from teams.models import EndUser
from tests.admin.test_memory_list import write
from tests.factories import ProjectFactory, make_team
from tests.support.admin import SignIn
from tests.support.cast import Cast

SEARCH = reverse("admin:search")


def hits(client: Client, text: str) -> dict[str, str]:
    """Returns the titles of the results, each with what it is."""
    answer = client.get(SEARCH, {"s": text})
    assert answer.status_code == 200
    return {strip_tags(hit.title): hit.note.split(" ·")[0] for hit in answer.context["hits"]}


@pytest.fixture
def office(cast: Cast, tools: Tools) -> Cast:
    """A team with three memories that have nothing in common."""
    write(
        cast.team,
        tools,
        "The printer on the second floor is out of toner.",
        "Miso the cat eats tuna.",
        "The release of Lantern is planned for Friday.",
    )
    return cast


def test_memories_end_where_relevance_ends(office: Cast, viewer_client: Client) -> None:
    assert list(hits(viewer_client, "What does the cat Miso eat?")) == ["Miso the cat eats tuna."]
    assert hits(viewer_client, "zzzz qqqq") == {}
    assert "Nothing found." in viewer_client.get(SEARCH, {"s": "zzzz qqqq"}).content.decode()


def test_the_words_are_marked_and_the_rest_is_escaped(office: Cast, viewer_client: Client) -> None:
    text = viewer_client.get(SEARCH, {"s": "printer toner"}).content.decode()

    assert "The <mark>printer</mark> on the second floor is out of <mark>toner</mark>." in text
    assert marked_words("<b>Tea</b> teapots", ["tea"]) == (
        "&lt;b&gt;<mark>Tea</mark>&lt;/b&gt; <mark>teapots</mark>"
    )


def test_names_are_found_by_their_beginning_and_within_a_question(
    inside: Cast, viewer_client: Client
) -> None:
    EndUser.objects.filter(pk=inside.sarah.pk).update(display_name="Sarah Lindqvist")
    ProjectFactory.create(team=inside.team, slug="lantern", name="Lantern")

    assert hits(viewer_client, "sar") == {"Sarah Lindqvist": "Person"}
    assert hits(viewer_client, "lindq") == {"Sarah Lindqvist": "Person"}
    assert hits(viewer_client, "What does the system know about Sarah?") == {
        "Sarah Lindqvist": "Person"
    }
    assert hits(viewer_client, "kyr") == {inside.kyra.name: "Agent"}
    assert hits(viewer_client, "lant") == {"Lantern": "Project"}


def test_pages_and_settings_are_found_by_those_who_may_see_them(
    cast: Cast, admin_client: Client, viewer_client: Client
) -> None:
    pages = hits(admin_client, "contrad")
    budget = admin_client.get(SEARCH, {"s": "monthly budget"}).context["hits"]

    assert pages["Contradictions"] == "Page"
    assert [hit.url for hit in budget] == [
        f"{reverse('admin:teams_team_change', args=[cast.team.pk])}#id_monthly_budget_usd"
    ]
    assert hits(viewer_client, "monthly budget") == {}
    assert set(hits(admin_client, "provider key")) == {"Providers", "API keys"}
    assert "Logins" not in hits(admin_client, "login")


def test_nothing_of_another_team_is_found(
    office: Cast, others: Cast, tools: Tools, viewer_client: Client, sign_in: SignIn
) -> None:
    write(others.team, tools, "Loki the cat eats herring.")
    lone = sign_in(name="lone")

    assert not [title for title in hits(viewer_client, "Loki the cat") if "Loki" in title]
    assert hits(lone, "cat") == {}


def test_a_login_of_many_teams_is_asked_to_choose_one(db: None, root_client: Client) -> None:
    for number in range(6):
        make_team(slug=f"many-{number}")

    assert "Choose a team to search its memories" in hits(root_client, "tuna")


def test_the_script_gets_the_results_alone(office: Cast, viewer_client: Client) -> None:
    part = viewer_client.get(SEARCH, {"s": "toner"}, headers={"HX-Request": "true"})

    assert part.content.decode().strip().startswith("<ul")
    assert "<html" in viewer_client.get(SEARCH, {"s": "toner"}).content.decode()
