"""An agent edited by its form in a real browser: rows, sliders, the preview, and what is saved."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from teams.models import Agent
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.browser import log_in
from tests.support.cast import Cast, make_cast


@pytest.fixture
def team(committed_db: None) -> Cast:
    """A team with an admin, committed."""
    cast = make_cast(f"browser-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"ann-{cast.team.slug}"), cast.team, "admin")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(personality={"traits": ["Curious", "Loud"]})
    return cast


def test_an_admin_edits_an_agent_and_sees_its_prompt_change(
    team: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"ann-{team.team.slug}")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{server.url}{reverse('admin:teams_agent_change', args=[team.kyra.pk])}")
    prompt = page.get_by_role("region", name="The prompt", exact=True)
    expect(prompt).to_contain_text("- Loud")

    page.get_by_role("tab", name="Personality").click()
    page.get_by_label("Traits, Traits, row 1").press("Enter")
    page.keyboard.type("Patient")
    page.get_by_label("Remove this row of Traits").nth(1).click()
    expect(prompt).to_contain_text("- Patient")
    expect(prompt).not_to_contain_text("- Loud")
    expect(prompt).to_be_in_viewport()

    page.get_by_role("tab", name="Weights").click()
    page.get_by_label("Relation, as a slider").fill("0.55")
    number = page.get_by_label("Relation", exact=True)
    expect(number).to_have_value("0.55")
    expect(page.locator(".slider").last.get_by_role("status")).to_have_text("37 %")

    page.get_by_role("tab", name="Weights").press("ArrowRight")
    page.get_by_role("tab", name="Task packages").press("ArrowRight")
    expect(page.get_by_label("Document", exact=True)).to_be_visible()
    expect(number).to_be_hidden()
    page.get_by_label("Reason").fill("a test")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.getElementById('main').scrollWidth") <= 390
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("was saved")).to_be_visible()
    with team_scope(team_ids=[team.team.id], actor="test"):
        agent = Agent.objects.get(pk=team.kyra.pk)
    assert agent.personality == {"traits": ["Curious", "Patient"]}
    assert agent.retrieval_weights == {"relation": 0.55}
    assert agent.version == 3


def test_leaving_a_form_with_unsaved_changes_asks_first(
    team: Cast, server: LiveServer, page: Page
) -> None:
    url = f"{server.url}{reverse('admin:teams_agent_change', args=[team.kyra.pk])}"
    elsewhere = page.get_by_role("link", name="Projects")
    log_in(page, server, f"ann-{team.team.slug}")
    page.goto(url)
    name = page.get_by_label("Name", exact=True)

    name.fill("Kyra the Second")
    with page.expect_event("dialog") as asked:
        elsewhere.click()
    assert asked.value.type == "beforeunload"
    expect(page).to_have_url(url)
    expect(name).to_have_value("Kyra the Second")

    name.fill("Kyra")
    elsewhere.click()
    expect(page).to_have_url(f"{server.url}{reverse('admin:teams_project_changelist')}")


def test_a_form_is_sent_after_a_log_out_that_was_cancelled_for_unsaved_changes(
    team: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"ann-{team.team.slug}")
    page.goto(f"{server.url}{reverse('admin:teams_agent_change', args=[team.kyra.pk])}")
    page.get_by_label("Name", exact=True).fill("Kyra the Second")

    with page.expect_event("dialog"):
        page.locator("#logout-form").evaluate("form => form.requestSubmit()")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("was saved")).to_be_visible()


def test_enter_saves_and_the_first_error_is_shown_at_its_field(
    team: Cast, server: LiveServer, page: Page
) -> None:
    log_in(page, server, f"ann-{team.team.slug}")
    page.goto(f"{server.url}{reverse('admin:teams_agent_change', args=[team.kyra.pk])}")
    page.get_by_role("tab", name="Memory", exact=True).click()
    budget = page.get_by_label("Token budget")
    budget.fill("-5")
    page.get_by_role("tab", name="Identity").click()

    page.get_by_label("Name", exact=True).press("Enter")

    expect(page.get_by_role("tab", name="Memory 1 error")).to_have_attribute(
        "aria-selected", "true"
    )
    expect(budget).to_be_focused()
    expect(budget).to_be_in_viewport()
    with page.expect_event("dialog") as asked:
        page.get_by_role("link", name="Projects").click()
    assert asked.value.type == "beforeunload"
