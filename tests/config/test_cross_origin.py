"""Pages of other origins: which may ask the API, and with what."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client
from pytest_django import Settings

from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast

PAGE = "https://app.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
}


@pytest.fixture
def browser(settings: Settings) -> Client:
    """A client of a server that lists the page."""
    settings.CORS_ALLOWED_ORIGINS = [PAGE]
    settings.MIDDLEWARE = [*configured.CORS_MIDDLEWARE, *configured.MIDDLEWARE]
    return Client()


def asked(client: Client, path: str, *, origin: str = PAGE) -> Any:  # Any: a test's response
    """The answer to the question of a browser before it sends a POST."""
    return client.options(path, headers={"Origin": origin, **PREFLIGHT})


@pytest.mark.parametrize("path", ["/v1/memories", "/mcp", "/register", "/token"])
def test_a_listed_page_may_send_what_the_clients_send(browser: Client, path: str) -> None:
    answer = asked(browser, path)

    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == PAGE
    assert "POST" in answer["Access-Control-Allow-Methods"]
    assert {"authorization", "*"} <= set(answer["Access-Control-Allow-Headers"].split(", "))
    assert "Access-Control-Allow-Credentials" not in answer


def test_a_listed_page_reads_answers_refusals_and_headers(browser: Client, acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        key = issue_key(team_id=acme.team.pk).token
    sent = {"Origin": PAGE, "Authorization": f"Bearer {key}"}

    listed = browser.get("/v1/memories", headers=sent)
    refused = browser.get("/v1/memories", headers={"Origin": PAGE})
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    pinged = browser.post("/mcp", ping, content_type="application/json", headers={**sent, **accept})

    assert (listed.status_code, refused.status_code, pinged.status_code) == (200, 401, 200)
    for answer in (listed, refused, pinged):
        assert answer["Access-Control-Allow-Origin"] == PAGE
        assert answer["Access-Control-Expose-Headers"] == "*"


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/v1/memories", "https://evil.example"),
        ("/v1/memories", "http://app.example"),
        ("/v1/memories", "null"),
        ("/admin/", PAGE),
        ("/v1x", PAGE),
    ],
)
def test_no_other_page_and_no_page_of_the_admin(browser: Client, path: str, origin: str) -> None:
    assert "Access-Control-Allow-Origin" not in asked(browser, path, origin=origin)


def test_without_the_setting_no_page_may_ask(client: Client) -> None:
    assert "Access-Control-Allow-Origin" not in asked(client, "/v1/memories")
