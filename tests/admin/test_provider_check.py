"""The button that tries a provider out: what it says, what it never shows, and who may press it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from routing.models import Provider
from teams.tenancy import team_scope
from tests.support.admin import SignIn, told
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


def test_it_says_what_the_endpoint_lists_and_how_long_it_took(
    cast: Cast, admin_client: Client, endpoint: Endpoint, settings: object
) -> None:
    settings.PROVIDER_KEYS = {"PROVIDER_KEY_LOCAL": SECRET}  # type: ignore[attr-defined]
    provider = provider_at(cast, endpoint, key_variable="PROVIDER_KEY_LOCAL")
    page = admin_client.get(reverse("admin:routing_provider_change", args=[provider.pk]))

    answer = admin_client.post(check_url(provider))

    assert check_url(provider) in page.content.decode()
    (said,) = told(answer)  # type: ignore[arg-type]
    assert said.startswith("Test of local: It answered and lists 1 model. (")
    assert said.endswith(" ms)")
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in said + admin_client.get(answer["Location"]).content.decode()


def test_models_that_the_endpoint_does_not_list_are_named(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, endpoint)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        make_model(provider, "fast", name=MODEL)
        make_model(provider, "balanced")

    (said,) = told(admin_client.post(check_url(provider)))  # type: ignore[arg-type]

    assert "lists 1 model, but not: steady." in said


def test_one_without_a_list_is_asked_for_one_token(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    endpoint.listing = error(404)
    provider = provider_at(cast, endpoint)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        make_model(provider, "fast")

    (said,) = told(admin_client.post(check_url(provider)))  # type: ignore[arg-type]

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

    (said,) = told(admin_client.post(check_url(provider)))  # type: ignore[arg-type]

    assert words in said
    assert SECRET not in said


def test_nothing_is_sent_where_the_key_may_not_go(
    cast: Cast, admin_client: Client, endpoint: Endpoint
) -> None:
    provider = provider_at(cast, endpoint, key_variable="PROVIDER_KEY_GONE")

    (said,) = told(admin_client.post(check_url(provider)))  # type: ignore[arg-type]

    assert "Nothing was sent: PROVIDER_KEY_GONE is not set on this server." in said
    assert endpoint.requests == []


def test_an_address_that_is_never_called_is_not_called_here(
    cast: Cast, admin_client: Client
) -> None:
    provider = provider_at(cast, None, base_url="http://169.254.169.254/latest")

    (said,) = told(admin_client.post(check_url(provider)))  # type: ignore[arg-type]

    assert "Nothing is called at such an address." in said


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
