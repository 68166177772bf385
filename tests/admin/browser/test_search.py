"""The search that Ctrl-K opens, by keyboard alone."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from teams.models import EndUser
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.browser import axe_findings, log_in
from tests.support.cast import Cast, make_cast


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team with Sarah; Vera may look."""
    cast = make_cast(f"search-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=cast.team.slug), cast.team, "viewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        EndUser.objects.filter(pk=cast.sarah.pk).update(display_name="Sarah Lindqvist")
    return cast


def test_ctrl_k_finds_a_person_and_enter_opens_the_page(
    cast: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, cast.team.slug)
    page.keyboard.press("Control+k")
    field = page.get_by_role("searchbox", name="Search memories")
    expect(field).to_be_focused()
    page.keyboard.type("sarah")
    expect(page.locator("#command-results mark")).to_have_text("Sarah")
    assert axe_findings(page) == []
    page.keyboard.press("Enter")

    page.wait_for_url(f"**{reverse('about', args=['person', cast.sarah.pk])}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sarah Lindqvist")


def test_escape_closes_it_and_nothing_found_is_said(
    cast: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, cast.team.slug)
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_role("searchbox", name="Search memories")).to_be_focused()
    page.keyboard.type("zzzz")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")

    expect(page.get_by_role("searchbox", name="Search memories")).to_be_hidden()
