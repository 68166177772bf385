"""Fields of the admin's forms: who may write which, and the messages that refuse bad input."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from teams.models import Agent, ApiKey, EndUser, Membership, Project, StaffUser, Team
from teams.services.keys import principal_of
from teams.services.people import team_id_of_slug
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import SignIn, agent_form
from tests.support.cast import Cast
from tests.support.chat_models import make_model, make_provider

ADD_KEY = "admin:teams_apikey_add"


def test_a_new_key_is_shown_once(cast: Cast, admin_client: Client) -> None:
    data = {"team": cast.team.pk, "agent": cast.kyra.pk, "name": "nightly"}

    answer = admin_client.post(reverse(ADD_KEY), data)

    shown = re.search(r"pal_[0-9a-f]{8}_[\w-]+", answer.content.decode())
    assert shown is not None
    principal = principal_of(shown.group())
    assert principal is not None
    assert (principal.team_id, principal.agent_slug) == (cast.team.pk, "kyra")
    assert "no-store" in answer["Cache-Control"]
    page = admin_client.get(reverse("admin:teams_apikey_change", args=[principal.key_id]))
    assert shown.group() not in page.content.decode()
    assert not any(shown.group() in str(each) for each in admin_client.cookies.values())


def test_a_key_of_one_team_cannot_be_bound_to_an_agent_of_another(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    both = sign_in((cast.team, "admin"), (others.team, "admin"))

    answer = both.post(reverse(ADD_KEY), {"team": others.team.pk, "agent": cast.kyra.pk})

    assert answer.status_code == 200
    assert "belongs to another team" in answer.content.decode()
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        assert not ApiKey.objects.exists()


def test_a_form_offers_only_teams_where_the_login_is_admin(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    client = sign_in((cast.team, "admin"), (others.team, "viewer"))

    form = client.get(reverse(ADD_KEY)).context["adminform"].form
    refused = client.post(reverse(ADD_KEY), {"team": others.team.pk})

    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        assert list(form.fields["team"].queryset) == [cast.team]
        assert {agent.team_id for agent in form.fields["agent"].queryset} == {cast.team.pk}
    assert refused.status_code == 200
    assert "Select a valid choice" in refused.content.decode()


@pytest.mark.parametrize("model", ["agent", "project", "apikey", "membership", "team"])
def test_only_admins_add(model: str, cast: Cast, reviewer_client: Client) -> None:
    assert reviewer_client.get(reverse(f"admin:teams_{model}_add")).status_code == 403


def test_an_admin_of_one_team_changes_no_row_of_another(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    client = sign_in((cast.team, "admin"), (others.team, "viewer"))
    url = reverse("admin:teams_agent_change", args=[others.kyra.pk])

    assert client.get(url).status_code == 200
    assert client.post(url, agent_form(None, name="Taken")).status_code == 403


def test_an_admin_adds_and_changes_agents(cast: Cast, admin_client: Client) -> None:
    added = admin_client.post(
        reverse("admin:teams_agent_add"), agent_form(cast.team, personality__tone="calm")
    )
    with team_scope(team_ids=[cast.team.id], actor="test"):
        mira = Agent.objects.get(slug="mira")
    changed = admin_client.post(
        reverse("admin:teams_agent_change", args=[mira.pk]), agent_form(None, name="Mira II")
    )

    assert (added.status_code, changed.status_code) == (302, 302)
    assert mira.personality == {"tone": "calm"}
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Agent.objects.get(pk=mira.pk).name == "Mira II"


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("memory_config__retrieval_weights__semantic", "much", "Enter a number"),
        ("memory_config__token_budget", "0", "Must be at least 100"),
        ("slug", "two words", "one word without spaces"),
    ],
)
def test_a_malformed_identity_document_is_refused_in_words(
    field: str, value: str, problem: str, cast: Cast, admin_client: Client
) -> None:
    answer = admin_client.post(
        reverse("admin:teams_agent_add"), agent_form(cast.team, **{field: value})
    )

    assert answer.status_code == 200
    assert problem in answer.content.decode()


def test_a_slug_that_the_team_has_is_refused_in_words(cast: Cast, admin_client: Client) -> None:
    new = admin_client.post(reverse("admin:teams_agent_add"), agent_form(cast.team, slug="kyra"))

    assert new.status_code == 200
    assert "The team already has an agent with this slug." in new.content.decode()


def test_two_teams_may_use_the_same_slug(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    client = sign_in((cast.team, "admin"), (others.team, "admin"))
    url = reverse("admin:teams_project_add")

    for team in (cast.team, others.team):
        answer = client.post(url, {"team": team.pk, "slug": "web", "name": "Web"})
        assert answer.status_code == 302

    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        assert Project.objects.filter(slug="web").count() == 2


def test_a_superuser_creates_a_team(db: None, root_client: Client) -> None:
    answer = root_client.post(
        reverse("admin:teams_team_add"), {"name": "Initech", "slug": "initech"}
    )

    team_id = team_id_of_slug("initech")
    assert answer.status_code == 302
    assert team_id is not None
    page = root_client.get(reverse("admin:teams_team_change", args=[team_id]))
    assert "Initech" in page.content.decode()


def test_a_taken_team_slug_is_refused_in_words(cast: Cast, root_client: Client) -> None:
    answer = root_client.post(reverse("admin:teams_team_add"), {"name": "Other", "slug": "acme"})

    assert answer.status_code == 200
    assert "team with this slug" in answer.content.decode()


def test_an_admin_renames_the_team_but_not_its_slug(cast: Cast, admin_client: Client) -> None:
    url = reverse("admin:teams_team_change", args=[cast.team.pk])

    admin_client.post(url, {"name": "Acme Inc", "slug": "other"})

    with team_scope(team_ids=[cast.team.id], actor="test"):
        team = Team.objects.get(pk=cast.team.pk)
    assert (team.name, team.slug) == ("Acme Inc", "acme")


def test_an_admin_makes_changes_and_removes_a_member(cast: Cast, admin_client: Client) -> None:
    data = {"team": cast.team.pk, "username": "nora", "role": "viewer"}

    added = admin_client.post(reverse("admin:teams_membership_add"), data)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        member = Membership.objects.get(user__username="nora")
    again = admin_client.post(reverse("admin:teams_membership_add"), data)
    changed = admin_client.post(
        reverse("admin:teams_membership_change", args=[member.pk]), {"role": "reviewer"}
    )
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Membership.objects.get(pk=member.pk).role == "reviewer"
    page = reverse("admin:teams_membership_change", args=[member.pk])
    removed = admin_client.post(page.replace("change/", "remove/"), {"confirmed": "yes"})

    assert (added.status_code, changed.status_code, removed.status_code) == (200, 302, 302)
    assert again.status_code == 200
    assert "already a member of the team" in again.content.decode()
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert not Membership.objects.filter(pk=member.pk).exists()


def test_the_admin_of_a_team_cannot_read_other_logins(cast: Cast, admin_client: Client) -> None:
    user = StaffUserFactory.create(username="secretive")

    assert admin_client.get(reverse("admin:teams_staffuser_changelist")).status_code == 403
    url = reverse("admin:teams_staffuser_change", args=[user.pk])
    assert admin_client.get(url).status_code == 403
    form = admin_client.get(reverse("admin:teams_membership_add")).content.decode()
    assert "secretive" not in form


def test_a_superuser_makes_a_login(db: None, root_client: Client) -> None:
    answer = root_client.post(
        reverse("admin:teams_staffuser_add"),
        {
            "username": "nora",
            "email": "nora@example.com",
            "is_staff": "on",
            "password1": "a-long-secret-4711",
            "password2": "a-long-secret-4711",
        },
    )

    user = StaffUser.objects.get(username="nora")
    page = root_client.get(reverse("admin:teams_staffuser_change", args=[user.pk]))
    assert answer.status_code == 302
    assert user.is_staff
    assert user.check_password("a-long-secret-4711")
    assert page.status_code == 200
    algorithm, iterations, *_ = user.password.split("$")
    assert algorithm not in page.content.decode()
    assert f"iterations</strong>: {iterations}" not in page.content.decode()


def test_an_approved_profile_is_not_written_here(cast: Cast, admin_client: Client) -> None:
    url = reverse("admin:teams_enduser_change", args=[cast.sarah.pk])

    answer = admin_client.post(url, {"display_name": "Sarah C.", "profile": '{"city": "Oslo"}'})

    with team_scope(team_ids=[cast.team.id], actor="test"):
        sarah = EndUser.objects.get(pk=cast.sarah.pk)
    assert answer.status_code == 302
    assert (sarah.display_name, sarah.profile) == ("Sarah C.", {})


def test_known_time_zones_people_and_models_are_suggested(
    inside: Cast, admin_client: Client
) -> None:
    make_model(make_provider(inside), "fast", name="house/small-1")

    team = admin_client.get(reverse("admin:teams_team_change", args=[inside.team.pk]))
    agent = admin_client.get(reverse("admin:teams_agent_change", args=[inside.kyra.pk]))

    assert '<option value="Europe/Oslo">' in team.content.decode()
    assert '<option value="house/small-1">' in agent.content.decode()
    assert '<option value="sarah">' in agent.content.decode()
