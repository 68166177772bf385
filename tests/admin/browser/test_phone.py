"""The admin on a phone: nothing scrolls sideways, and the main buttons are in view."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.models import Contradiction
from teams.models import Agent
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import dispute, join, page_of
from tests.support.browser import log_in
from tests.support.cast import make_cast

WIDTH, HEIGHT = 390, 844
# What stands beyond the right edge, and whether the page itself is wider than the window.
_BEYOND = """() => {
    const width = document.documentElement.clientWidth;
    const beyond = [...document.querySelectorAll("main *")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width > 1 && box.right > width + 1;
    });
    const names = beyond.map((each) => `${each.tagName}.${each.className}`);
    return document.documentElement.scrollWidth > width ? ["the page", ...names] : names;
}"""


@pytest.fixture
def pair(committed_db: None) -> Contradiction:
    """A contradiction of long texts with a word as long as an address; Rob reviews it."""
    cast = make_cast(f"phone-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=cast.team.slug), cast.team, "reviewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        long = f"https://example.org/{'x' * 80} " + "and so it goes on " * 12
        MemoryFactory.create(team=cast.team, agent=cast.kyra, content=f"{long}.")
        return dispute(cast.team, f"{long} in Oslo.", f"{long} in Bergen.")


def test_nothing_scrolls_sideways_and_the_buttons_are_in_view(
    pair: Contradiction, server: LiveServer, page: Page
) -> None:
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    log_in(page, server, pair.team.slug)
    with team_scope(team_ids=[pair.team_id], actor="test"):
        kyra = Agent.objects.get(slug="kyra")
    queue = reverse("inbox")
    memory = reverse("admin:memory_memory_change", args=[pair.memory_a_id])
    beyond = {}
    for url, button in (
        (reverse("admin:index"), "Contradictions"),
        (queue, "Review from the top"),
        (page_of(pair), "Keep A"),
        (reverse("admin:memory_memory_changelist"), "Filters"),
        (memory, "Pin"),
        (reverse("about", args=["agent", kyra.pk]), "Settings"),
        (reverse("admin:audit_memorylog_changelist"), "Filters"),
    ):
        page.goto(f"{server.url}{url}")
        page.wait_for_load_state("networkidle")
        main = page.locator("main").get_by_text(button).first
        main.scroll_into_view_if_needed()
        expect(main).to_be_in_viewport(ratio=1)
        beyond[url] = page.evaluate(_BEYOND)

    assert {url: found for url, found in beyond.items() if found} == {}
