"""Members share their work, guests keep what is theirs, and confidences wait to be asked about."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from memory.domain.types import MemoryType
from memory.models import Memory, MessageEntry
from memory.understanding.tools import Tools
from memory.writing.indexing.message_index import index_team
from teams.models import ApiKey, EndUser, Project, Team
from tests.support.cast import Cast, Clients
from tests.support.learning import Desk, desk, extract, filed, tell, told
from tests.support.memories_api import post, remember

__all__ = ["desk"]

MARKET = "The market on April 11 is cancelled."
QUESTION = "Is there a market on April 11?"
SECRET = "I am interviewing at the harbour company on Thursday."


@pytest.fixture
def team_key(desk: Desk, client_of: Clients) -> APIClient:
    """A key of the team, bound to no agent."""
    return client_of(desk.cast)


def make(team_key: APIClient, role: str, *users: str) -> None:
    """Give the users that role."""
    for user in users:
        changed = team_key.patch(f"/v1/users/{user}", {"role": role}, format="json")
        assert changed.status_code == 200, changed.content
        assert changed.json()["role"] == role


# -- members and guests ----------------------------------------------------------------------------


def test_what_a_member_says_of_the_work_is_told_to_members(
    desk: Desk, team_key: APIClient, tools: Tools
) -> None:
    make(team_key, "member", "sarah", "dmitri")
    filed(desk.kyra, tools, MARKET, audience="team")

    assert told(desk.luke, QUESTION, agent="luke", user="dmitri")
    assert Memory.objects.get().audience == "team"


def test_a_guest_is_not_told_it(desk: Desk, team_key: APIClient, tools: Tools) -> None:
    make(team_key, "member", "sarah")
    filed(desk.kyra, tools, MARKET, audience="team")

    assert not told(desk.luke, QUESTION, agent="luke", user="dmitri")
    assert not told(desk.luke, QUESTION, agent="luke", user="unheard-of")


def test_what_a_guest_says_stays_with_the_guest(desk: Desk, tools: Tools) -> None:
    filed(desk.kyra, tools, MARKET, audience="team")

    assert told(desk.luke, QUESTION, agent="luke", user="sarah")
    assert not told(desk.luke, QUESTION, agent="luke", user="dmitri")
    assert Memory.objects.get().audience == "person"


def test_what_the_team_stated_itself_is_told_to_guests(desk: Desk, team_key: APIClient) -> None:
    remember(team_key, MARKET)

    assert told(desk.luke, QUESTION, agent="luke", user="dmitri")


def test_a_colleague_finds_the_message(desk: Desk, team_key: APIClient, tools: Tools) -> None:
    make(team_key, "member", "sarah", "dmitri")
    talk = tell(desk.kyra, "The deploy freeze of the payments service starts on Monday.")
    post(desk.kyra, f"conversations/{talk}/close")
    extract(desk.kyra, talk)
    Memory.objects.update(status="superseded")
    index_team(team_id=desk.cast.team.pk, tools=tools)

    assert MessageEntry.objects.get().audience == "team"
    answers = [
        post(desk.luke, "retrieve", query="When does the deploy freeze start?", agent="luke", **who)
        for who in ({"user": "dmitri"}, {}, {"user": "unheard-of"})
    ]
    assert ["freeze" in str(each.json()["messages"]) for each in answers] == [True, True, False]


def test_the_team_says_what_new_people_are(desk: Desk, tools: Tools) -> None:
    slug = desk.cast.team.slug
    call_command("issue_key", team=slug, people="member", stdout=StringIO())
    filed(desk.kyra, tools, MARKET, audience="team")

    assert Team.objects.get(pk=desk.cast.team.pk).person_role == "member"
    assert told(desk.luke, QUESTION, agent="luke", user="dmitri")


def test_a_role_is_given_with_a_key_of_the_team(desk: Desk, team_key: APIClient) -> None:
    path, body = "/v1/users/newcomer", {"role": "member"}

    assert desk.kyra.patch(path, body, format="json").status_code == 403
    assert team_key.patch(path, {}, format="json").status_code == 422
    assert team_key.patch(path, {"role": "boss"}, format="json").status_code == 422
    assert not EndUser.objects.filter(external_id="newcomer").exists()
    make(team_key, "member", "newcomer")


# -- no name, no person ----------------------------------------------------------------------------


def test_without_a_name_nothing_of_a_person_is_told(desk: Desk, team_key: APIClient) -> None:
    remember(desk.kyra, "Sarah is allergic to penicillin.", user="sarah")
    body = {"query": "Any drug allergies?", "agent": "kyra"}

    for client in (desk.kyra, team_key):
        for path in ("retrieve", "prompt", "memory/query"):
            answer = post(client, path, **body)
            assert "penicillin" not in answer.content.decode()
            assert "no user is named" in answer.content.decode()
        assert "penicillin" in post(client, "retrieve", **body, user="sarah").content.decode()


def test_an_agents_key_lists_people_by_name(desk: Desk, team_key: APIClient) -> None:
    remember(desk.kyra, "Sarah is allergic to penicillin.", user="sarah")
    tell(desk.kyra, "Hello.")

    for path in ("memories", "conversations", "audit/log"):
        nobody, somebody = (
            desk.kyra.get(f"/v1/{path}{query}").json()["results"] for query in ("", "?user=sarah")
        )
        assert (nobody, bool(somebody)) == ([], True), path
        assert team_key.get(f"/v1/{path}").json()["results"]


# -- in confidence ---------------------------------------------------------------------------------


def test_a_confidence_is_told_where_it_is_asked_about(desk: Desk, tools: Tools) -> None:
    filed(desk.kyra, tools, SECRET, audience="agent")

    def prompt(query: str) -> str:
        body = {"query": query, "agent": "kyra", "user": "sarah", "include_raw": False}
        return str(post(desk.kyra, "prompt", **body).json()["prompt"])

    assert "[PRIVATE]" in prompt("How did my interview at the harbour company go?")
    assert "interviewing" not in prompt("Which flour do you take for the bread?")
    assert Memory.objects.get().memory_type == MemoryType.AGENT_PRIVATE
    assert not Memory.objects.get().is_pinned


# -- keys of projects ------------------------------------------------------------------------------


def test_for_a_key_of_a_project_no_other_exists(
    desk: Desk, team_key: APIClient, acme: Cast
) -> None:
    told_of = {slug: remember(team_key, f"{slug} has a crane.", project=slug) for slug in "ab"}
    out = StringIO()
    call_command("issue_key", team=acme.team.slug, project=["a"], stdout=out)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {out.getvalue().strip()}")

    assert ApiKey.objects.filter(project_ids=[Project.objects.get(slug="a").pk]).count() == 1
    assert [each["id"] for each in client.get("/v1/memories").json()["results"]] == [told_of["a"]]
    assert client.get(f"/v1/memories/{told_of['b']}").status_code == 404
    answer = post(client, "memory/query", query="Is there a crane?", agent="kyra", project="b")
    assert answer.json()["results"] == []
    stated = client.post(
        "/v1/memories", {"content": "b has a lift.", "project": "b"}, format="json"
    )
    assert stated.status_code == 404
    moved = client.patch(
        f"/v1/memories/{told_of['a']}", {"scope": "project", "project": "b"}, format="json"
    )
    assert moved.status_code == 404
    assert post(client, "projects/b/clear", name="b").status_code == 403
    assert post(client, "team/clear", scope="project", name=acme.team.slug).status_code == 403
    assert client.get("/v1/audit/export?user=sarah").status_code == 403
    assert Memory.objects.live().count() == 2


def test_a_request_of_another_project_does_not_exist_for_a_key_of_a_project(
    desk: Desk, team_key: APIClient, acme: Cast
) -> None:
    for slug in "ab":
        stated = {"content": f"We prefer tabs in {slug}.", "category": "preferences"}
        made = team_key.post("/v1/memories", {**stated, "project": slug}, format="json").json()
        post(desk.kyra, f"memories/{made['id']}/promote")
    out = StringIO()
    call_command("issue_key", team=acme.team.slug, project=["a"], stdout=out)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {out.getvalue().strip()}")

    assert len(team_key.get("/v1/consent-requests").json()["results"]) == 2
    [own] = client.get("/v1/consent-requests").json()["results"]
    assert own["proposed"] == "We prefer tabs in a."
