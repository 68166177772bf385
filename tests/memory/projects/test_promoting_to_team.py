"""A project's memory becomes the team's when somebody says so; a preference needs a yes."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.satellites.consent.models import ConsentRequest
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post, remember, shown

PATTERN = "Retry a call that timed out three times, with growing pauses."
TASTE = "Answers are to be short."


@pytest.fixture
def taste(api: APIClient) -> str:
    """A preference of the project apollo."""
    return remember(api, TASTE, project="apollo", category="preferences")


def test_a_pattern_becomes_the_teams_at_once(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    memory = remember(api, PATTERN, project="apollo", importance=6)
    luke = client_of(acme, acme.luke)

    first = post(luke, f"memories/{memory}/promote", reason="it holds everywhere")
    again = post(luke, f"memories/{memory}/promote")

    assert (first.status_code, again.status_code) == (200, 200)
    assert (first.json()["scope"], first.json()["project"]) == ("team", None)
    assert first.json()["consent_request"] is None
    row = MemoryLog.objects.filter(memory_id=memory).order_by("seq").last()
    assert row is not None
    assert row.reason == "promoted from its project to the team: it holds everywhere"
    assert MemoryLog.objects.filter(memory_id=memory).count() == 2
    found = post(api, "retrieve", agent="kyra", project="zeus", query="retry a call")
    assert PATTERN in [each["content"] for each in found.json()["memories"]]


def test_nothing_of_a_project_is_seen_from_another_before(api: APIClient) -> None:
    remember(api, PATTERN, project="apollo")

    found = post(api, "retrieve", agent="kyra", project="zeus", query="retry a call")

    assert found.status_code in (200, 404)
    assert PATTERN not in found.content.decode()


def test_a_preference_waits_for_a_yes(
    api: APIClient, taste: str, acme: Cast, client_of: Clients
) -> None:
    kyra = client_of(acme, acme.kyra)

    asked = post(kyra, f"memories/{taste}/promote")
    again = post(kyra, f"memories/{taste}/promote")

    assert (asked.status_code, again.status_code) == (202, 202)
    request = asked.json()["consent_request"]
    assert request == again.json()["consent_request"]
    assert shown(api, taste)["scope"] == "project"
    (listed,) = kyra.get("/v1/consent-requests").json()["results"]
    assert (listed["id"], listed["kind"], listed["user"]) == (request, "team_preference", None)
    luke = client_of(acme, acme.luke)
    assert post(luke, f"consent-requests/{request}/approve").status_code == 403
    yes = post(api, f"consent-requests/{request}/approve")
    assert yes.status_code == 200, yes.content
    assert (shown(api, taste)["scope"], shown(api, taste)["project"]) == ("team", None)


def test_a_no_keeps_it_the_projects_and_is_not_asked_again(
    api: APIClient, taste: str, acme: Cast, client_of: Clients
) -> None:
    kyra = client_of(acme, acme.kyra)
    request = post(kyra, f"memories/{taste}/promote").json()["consent_request"]
    post(api, f"consent-requests/{request}/reject")

    assert shown(api, taste)["scope"] == "project"
    assert post(kyra, f"memories/{taste}/promote").status_code == 409
    assert post(api, f"memories/{taste}/promote", confirm=True).status_code == 200


def test_a_key_of_the_team_may_confirm_and_an_agent_may_not(
    api: APIClient, taste: str, acme: Cast, client_of: Clients
) -> None:
    refused = post(client_of(acme, acme.kyra), f"memories/{taste}/promote", confirm=True)
    assert (refused.status_code, list(refused.json()["errors"])) == (403, ["confirm"])
    assert shown(api, taste)["scope"] == "project"

    request = post(api, f"memories/{taste}/promote").json()["consent_request"]
    done = post(api, f"memories/{taste}/promote", confirm=True)

    assert (done.status_code, done.json()["scope"]) == (200, "team")
    assert ConsentRequest.objects.get(pk=request).state == "approved"


def test_only_what_is_a_projects_alone_is_promoted(api: APIClient) -> None:
    persons = remember(api, "Sarah likes tea.", user="sarah")
    both = remember(api, "Sarah leads apollo.", user="sarah", project="apollo")
    gone = remember(api, "The port is 5432.", project="apollo")
    teams = remember(api, PATTERN)
    for each in (gone, teams):
        api.delete(f"/v1/memories/{each}")

    answers = [post(api, f"memories/{each}/promote") for each in (persons, both, gone, teams)]

    assert [each.status_code for each in answers] == [409] * 4
    assert f"POST /v1/memories/{teams}/restore" in answers[3].json()["detail"]


@pytest.mark.parametrize("by", [{"category": "preference"}, {"subject": "team.preference.tone"}])
def test_no_other_way_makes_a_preference_the_teams_without_a_yes(
    api: APIClient, acme: Cast, client_of: Clients, by: dict[str, str]
) -> None:
    kyra = client_of(acme, acme.kyra)
    projects = remember(api, TASTE, project="apollo", **by)

    stated = post(api, "memories", content=TASTE, **by)
    moved = api.patch(f"/v1/memories/{projects}", {"scope": "team"}, format="json")
    agents = post(kyra, "memories", content=TASTE, confirm=True, **by)

    assert [each.status_code for each in (stated, moved, agents)] == [422, 422, 403]
    assert all(list(each.json()["errors"]) == ["confirm"] for each in (stated, moved, agents))
    assert post(api, "memories", content=TASTE, confirm=True, **by).status_code == 201
    body = {"scope": "team", "confirm": True}
    # The same stands there by now.
    assert api.patch(f"/v1/memories/{projects}", body, format="json").status_code == 409
