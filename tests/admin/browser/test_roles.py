"""Roles of people and projects of keys, set in a real browser."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from teams.models import ApiKey, EndUser, Project, Team
from teams.tenancy import team_scope
from tests.factories import ProjectFactory, StaffUserFactory
from tests.support.admin import join
from tests.support.browser import log_in
from tests.support.cast import Cast, make_cast


@pytest.fixture
def team(committed_db: None) -> Cast:
    """A team with an admin and a project, committed."""
    cast = make_cast(f"browser-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"ann-{cast.team.slug}"), cast.team, "admin")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        ProjectFactory.create(team=cast.team, slug="harbour")
    return cast


def test_an_admin_sets_roles_and_the_projects_of_a_key(
    team: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"ann-{team.team.slug}")

    page.goto(f"{server.url}{reverse('admin:teams_enduser_change', args=[team.sarah.pk])}")
    page.get_by_label("Role", exact=True).select_option(label="member")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was saved")).to_be_visible()

    page.goto(f"{server.url}{reverse('admin:teams_team_change', args=[team.team.pk])}")
    page.get_by_role("tab", name="Privacy").click()
    page.get_by_label("Role of new people").select_option(label="member")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was saved")).to_be_visible()

    page.goto(f"{server.url}{reverse('admin:teams_apikey_add')}")
    page.get_by_label("Name", exact=True).fill("the harbour's program")
    page.get_by_label("harbour", exact=True).check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("shown only once")).to_be_visible()

    with team_scope(team_ids=[team.team.id], actor="test"):
        assert EndUser.objects.get(pk=team.sarah.pk).role == "member"
        assert Team.objects.get(pk=team.team.pk).person_role == "member"
        key = ApiKey.objects.get(team=team.team, name="the harbour's program")
        assert key.project_ids == [Project.objects.get(team=team.team, slug="harbour").pk]
        pk = key.pk
    page.goto(f"{server.url}{reverse('admin:teams_apikey_change', args=[pk])}")
    expect(page.get_by_text("harbour", exact=True)).to_be_visible()
