"""A person lets an MCP client in, in a real browser."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from memory.satellites.oauth.grants import register_client
from memory.satellites.oauth.tests.signing_in import CHALLENGE, parameters_of
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.browser import axe_findings, log_in
from tests.support.cast import make_cast


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_barriers_and_leads_back_to_the_client(
    page: Page, server: LiveServer, committed_db: None, scheme: str
) -> None:
    cast = make_cast(f"consent-{uuid4().hex[:8]}")
    user = StaffUserFactory.create(username=cast.team.slug)
    join(user, cast.team, "admin")
    # Another origin than that of the page, which its policy must let the answer go to.
    redirect = f"{server.url.replace('localhost', '127.0.0.1')}/healthz"
    client = register_client(name="Chat", redirect_uris=[redirect])
    asked = (
        f"{server.url}/authorize?response_type=code&client_id={client.pk}&redirect_uri={redirect}"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256&state=xyz"
    )
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its two words
    log_in(page, server, user.username)

    page.goto(asked)

    expect(page.get_by_text("The program Chat asks")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_label("Act as").select_option(label="kyra")
    page.get_by_role("button", name="Allow access").click()
    page.wait_for_url(f"{redirect}?*")
    assert parameters_of(page.url).keys() == {"code", "state", "iss"}
