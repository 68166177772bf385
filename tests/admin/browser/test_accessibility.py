"""Every page of the admin under axe-core: in a wide light window or a narrow dark one.

The pages are found in the addresses of the admin itself, so a new one is looked at without a word
here: what needs no argument as it is, and what is about a row with the newest row there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from uuid import uuid4

import pytest
from django.contrib import admin
from django.db.models import Model
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from memory.admin.items import KINDS, item_url
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Source
from memory.satellites.demo.services import load_demo
from memory.understanding.tools import default_tools
from memory.writing.stating import StatedMemory, remember
from teams.models import Agent, EndUser, Project, Team
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory, make_team
from tests.support.admin import join
from tests.support.browser import axe_findings, log_in
from tests.support.examples import few_of

# Answers for scripts and files, what only takes a POST, and what ends the login.
_NO_PAGES = {"jsi18n", "autocomplete", "preview", "logout", "view_on_site"}
SIZES = [(1280, "light"), (390, "dark")]


@pytest.fixture
def team(committed_db: None) -> Team:
    """The demo's story with an unconfirmed memory, a superuser who is its admin, and a key."""
    team = make_team(slug=f"axe-{uuid4().hex[:8]}")
    load_demo(team_id=team.pk, tools=default_tools(), actor="test", now=timezone.now())
    remember(
        viewer=Viewer(team_id=team.pk, actor="test"),
        stated=[
            StatedMemory(
                content="The library's page says that its API ends in June.",
                memory_type=MemoryType.SEMANTIC,
                source=Source.WEB,
            )
        ],
        tools=default_tools(),
        now=timezone.now(),
    )
    join(StaffUserFactory.create(username=team.slug, is_superuser=True), team, "admin")
    with team_scope(team_ids=[team.pk], actor="test"):
        issue_key(team_id=team.pk)
    return team


def pages(team: Team) -> Iterator[str]:
    """The addresses of all pages, with the newest row where one is about a row."""
    yield from (reverse("admin:index"), reverse("admin:password_change"))
    yield reverse("admin:app_list", args=["memory"])
    for pattern in get_resolver().url_patterns:
        # The admin's own are below, by model.
        if str(pattern.pattern).startswith("admin/") and str(pattern.pattern) != "admin/":
            yield from _addresses("/", pattern, None)
    with team_scope(team_ids=[team.pk], actor="test"):
        kinds: dict[str, type[Model]] = {"person": EndUser, "agent": Agent, "project": Project}
        for kind, about in kinds.items():
            if first := about._default_manager.first():
                yield reverse("about", args=[kind, first.pk])
        for name, waiting in KINDS.items():
            yield item_url(name, waiting.rows().values_list("pk", flat=True)[0])
        yield reverse("erase_person", args=[EndUser.objects.values_list("pk", flat=True)[0]])
    for model, model_admin in admin.site._registry.items():
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        with team_scope(team_ids=[team.pk], actor="test"):
            row = model._default_manager.order_by("-pk").values_list("pk", flat=True).first()
        for pattern in model_admin.get_urls():
            yield from _addresses(base, pattern, row)


def _addresses(base: str, pattern: URLPattern | URLResolver, row: object) -> Iterator[str]:
    if isinstance(pattern, URLResolver):
        for inner in pattern.url_patterns:
            yield from _addresses(f"{base}{pattern.pattern}", inner, row)
        return
    path = str(pattern.pattern)
    arguments = set(pattern.pattern.converters)
    if arguments - {"object_id"} or any(word in path for word in _NO_PAGES):
        return
    # Without the redirect that Django keeps for addresses of old.
    if path == "<path:object_id>/" or (arguments and row is None):
        return
    yield base + path.replace("<path:object_id>", str(row)).replace("<str:object_id>", str(row))


def findings(page: Page, number: int = 0) -> dict[str, object]:
    """Returns the findings of axe on the open page: in the windows by turns, at night in both."""
    found: dict[str, object] = {}
    for width, scheme in few_of(SIZES if number % 2 else SIZES[::-1], every=2):
        page.set_viewport_size({"width": width, "height": 900})
        # What a page that is loaded under this scheme does by itself.
        page.evaluate(
            "dark => document.documentElement.classList.toggle('dark', dark)", scheme == "dark"
        )
        if said := axe_findings(page):
            found[scheme] = said
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_follows_the_scheme_of_the_system(
    scheme: Literal["light", "dark"], committed_db: None, server: LiveServer, page: Page
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{server.url}/admin/login/")

    is_dark = page.evaluate("document.documentElement.classList.contains('dark')")
    assert is_dark == (scheme == "dark")


def test_no_page_has_findings(team: Team, server: LiveServer, page: Page) -> None:
    page.goto(f"{server.url}/admin/login/")
    found = {"login": findings(page)}
    log_in(page, server, team.slug)
    looked_at = 0
    for address in dict.fromkeys(pages(team)):
        answer = page.goto(f"{server.url}{address}")
        assert answer is not None
        assert answer.status < 500, address
        # A button that is of no use to this row leads back, or is refused.
        if answer.status != 200 or page.url != f"{server.url}{address}":
            continue
        looked_at += 1
        found[address] = findings(page, looked_at)
    assert looked_at > 40
    assert {address: said for address, said in found.items() if said} == {}
