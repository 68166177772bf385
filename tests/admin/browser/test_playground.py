"""The retrieval playground in a real browser: move a weight, see the order change, save it."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.understanding.tools import default_tools
from teams.models import Agent
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.browser import log_in
from tests.support.cast import Cast, make_cast
from tests.support.writing import store


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team with an admin and two memories: one that answers, one that matters."""
    cast = make_cast(f"playground-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"ann-{cast.team.slug}"), cast.team, "admin")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for text, importance in (("The office is in Lisbon.", 1), ("Fires go to Ida.", 10)):
            now = timezone.now()
            store(cast, default_tools(), text, importance=importance, created_at=now)
    return cast


def test_a_moved_weight_reorders_the_answer_and_is_saved(
    cast: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"ann-{cast.team.slug}")
    page.locator("#nav-sidebar-apps").get_by_text("Retrieval playground", exact=True).click()
    page.get_by_label("Agent", exact=True).select_option(label="kyra")
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Minimum relevance").fill("0")
    page.get_by_label("Question").fill("Where is the office?")
    page.get_by_role("button", name="Ask").click()
    first = page.locator(".playground-line").first
    expect(first).to_contain_text("The office is in Lisbon.")

    page.evaluate("window.isSamePage = true")
    slider = page.get_by_label("Semantic, as a slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(first).to_contain_text("Fires go to Ida.")
    assert page.evaluate("window.isSamePage")

    page.get_by_role("button", name="Save weights to the agent").click()
    expect(page.get_by_text("Weights saved to")).to_be_visible()
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Agent.objects.get(pk=cast.kyra.pk).retrieval_weights["semantic"] == 0

    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.getElementById('main').scrollWidth") <= width


def test_it_works_without_its_scripts(cast: Cast, server: LiveServer, page: Page) -> None:
    for script in ("playground", "sliders"):
        page.route(f"**/{script}.js", lambda route: route.abort())
    log_in(page, server, f"ann-{cast.team.slug}")
    page.goto(f"{server.url}{reverse('memory_playground')}")
    page.get_by_label("Question").fill("Where is the office?")
    page.get_by_label("Semantic", exact=True).fill("0")
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Minimum relevance").fill("0")
    page.get_by_role("button", name="Ask").click()

    expect(page.locator(".playground-line").first).to_contain_text("Fires go to Ida.")
