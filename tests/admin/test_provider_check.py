"""The button that tries a provider out: what it says, what it never shows, and who may press it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from routing.models import Provider
from teams.tenancy import team_scope
from tests.support.admin import SignIn
from tests.support.cast import Cast
from tests.support.chat_models import make_model, make_provider
from tests.support.openai_answers import MODEL
from tests.support.openai_server import Behaviour, FakeOpenAI, RecordedRequest, error

SECRET = "sk-of-the-test-4711"


class Endpoint(FakeOpenAI):
    """An endpoint whose list of models can be made to fail."""

    listing = Behaviour()

    def take(self, request: RecordedRequest) -> Behaviour:
        """As scripted for the list, else as usual."""
        usual = super().take(request)
        return self.listing if request.method == "GET" else usual


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A server that speaks the protocol."""
    with Endpoint() as running:
        yield running


def provider_at(cast: Cast, endpoint: FakeOpenAI | None, **fields: object) -> Provider:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return make_provider(cast, endpoint, **fields)


def check_url(provider: Provider) -> str:
    return reverse("admin:routing_provider_test", args=[provider.pk])


def form_of(provider: Provider, **changes: object) -> dict[str, object]:
    """The form of the provider's page as a browser sends it."""
    return {
        "name": provider.name,
        "base_url": provider.base_url,
        "key_variable": provider.key_variable,
        "timeout_seconds": provider.timeout_seconds,
        "is_enabled": "on",
        **changes,
    }


def said_of(client: Client, provider: Provider, **changes: object) -> str:
    """Returns what the button says of the form with these changes."""
    answer = client.post(
        check_url(provider), form_of(provider, **changes), headers={"HX-Request": "true"}
    )
    return unescape(answer.content.decode())


def test_it_says_what_the_endpoint_lists_and_how_long_it_took(
    cast: Cast, admin_client: Client, endpoint: Endpoint, settings: object
) -> None:
    settings.PROVIDER_KEYS = {"PROVIDER_KEY_LOCAL": SECRET}  # type: ignore[attr-defined]
    provider = provider_at(cast, endpoint, key_variable="PROVIDER_KEY_LOCAL")
    page = admin_client.get(reverse("admin:routing_provider_change", args=[provider.pk]))

    said = said_of(admin_client, provider)

    assert check_url(provider) in page.content.decode()
    assert re.search(r"It answered and lists 1 model\. \(\d+ ms\)", said)
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in said + page.content.decode()


def test_models_that_the_endpoint_does_not_list_are_named(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, endpoint)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        make_model(provider, "fast", name=MODEL)
        make_model(provider, "balanced")

    said = said_of(admin_client, provider)

    assert "lists 1 model, but not: steady." in said


def test_one_without_a_list_is_asked_for_one_token(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    endpoint.listing = error(404)
    provider = provider_at(cast, endpoint)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        make_model(provider, "fast")

    said = said_of(admin_client, provider)

    assert "asked for one token, swift answered." in said
    assert endpoint.chats[0].body["max_tokens"] == 1


@pytest.mark.parametrize(
    ("listing", "words"),
    [
        (error(401, code="invalid_api_key", message=SECRET), "It refuses the API key"),
        (error(404), "There is no such address"),
        (error(429), "asked too much"),
        (error(500, message=SECRET), "It answered with an error (HTTP 500)."),
        (
            Behaviour(status=302, headers={"Location": "http://elsewhere.example/"}),
            "enter that one",
        ),
        (Behaviour(drop=True), "It cannot be reached"),
        (Behaviour(delay=5), "It did not answer in time."),
        (Behaviour(body="<html>"), "as the protocol requires"),
        (Behaviour(body='"text"'), "as the protocol requires"),
    ],
)
def test_what_went_wrong_is_said_in_our_words(
    cast: Cast, admin_client: Client, endpoint: Endpoint, listing: Behaviour, words: str
) -> None:
    endpoint.listing = listing
    provider = provider_at(cast, endpoint, timeout_seconds=0.5)

    said = said_of(admin_client, provider)

    assert words in said
    assert SECRET not in said


def test_nothing_is_sent_where_the_key_may_not_go(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, endpoint, key_variable="PROVIDER_KEY_GONE")

    said = said_of(admin_client, provider)

    assert "Nothing was sent" in said
    assert "PROVIDER_KEY_GONE is not set on this server." in said
    assert endpoint.requests == []


def test_an_address_that_is_never_called_is_not_called_here(
    cast: Cast, admin_client: Client
) -> None:
    provider = provider_at(cast, None, base_url="http://169.254.169.254/latest")

    said = said_of(admin_client, provider)

    assert "Link-local, multicast and unspecified addresses are refused." in said


def test_only_the_teams_admins_may_press_it(
    cast: Cast, others: Cast, sign_in: SignIn, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, endpoint)
    rob = sign_in((cast.team, "reviewer"), name="rob")
    eve = sign_in((others.team, "admin"), name="eve")

    page = rob.get(reverse("admin:routing_provider_change", args=[provider.pk]))

    assert check_url(provider) not in page.content.decode()
    assert rob.post(check_url(provider)).status_code == 403
    assert eve.post(check_url(provider)).status_code == 404
    assert rob.get(check_url(provider)).status_code == 405
    assert endpoint.requests == []


def test_a_typed_key_is_tested_before_it_is_saved(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    fields = {
        "team": cast.team.pk,
        "name": "new",
        "base_url": endpoint.base_url,
        "timeout_seconds": "5",
        "api_key": SECRET,
    }

    answer = admin_client.post(reverse("admin:routing_provider_test", args=["add"]), fields)

    page = answer.content.decode()
    assert "It answered and lists 1 model." in page
    assert "Nothing was saved." in page
    assert SECRET not in page
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert not Provider.objects.exists()


def test_a_changed_address_is_tested_without_the_stored_key(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, None)
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    assert admin_client.post(page, form_of(provider, api_key=SECRET)).status_code == 302

    said = said_of(admin_client, provider, base_url=endpoint.base_url)

    assert "The stored API key is for another address" in said
    assert endpoint.requests == []


def test_who_may_not_add_providers_tests_no_new_one(cast: Cast, sign_in: SignIn) -> None:
    rob = sign_in((cast.team, "reviewer"), name="rob")

    assert rob.post(reverse("admin:routing_provider_test", args=["add"]), {}).status_code == 403
