"""The inbox in a real browser: cleared and undone by keys, merged, met by two reviewers."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.models import Contradiction, Memory
from memory.satellites.consent.models import ConsentRequest
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import dispute, join, page_of, states
from tests.support.browser import axe_findings, log_in
from tests.support.cast import make_cast
from tests.support.consent import asked_to_move, page_of_request

INBOX = reverse("inbox")


@pytest.fixture
def team(committed_db: None) -> Team:
    """A team with two reviewers, eight contradictions and two consent requests, all committed."""
    cast = make_cast(f"inbox-{uuid4().hex[:8]}")
    for name in ("rob", "ann"):
        join(StaffUserFactory.create(username=f"{name}-{cast.team.slug}"), cast.team, "reviewer")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for number in range(8):
            dispute(cast.team, f"Door {number} is in Oslo.", f"Door {number} is in Bergen.")
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


def place(page: Page, text: str) -> None:
    """Wait for the page of the queue that says so, and for its scripts."""
    expect(page.locator(".review-place")).to_contain_text(text)
    page.wait_for_load_state()


def test_all_that_waits_is_decided_by_keys_and_five_steps_are_undone(
    team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")
    page.locator("#nav-sidebar-apps").get_by_text("Inbox", exact=True).click()
    expect(page.locator(".inbox-list li")).to_have_count(10)
    page.wait_for_load_state()

    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Proposed city")).to_be_visible()
    place(page, "1 of 10")
    page.get_by_label("Note (optional").fill("asked her, a and b")
    page.get_by_label("Note (optional").press("Enter")
    place(page, "1 of 10")
    page.get_by_label("Note (optional").press("Escape")
    for left, key in zip(range(9, 5, -1), "abas", strict=True):
        page.keyboard.press(key)
        place(page, f"1 of {left}")
    place(page, "1 left for later")
    page.keyboard.press("m")
    expect(page.get_by_label("New text")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The doors are both: a and b.")
    page.keyboard.press("Control+Enter")
    place(page, "of 5")
    place(page, "5 steps")
    with team_scope(team_ids=[team.id], actor="test"):
        live = set(Memory.objects.live().values_list("content", flat=True))
        assert {"Sarah lives in Bergen.", "The doors are both: a and b."} <= live

    for left in range(6, 11):
        page.keyboard.press("u")
        place(page, f"of {left}")
        expect(page.get_by_text("Undone:")).to_be_visible()

    with team_scope(team_ids=[team.id], actor="test"):
        assert Contradiction.objects.filter(resolved_at=None, snoozed_until=None).count() == 8
        assert ConsentRequest.objects.filter(state="waiting").count() == 2
        live = set(Memory.objects.live().values_list("content", flat=True))
    assert {"Sarah lives in Oslo.", "Sarah is called Sally."} <= live
    assert "The doors are both: a and b." not in live

    for left, key in zip(range(9, 0, -1), "abvabvabv", strict=True):
        page.keyboard.press(key if page.locator(f"[data-key={key}]").count() else "a")
        place(page, f"of {left}")
    page.keyboard.press("a")
    expect(page).to_have_url(re.compile(f"{re.escape(INBOX)}$"))
    expect(page.get_by_text("Nothing is waiting for a decision.")).to_be_visible()


def test_of_two_reviewers_at_once_the_second_is_told_where_it_stands(
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
    expect(other.get_by_text(f"rob-{team.slug} has this open")).to_be_visible()

    page.keyboard.press("b")
    place(page, "of 9")
    other.get_by_label("Note (optional").fill("a note with b and v in it")
    other.get_by_role("button", name="Keep A").click()

    expect(other.get_by_text("Nothing was changed: “Door")).to_be_visible()
    expect(other.get_by_text("It is already settled").last).to_be_visible()
    note = other.get_by_label("Note (optional")
    expect(note).to_have_value("a note with b and v in it")
    expect(other.get_by_role("button", name="Keep A")).to_have_count(0)
    expect(other).to_have_url(re.compile(re.escape(page_of(pair))))
    with team_scope(team_ids=[team.id], actor="test"):
        assert states(pair) == ["superseded", "active"]


def test_several_are_decided_after_a_preview_and_come_back_together(
    team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")
    page.goto(f"{server.url}{INBOX}?kind=contradiction")
    for box in page.locator(".inbox-list input").all()[:3]:
        box.check()
    page.get_by_role("button", name="Keep B").click()
    expect(page.get_by_text("Keep B (3 items)?")).to_be_visible()
    page.get_by_role("button", name="Keep B").click()
    expect(page.get_by_text("3 items decided.")).to_be_visible()
    expect(page.locator(".inbox-list li")).to_have_count(5)
    page.wait_for_load_state()

    page.keyboard.press("u")

    expect(page.locator(".inbox-list li")).to_have_count(8)


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (390, True)])
def test_the_pages_of_the_inbox_have_no_findings(
    width: int, is_dark: bool, team: Team, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"rob-{team.slug}")
    page.set_viewport_size({"width": width, "height": 900})
    with team_scope(team_ids=[team.id], actor="test"):
        pair, request = Contradiction.objects.first(), ConsentRequest.objects.first()
    assert pair is not None
    assert request is not None
    page.goto(f"{server.url}{page_of(pair)}")
    page.keyboard.press("s")
    place(page, "1 left for later")
    found = {}
    for url in (INBOX, f"{INBOX}?later=1", page_of(pair), page_of_request(request)):
        page.goto(f"{server.url}{url}")
        page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", is_dark)
        found[url] = axe_findings(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, url
    assert {url: said for url, said in found.items() if said} == {}
