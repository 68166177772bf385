"""A file imported in a real browser: refused at its field, sent, and followed until it is done."""

from __future__ import annotations

from uuid import uuid4

from django.urls import reverse
from playwright.sync_api import FilePayload, Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.satellites.transfer.models import ImportRun
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.browser import axe_findings, log_in
from tests.support.cast import make_cast


def test_an_admin_uploads_a_file_and_follows_it(
    committed_db: None, server: LiveServer, page: Page
) -> None:
    cast = make_cast(f"upload-{uuid4().hex[:8]}")
    join(StaffUserFactory.create(username=f"ann-{cast.team.slug}"), cast.team, "admin")
    log_in(page, server, f"ann-{cast.team.slug}")
    page.goto(f"{server.url}{reverse('admin:transfer_importrun_changelist')}")
    page.get_by_role("link", name="Import a file").first.click()
    expect(page.get_by_label("Person")).to_be_visible()
    assert axe_findings(page) == []

    def send(text: str) -> None:
        file = FilePayload(name="facts.jsonl", mimeType="text/plain", buffer=text.encode())
        page.locator("input[type=file]").set_input_files([file])
        page.get_by_role("button", name="Import").click()

    page.get_by_label("Person").fill("sarah")
    send('{"content": "Likes tea."}\n{"content": 5}\n')
    expect(page.get_by_text("line 2")).to_be_visible()
    expect(page.get_by_label("Person")).to_have_value("sarah")

    send('{"content": "Likes tea."}\n{"content": "Sails."}\n')
    expect(page.get_by_text("Queued: 0 of 2 items")).to_be_visible()
    assert axe_findings(page) == []
    with team_scope(team_ids=[cast.team.id], actor="test"):
        ImportRun.objects.update(done=2, new=2, state="done")
    expect(page.get_by_text("Done: 2 of 2 items, 2 new")).to_be_visible()
