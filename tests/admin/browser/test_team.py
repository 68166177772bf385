"""Teams in a real browser: a colleague is invited, and a page of another team is opened."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import join
from tests.support.browser import axe_findings, log_in
from tests.support.cast import Cast, make_cast

PASSWORD = "a long passphrase"


@pytest.fixture
def team(committed_db: None) -> Cast:
    """A team with Ann, its admin, committed."""
    cast = make_cast(f"team-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"ann-{cast.team.slug}"), cast.team, "admin")
    return cast


def test_a_colleague_is_invited_and_logs_in(team: Cast, server: LiveServer, page: Page) -> None:
    log_in(page, server, f"ann-{team.team.slug}")
    page.goto(f"{server.url}{reverse('admin:teams_membership_changelist')}")
    page.get_by_role("link", name="Invite a colleague").first.click()
    page.get_by_label("Username").fill(f"nora-{team.team.slug}")
    page.get_by_label("Role").select_option("reviewer")
    page.get_by_role("button", name="Save", exact=True).click()
    link = page.get_by_label("Link")
    expect(link).to_have_value(re.compile("/admin/invitation/"))
    assert axe_findings(page) == []
    invitation = link.input_value()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("invited", exact=True)).to_be_visible()
    assert axe_findings(page) == []

    page.context.clear_cookies()
    page.goto(invitation)
    assert axe_findings(page) == []
    page.locator("[name=new_password1]").fill(PASSWORD)
    page.locator("[name=new_password2]").fill(PASSWORD)
    page.get_by_role("button", name="Save password").click()
    page.get_by_label("Username").fill(f"nora-{team.team.slug}")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_of_another_team_is_opened_with_one_button(
    width: int, team: Cast, server: LiveServer, page: Page
) -> None:
    other = make_cast(f"team-{uuid4().hex[:8]}")
    both = StaffUserFactory.create(username=f"bo-{team.team.slug}")
    for each in (team, other):
        join(both, each.team, "viewer")
    with team_scope(team_ids=[other.team.id], actor="test"):
        memory = MemoryFactory.create(team=other.team, content="The office is in Oslo.")
    page.set_viewport_size({"width": width, "height": 900})
    log_in(page, server, both.username)
    page.goto(f"{server.url}{reverse('choose_team')}")
    page.get_by_role("button", name=team.team.name).click()

    page.goto(f"{server.url}{reverse('admin:memory_memory_change', args=[memory.pk])}")
    assert axe_findings(page) == []
    page.get_by_role("button", name=f"Switch to {other.team.name} and open it").click()

    expect(page.locator("main").get_by_text("The office is in Oslo.").first).to_be_visible()
    assert axe_findings(page) == []
