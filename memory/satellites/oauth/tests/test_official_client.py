"""The client of the official SDK signs in at a running server and works as who it was let in as."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import httpx
import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl
from pytest_django.live_server_helper import LiveServer

from memory.satellites.oauth.models import Grant
from memory.satellites.oauth.tests.signing_in import parameters_of
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.cast import Cast
from tests.support.mcp_client import MODES, editor_of, said

REDIRECT = "http://127.0.0.1:53682/callback"


class Store(TokenStorage):
    """The storage of a client."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.info: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.info = client_info


@dataclass
class SignedIn:
    """A client whose person lets it in by the pages of the server."""

    url: str
    username: str
    form: dict[str, str]
    mode: str = MODES[0]
    store: Store = field(default_factory=Store)
    consents: int = 0
    _landed: str = ""

    def provider(self) -> OAuthClientProvider:
        """The SDK's part; a new one reads what was kept."""
        return OAuthClientProvider(
            server_url=f"{self.url}/mcp",
            client_metadata=OAuthClientMetadata(
                client_name="SDK", redirect_uris=[AnyUrl(REDIRECT)]
            ),
            storage=self.store,
            redirect_handler=self._open,
            callback_handler=self._wait,
        )

    def call(self, tool: str, **given: Any) -> Any:
        """The result of a tool."""

        async def connected() -> Any:
            async with httpx2.AsyncClient(auth=self.provider(), timeout=30) as http:
                transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
                async with Client(transport, mode=self.mode) as client:
                    return await client.call_tool(tool, given)

        return anyio.run(connected)

    async def _open(self, address: str) -> None:
        self._landed = await anyio.to_thread.run_sync(self._consent, address)

    async def _wait(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**parameters_of(self._landed))

    def _consent(self, address: str) -> str:
        """The browser of the person: signs in, allows, and is sent to the client."""
        self.consents += 1
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(address)
            page = _send(browser, page, username=self.username, password="secret")
            sent = _send(browser, page, follow=False, **self.form)
            assert sent.status_code == 302, sent.text
            return sent.headers["Location"]


def _send(
    browser: httpx.Client, page: httpx.Response, *, follow: bool = True, **form: str
) -> httpx.Response:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert found is not None, page.text
    sent = {"csrfmiddlewaretoken": found.group(1), **form}
    headers = {"Referer": str(page.url)}
    return browser.post(page.url, data=sent, headers=headers, follow_redirects=follow)


@pytest.fixture
def signed_in(cast: Cast, server: LiveServer) -> SignedIn:
    """A client that will act as Kyra, for Sarah."""
    join(StaffUserFactory.create(username=cast.team.slug), cast.team, "admin")
    form = {"agent": str(cast.kyra.pk), "person": "sarah", "access": "write"}
    return SignedIn(server.url, cast.team.slug, form)


@pytest.mark.parametrize("mode", MODES)
def test_it_acts_as_the_agent_and_for_the_person_alone(
    signed_in: SignedIn, cast: Cast, server: LiveServer, mode: str
) -> None:
    signed_in.mode = mode
    by_key = editor_of(cast, server.url)
    theirs = by_key.call("add_memory", text="Dmitri lives in Riga.", user="dmitri")["memory"]["id"]
    by_key.call("add_memory", text="The office is in Oslo.")

    stored = signed_in.call("add_memory", text="Sarah lives in Berlin.", user="sarah")
    corrected = signed_in.call(
        "update_memory",
        memory_id=stored.structured_content["memory"]["id"],
        text="Sarah lives in Kyiv.",
    )
    own = signed_in.call("search_memories", query="Where is everybody?", user="sarah")
    nobodys = signed_in.call("search_memories", query="Where is everybody?")

    assert not corrected.is_error, said(corrected)
    assert _texts(own) == {"Sarah lives in Kyiv.", "The office is in Oslo."}
    assert _texts(nobodys) == {"The office is in Oslo."}
    people = signed_in.call("list_entities").structured_content["users"]
    assert [each["id"] for each in people] == ["sarah"]
    for tool, given, words in (
        ("search_memories", {"query": "Where?", "user": "dmitri"}, "acts for 'sarah' alone"),
        ("add_memory", {"text": "Dmitri left.", "user": "dmitri"}, "acts for 'sarah' alone"),
        ("search_memories", {"query": "Where?", "agent": "luke"}, "acts only as the agent 'kyra'"),
        ("get_memory", {"memory_id": theirs}, "no such memory"),
        ("delete_memory", {"memory_id": theirs}, "no such memory"),
    ):
        refused = signed_in.call(tool, **given)
        assert refused.is_error, (tool, given)
        assert words in said(refused)
    assert signed_in.consents == 1


def test_it_renews_its_tokens_and_asks_again_once_they_are_revoked(
    signed_in: SignedIn, cast: Cast
) -> None:
    signed_in.call("list_entities")
    first = signed_in.store.tokens
    assert first is not None
    # As after an hour: the client sees that its token is no longer valid.
    signed_in.store.tokens = first.model_copy(update={"access_token": "", "expires_in": 0})

    assert not signed_in.call("list_entities").is_error
    renewed = signed_in.store.tokens
    assert renewed is not None
    assert renewed.refresh_token != first.refresh_token
    assert signed_in.consents == 1

    # Whoever had copied the first one ends the grant, and its person is asked anew.
    signed_in.store.tokens = first.model_copy(update={"access_token": "", "expires_in": 0})
    assert not signed_in.call("list_entities").is_error
    assert signed_in.consents == 2
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        assert [each.revoked_at is None for each in Grant.objects.order_by("id")] == [False, True]


def _texts(result: Any) -> set[str]:
    assert not result.is_error, said(result)
    return {each["content"] for each in result.structured_content["results"]}
