"""Consent in a real browser: one yes, one no, and what the profile says after each."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.models import Memory
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import join
from tests.support.browser import log_in
from tests.support.cast import make_cast
from tests.support.consent import asked_to_move


@pytest.fixture
def team(committed_db: None) -> Team:
    """A team with a reviewer and two changes of Sarah's profile that wait."""
    cast = make_cast(f"consent-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"rob-{cast.team.slug}"), cast.team, "reviewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for field, now, new, days in (
            ("city", "Sarah lives in Oslo.", "Sarah lives in Bergen.", 2),
            ("preferred_name", "Sarah is called Sally.", "Sarah is called Sarita.", 1),
        ):
            memory = MemoryFactory.create(
                team=cast.team,
                end_user=cast.sarah,
                memory_type="user_profile",
                subject=f"user.profile.{field}",
                content=now,
            )
            asked_to_move(memory, new, days=days)
    return cast.team


def test_a_reviewer_says_yes_and_no(team: Team, server: LiveServer, page: Page) -> None:
    log_in(page, server, f"rob-{team.slug}")
    page.locator("#nav-sidebar-apps").get_by_text("Consent requests", exact=True).click()
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("link").first.click()

    expect(page.get_by_role("heading", name="Proposed city")).to_be_visible()
    page.get_by_label("Note (optional)").fill("asked her")
    page.locator("[data-key=y]").click()
    expect(page.get_by_text("Approved:")).to_be_visible()
    expect(page.get_by_role("heading", name="Proposed preferred name")).to_be_visible()
    page.keyboard.press("x")

    expect(page.get_by_text("No requests are waiting.", exact=False)).to_be_visible()
    with team_scope(team_ids=[team.id], actor="test"):
        live = set(Memory.objects.live().values_list("content", flat=True))
    assert live == {"Sarah lives in Bergen.", "Sarah is called Sally."}
