"""A login of another team in a real browser: nothing of the first team in any page's source."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import dispute, join, page_of
from tests.support.browser import log_in
from tests.support.cast import make_cast


@pytest.fixture
def secret(committed_db: None) -> tuple[str, list[str]]:
    """A word of a team's only contradiction, and the addresses of its rows."""
    word = f"secret{uuid4().hex[:8]}"
    cast = make_cast(word)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        pair = dispute(cast.team, f"The {word} is in Oslo.", f"The {word} is in Bergen.")
    return word, [
        page_of(pair),
        reverse("admin:memory_memory_change", args=[pair.memory_a_id]),
        reverse("admin:teams_agent_change", args=[cast.kyra.pk]),
        f"{reverse('time_travel')}?team={cast.team.pk}",
    ]


def test_a_stranger_sees_nothing_of_the_team(
    secret: tuple[str, list[str]], server: LiveServer, page: Page
) -> None:
    word, of_rows = secret
    globex = make_cast(f"globex-{uuid4().hex[:8]}").team
    join(StaffUserFactory.create(username=globex.slug), globex, "admin")
    log_in(page, server, globex.slug)
    pages = [
        reverse("admin:index"),
        reverse("inbox"),
        f"{reverse('admin:memory_contradiction_changelist')}?state=all",
        reverse("admin:memory_memory_changelist"),
        f"{reverse('admin:memory_memory_changelist')}?q=Oslo",
        reverse("admin:consent_consentrequest_changelist"),
        reverse("memory_playground"),
        reverse("time_travel"),
    ]

    seen = {}
    for url in (*pages, *of_rows):
        page.goto(f"{server.url}{url}")
        page.wait_for_load_state("networkidle")
        # What the address itself says is the stranger's own.
        seen[url] = page.content().count(word)

    assert {url: count for url, count in seen.items() if count} == {}
