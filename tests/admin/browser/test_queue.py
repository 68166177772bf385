"""The contradiction queue in a real browser: cleared by keys, taken back, merged, met by two."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.models import Contradiction, Memory
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import dispute, join, page_of, states
from tests.support.browser import log_in
from tests.support.cast import make_cast

LIST = reverse("admin:memory_contradiction_changelist")


@pytest.fixture
def team(committed_db: None) -> Team:
    """A team with two reviewers and ten open contradictions, all committed."""
    cast = make_cast(f"queue-{uuid4().hex[:8]}")
    for name in ("rob", "ann"):
        join(StaffUserFactory.create(username=f"{name}-{cast.team.slug}"), cast.team, "reviewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for number in range(10):
            dispute(cast.team, f"Door {number} is in Oslo.", f"Door {number} is in Bergen.")
    return cast.team


def place(page: Page, text: str) -> None:
    """Wait for the page of the queue that says so."""
    expect(page.locator(".review-place")).to_contain_text(text)


def test_a_queue_of_ten_is_cleared_by_keys_alone(
    team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")
    page.goto(f"{server.url}{LIST}")

    page.keyboard.press("r")
    place(page, "1 of 10")
    page.keyboard.press("a")
    place(page, "1 of 9")
    expect(page.get_by_text("is kept and replaces")).to_be_visible()

    page.keyboard.press("u")
    place(page, "1 of 10")
    expect(page.get_by_text("is open again.")).to_be_visible()
    with team_scope(team_ids=[team.id], actor="test"):
        assert Contradiction.objects.filter(resolved_at=None).count() == 10

    page.keyboard.press("n")
    place(page, "2 of 10")
    page.keyboard.press("m")
    expect(page.get_by_label("New text")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The doors are both: a and b.")
    page.keyboard.press("Control+Enter")
    place(page, "2 of 9")

    for left, key in zip(range(8, 0, -1), "abvswabv", strict=True):
        page.keyboard.press(key)
        place(page, f"of {left}")
    page.keyboard.press("a")

    expect(page).to_have_url(re.compile(f"{re.escape(LIST)}$"))
    expect(page.get_by_text("No open contradictions.")).to_be_visible()
    with team_scope(team_ids=[team.id], actor="test"):
        waiting = Contradiction.objects.filter(resolved_at=None)
        assert waiting.filter(snoozed_until__isnull=False).count() == waiting.count() == 2
        assert Memory.objects.live().filter(content="The doors are both: a and b.").exists()

    page.keyboard.press("u")
    place(page, "1 of 1")


def test_of_two_reviewers_at_once_the_second_is_told_and_changes_nothing(
    team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")
    with team_scope(team_ids=[team.id], actor="test"):
        pair = Contradiction.objects.order_by("detected_at")[0]
    browser = page.context.browser
    assert browser is not None
    other = browser.new_page()
    log_in(other, server, f"ann-{team.slug}")
    for each in (page, other):
        each.goto(f"{server.url}{page_of(pair)}")
        place(each, "of 10")

    page.keyboard.press("b")
    place(page, "of 9")
    other.get_by_label("Note (optional").fill("a note with b and v in it")
    expect(other.locator(".review-place")).to_contain_text("of 10")
    other.get_by_role("button", name="Keep A").click()

    expect(other.get_by_text("Nothing was changed. It is already settled")).to_be_visible()
    expect(other.get_by_text("a note with b and v in it")).to_be_visible()
    with team_scope(team_ids=[team.id], actor="test"):
        assert states(pair) == ["superseded", "active"]
