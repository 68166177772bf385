"""The consent page, and the list of what was allowed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client as Browser
from django.urls import reverse

from memory.satellites.oauth.models import Grant
from memory.satellites.oauth.tests.signing_in import (
    REDIRECT,
    RESOURCE,
    Program,
    browser_of,
    parameters_of,
    ping,
)
from memory.satellites.oauth.tests.test_protocol import grants_events
from teams.models import Agent, StaffUser
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.cast import Cast

GRANTS = reverse("admin:oauth_grant_changelist")


def grant_of(cast: Cast) -> Grant:
    """The one grant of the team."""
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return Grant.objects.select_related("agent", "end_user", "user").get()


def text_of(answer: Any) -> str:
    """The page."""
    return str(answer.content.decode())


def test_who_is_not_signed_in_signs_in_first(program: Program, acme: Cast) -> None:
    page = program.page()
    join(StaffUserFactory.create(username="ann"), acme.team, "admin")
    browser = Browser()

    asked = browser.get(page)
    answer = browser.post(asked["Location"], {"username": "ann", "password": "secret"})

    assert asked["Location"].startswith(reverse("admin:login"))
    assert answer["Location"] == page
    shown = text_of(browser.get(page))
    assert "Chat" in shown
    assert "chat.example" in shown


def test_the_policy_of_the_page_lets_its_answer_go_to_the_client(
    program: Program, ann: Browser
) -> None:
    policy = ann.get(program.page())["Content-Security-Policy"]

    assert "form-action 'self' https://chat.example" in policy.split("; ")
    assert "frame-ancestors 'none'" in policy


def test_what_is_allowed_is_stored_and_recorded(program: Program, ann: Browser, acme: Cast) -> None:
    answer = ann.post(program.page(), {"agent": acme.kyra.pk, "person": "sarah", "access": "read"})
    sent, grant = parameters_of(answer["Location"]), grant_of(acme)

    assert answer["Location"].startswith(REDIRECT)
    assert (sent["state"], sent["iss"]) == ("xyz & 1", RESOURCE.removesuffix("/mcp"))
    assert (grant.agent, grant.end_user, grant.is_read_only) == (acme.kyra, acme.sarah, True)
    assert grant.user.get_username() == "ann"
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        ((op, meta),) = grants_events()
    assert (op, meta["login"], meta["client"]) == ("grant", "ann", program.client_id)


def test_an_agent_may_be_created_for_the_client(program: Program, ann: Browser, acme: Cast) -> None:
    page = program.page()
    taken = ann.post(page, {"agent": "", "new_agent": "kyra", "access": "write"})
    spaced = ann.post(page, {"agent": "", "new_agent": "my chat", "access": "write"})
    unnamed = ann.post(page, {"agent": "", "new_agent": "", "access": "write"})
    ann.post(page, {"agent": "", "new_agent": "chat", "access": "write"})

    assert "has an agent of this name" in text_of(taken)
    assert "one word without spaces" in text_of(spaced)
    assert "Choose an agent, or name a new one." in text_of(unnamed)
    assert grant_of(acme).agent.slug == "chat"


def test_a_refusal_is_told_to_the_client_and_stores_nothing(
    program: Program, ann: Browser, acme: Cast
) -> None:
    answer = ann.post(program.page(), {"deny": "1", "agent": acme.kyra.pk, "access": "write"})

    assert parameters_of(answer["Location"])["error"] == "access_denied"
    assert parameters_of(answer["Location"])["state"] == "xyz & 1"
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        assert not Grant.objects.exists()


def test_a_client_that_asks_to_read_cannot_be_allowed_to_write(
    program: Program, ann: Browser, acme: Cast
) -> None:
    page = program.page(scope="read openid")
    refused = ann.post(page, {"agent": acme.kyra.pk, "access": "write"})
    ann.post(page, {"agent": acme.kyra.pk, "access": "read"})

    assert refused.status_code == 200
    assert grant_of(acme).is_read_only


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_only_admins_connect_programs(program: Program, acme: Cast, role: str) -> None:
    rob = browser_of(acme.team, role, name="rob")

    answer = rob.post(program.page(), {"agent": acme.kyra.pk, "access": "write"})

    assert answer.status_code == 403
    assert "Only admins of a team" in text_of(answer)
    assert f"{program.page()}" not in text_of(answer)


def test_agents_and_people_of_another_team_are_refused(
    program: Program, ann: Browser, acme: Cast, globex: Cast
) -> None:
    # Of both teams, but no admin of the other one.
    join(StaffUser.objects.get(username="ann"), globex.team, "viewer")
    page = program.page()

    shown = text_of(ann.get(page))
    answer = ann.post(page, {"agent": globex.kyra.pk, "access": "write"})
    stranger = ann.post(page, {"agent": acme.kyra.pk, "person": "nobody", "access": "write"})

    assert str(acme.kyra.pk) in shown
    assert str(globex.kyra.pk) not in shown
    assert "Select a valid choice" in text_of(answer)
    assert "no person with this external id" in text_of(stranger)
    with team_scope(team_ids=[acme.team.pk, globex.team.pk], actor="test"):
        assert not Grant.objects.exists()


def test_an_admin_of_several_teams_says_where_a_new_agent_belongs(
    program: Program, ann: Browser, acme: Cast, globex: Cast
) -> None:
    join(StaffUser.objects.get(username="ann"), globex.team, "admin")
    page = program.page()

    unsaid = ann.post(page, {"agent": "", "new_agent": "chat", "access": "write"})
    ann.post(page, {"agent": "", "team": globex.team.pk, "new_agent": "chat", "access": "write"})

    assert "or the team of the new one" in text_of(unsaid)
    assert grant_of(globex).agent.slug == "chat"
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        assert not Agent.objects.filter(slug="chat").exists()


@pytest.mark.parametrize("request_", ["", "?request=forged"])
def test_a_request_that_was_not_checked_is_refused(ann: Browser, db: None, request_: str) -> None:
    answer = ann.get(f"/admin/oauth/consent/{request_}")

    assert answer.status_code == 400
    assert "This request has expired" in text_of(answer)


# -- the list --------------------------------------------------------------------------------


def test_admins_revoke_what_was_allowed_in_their_team(
    program: Program, ann: Browser, acme: Cast, globex: Cast
) -> None:
    token = program.tokens(ann, agent=acme.kyra.pk)["access_token"]
    grant = grant_of(acme)
    revoke = reverse("admin:oauth_grant_revoke_this", args=[grant.pk])
    eve = browser_of(globex.team, "admin", name="eve")
    vera = browser_of(acme.team, "viewer", name="vera")

    assert "Chat" in text_of(ann.get(GRANTS))
    assert "Chat" not in text_of(eve.get(GRANTS))
    for other in (eve, vera):
        assert other.post(revoke, {"confirmed": "yes"}).status_code == 403
    assert ping(token).status_code == 200
    ann.post(revoke, {"confirmed": "yes"})

    assert ping(token).status_code == 401
    assert revoke not in text_of(ann.get(reverse("admin:oauth_grant_change", args=[grant.pk])))
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        assert [(op, meta.get("cause")) for op, meta in grants_events()] == [
            ("grant", None),
            ("revoke", "admin"),
        ]


def test_the_list_opens_on_what_still_works(program: Program, ann: Browser, acme: Cast) -> None:
    program.tokens(ann, agent=acme.kyra.pk)
    program.code(ann, agent=acme.luke.pk)

    def listed(state: str) -> list[str]:
        rows = ann.get(GRANTS, {"state": state} if state else {}).context["cl"].result_list
        return sorted(each.agent.slug for each in rows)

    assert listed("") == listed("active") == ["kyra", "luke"]
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        Grant.objects.update(created_at=F("created_at") - timedelta(minutes=5))
    assert (listed(""), listed("expired")) == (["kyra"], ["luke"])
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        Grant.objects.update(used_at=F("used_at") - timedelta(days=31))
    assert (listed(""), listed("expired"), listed("revoked")) == ([], ["kyra", "luke"], [])
    assert "expired" in text_of(ann.get(GRANTS, {"state": "all"}))
