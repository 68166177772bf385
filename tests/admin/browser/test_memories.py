"""The admin in a real browser: find a memory, pin it, and see that the log knows."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.models import MemoryRelation
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import dispute, join, page_of
from tests.support.browser import WIDTH, log_in
from tests.support.cast import make_cast


@pytest.fixture
def team(committed_db: None) -> Team:
    """A team with a reviewer and two memories, one of them hostile, all committed."""
    cast = make_cast(f"browser-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"rob-{cast.team.slug}"), cast.team, "reviewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        MemoryFactory.create(
            team=cast.team,
            content="Sarah lives in Lisbon.",
            subject="user.city",
            memory_type="user_profile",
            end_user=cast.sarah,
        )
        MemoryFactory.create(
            team=cast.team, content="<script>alert('stored')</script> was forwarded."
        )
    return cast.team


def test_a_reviewer_finds_pins_and_checks_a_memory(
    team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")

    page.locator("#nav-sidebar-apps").get_by_text("Memories", exact=True).click()
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_text("<script>alert('stored')</script>")).to_be_visible()

    page.get_by_text("Filters", exact=False).first.click()
    page.locator("select[name=memory_type__exact]").select_option("user_profile", force=True)
    page.get_by_role("button", name="Apply Filters").click()
    expect(rows).to_have_count(1)

    page.get_by_role("link", name="Sarah lives in Lisbon.").click()
    expect(page.get_by_text("History, newest first")).to_be_visible()
    expect(page.locator("#history li")).to_have_count(1)

    page.get_by_label("Note (optional, stored in the history)").fill("asked for daily")
    page.get_by_role("button", name="Pin").click()

    expect(page.get_by_text("1 memory pinned.")).to_be_visible()
    expect(page.locator("#history li")).to_have_count(2)
    newest = page.locator("#history li").first
    expect(newest).to_contain_text(f"Pinned by rob-{team.slug} (staff): asked for daily")
    expect(newest).to_contain_text("tier warm to hot")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_list_and_page_of_memories_fit_a_laptop_and_a_phone(
    width: int, team: Team, server: LiveServer, page: Page
) -> None:
    with team_scope(team_ids=[team.id], actor="test"):
        memory = MemoryFactory.create(team=team, content=f"Long {'word ' * 80}{'Z' * 300}")
        MemoryRelation.objects.create(
            team=team,
            from_memory=memory,
            to_memory=MemoryFactory.create(team=team, content="Near it."),
            strength=0.9,
        )
    log_in(page, server, f"rob-{team.slug}")
    page.set_viewport_size({"width": width, "height": 900})

    page.goto(f"{server.url}{reverse('admin:memory_memory_changelist')}")
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(4)
    heights = [row.bounding_box() or {"height": 0.0} for row in rows.all()]
    table = page.locator("#result_list").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert max(box["height"] for box in heights) <= 200
    assert table[0] <= table[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.goto(f"{server.url}{reverse('admin:memory_memory_change', args=[memory.pk])}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#relations a", has_text="Near it.").click()
    expect(page.locator(".pal-content")).to_have_text("Near it.")


def test_a_word_without_blanks_makes_no_page_wider(
    team: Team, server: LiveServer, page: Page
) -> None:
    with team_scope(team_ids=[team.id], actor="test"):
        pair = dispute(team, f"The code is blue {'Z' * 700}", f"The code is green {'Y' * 700}")
    log_in(page, server, f"rob-{team.slug}")
    widths: list[int] = []

    def look() -> None:
        # Neither the window nor the part of it that would scroll alone.
        widths.append(page.evaluate("document.documentElement.scrollWidth"))
        widths.append(page.evaluate("document.getElementById('main').scrollWidth"))

    page.goto(f"{server.url}{page_of(pair)}")
    look()
    page.keyboard.press("m")
    page.get_by_label("New text").fill("x" * 2000)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/inbox/")
    look()
    page.goto(f"{server.url}{page_of(pair)}")
    expect(page.get_by_text("Replacement of both")).to_be_visible()
    look()
    page.goto(f"{server.url}{reverse('admin:memory_contradiction_changelist')}")
    expect(page.get_by_text("merged", exact=True)).to_be_in_viewport()
    look()

    assert max(widths) <= WIDTH
