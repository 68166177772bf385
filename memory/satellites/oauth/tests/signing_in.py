"""A client of the authorization server by hand, and the browser of the person who lets it in."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client as Browser
from django.test import RequestFactory
from rest_framework.test import APIClient

from teams.models import Team
from tests.factories import StaffUserFactory
from tests.support.admin import join

REDIRECT = "https://chat.example/callback?from=palimpsest"
VERIFIER = "v" * 50
_DIGEST = hashlib.sha256(VERIFIER.encode()).digest()
CHALLENGE = base64.urlsafe_b64encode(_DIGEST).decode().rstrip("=")
RESOURCE = RequestFactory().get("/").build_absolute_uri("/mcp")
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def browser_of(team: Team, role: str, *, name: str) -> Browser:
    """A browser that is signed in to the admin."""
    user = StaffUserFactory.create(username=name)
    join(user, team, role)
    browser = Browser()
    browser.force_login(user)
    return browser


def register(**metadata: Any) -> Any:
    """The answer to a registration."""
    given = {"client_name": "Chat", "redirect_uris": [REDIRECT], **metadata}
    return Browser().post("/register", given, content_type="application/json")


def parameters_of(address: str) -> dict[str, str]:
    """The parameters of an address."""
    return dict(parse_qsl(urlsplit(address).query))


@dataclass(frozen=True)
class Program:
    """A client with its id."""

    client_id: str

    @classmethod
    def registered(cls) -> Program:
        return cls(register().json()["client_id"])

    def asks(self, browser: Browser | None = None, /, **changes: str | None) -> Any:
        """The answer to an authorization request; what is None is left out."""
        given: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": REDIRECT,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "xyz & 1",
            "resource": RESOURCE,
            **changes,
        }
        sent = {k: v for k, v in given.items() if v is not None}
        return (browser or Browser()).get("/authorize", sent)

    def page(self, **changes: str | None) -> str:
        """The address of the consent page."""
        answer = self.asks(**changes)
        assert answer.status_code == 302, answer.content
        return str(answer["Location"])

    def code(self, browser: Browser, **form: object) -> str:
        """The code for what the person allows."""
        answer = browser.post(self.page(), {"access": "write", **form})
        assert answer.status_code == 302, answer.content.decode()
        return parameters_of(answer["Location"])["code"]

    def exchanges(self, code: str, **changes: str) -> Any:
        """The answer to the exchange of a code."""
        return self.posts(
            "token",
            grant_type="authorization_code",
            code=code,
            redirect_uri=REDIRECT,
            code_verifier=VERIFIER,
            **changes,
        )

    def refreshes(self, token: str, **changes: str) -> Any:
        """The answer to the exchange of a refresh token."""
        return self.posts("token", grant_type="refresh_token", refresh_token=token, **changes)

    def posts(self, endpoint: str, **given: str) -> Any:
        """The answer of an endpoint."""
        form = urlencode({"client_id": self.client_id, **given})
        return Browser().post(f"/{endpoint}", form, "application/x-www-form-urlencoded")

    def tokens(self, browser: Browser, **form: object) -> dict[str, Any]:
        """Tokens for what the person allows."""
        answer = self.exchanges(self.code(browser, **form))
        assert answer.status_code == 200, answer.content
        return dict(answer.json())


def api_of(token: str) -> APIClient:
    """A client of the server with this token."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def ping(token: str) -> Any:
    """The answer of the MCP endpoint to a token."""
    return api_of(token).post(
        "/mcp", PING, format="json", headers={"Accept": "application/json, text/event-stream"}
    )
