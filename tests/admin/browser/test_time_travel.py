"""The slider of the page Time travel in a real browser."""

from __future__ import annotations

import time
from datetime import datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from audit.models import LogCommit
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import join
from tests.support.browser import log_in
from tests.support.cast import make_cast


@pytest.fixture
def team(committed_db: None) -> Team:
    """A team whose memory changed twice, some seconds apart; its days are those of Oslo."""
    team = make_cast(f"travel-{uuid4().hex[:8]}").team
    with team_scope(team_ids=[team.id], actor="test"):
        Team.objects.filter(pk=team.pk).update(time_zone="Europe/Oslo")
    join(StaffUserFactory.create(username=f"vera-{team.slug}"), team, "viewer")
    for text in ("The cat is Miso.", "The dog is Rex."):
        with team_scope(team_ids=[team.id], actor="test"):
            MemoryFactory.create(team=team, content=text)
        time.sleep(3)
    return team


def test_the_slider_goes_back_to_before_a_memory_was_stored(
    team: Team, server: LiveServer, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, server, f"vera-{team.slug}")
    page.goto(f"{server.url}{reverse('time_travel')}?text=is")
    slider = page.get_by_role("slider", name="Moment")
    past = page.locator("#past")
    expect(past).to_contain_text("The dog is Rex.")
    expect(past).to_contain_text("The cat is Miso.")

    slider.focus()
    moment = page.get_by_label("Moment", exact=True).and_(page.locator("#id_at"))
    with team_scope(team_ids=[team.id], actor="test"):
        stored_at = LogCommit.objects.order_by("-position").values_list("at", flat=True)[0]
    assert stored_at is not None
    slider.evaluate(
        "(each, value) => { each.step = 1; each.value = value;"
        " each.dispatchEvent(new Event('input', { bubbles: true })); }",
        int(stored_at.timestamp()),
    )
    expect(past).not_to_contain_text("The dog is Rex.")
    expect(past).to_contain_text("The cat is Miso.")
    there = stored_at.astimezone(ZoneInfo("Europe/Oslo"))
    # The browser leaves out seconds that are 0.
    assert datetime.fromisoformat(moment.input_value()) == there.replace(microsecond=0, tzinfo=None)
    assert "text=is" in page.url
    assert "at=" in page.url

    slider.press("End")
    expect(past).to_contain_text("The dog is Rex.")
    slider.press("Home")
    expect(past).not_to_contain_text("The cat is Miso.")
    page.get_by_role("link", name="Changed since").click()
    expect(page.get_by_text("2 added")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
