"""Providers, models and budgets over the API: stored, checked and kept from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from audit.models import OperationalEvent
from routing.models import ChatModel, Provider
from routing.services.models import catalogue_of, provider_key
from teams.models import Team, TeamVersion
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.openai_answers import MODEL as LISTED
from tests.support.openai_server import FakeOpenAI

SECRET = "sk-of-the-test-4711"
OPENAI = {"name": "OpenAI", "base_url": "https://api.example/v1"}
MODEL = {"name": "small-1", "tier": "fast", "input_price": 0.00015, "output_price": 0.0006}


@pytest.fixture
def endpoint() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


def provider_of(api: APIClient, **fields: Any) -> Any:
    """A new provider, as the API shows it."""
    made = api.post("/v1/providers", {**OPENAI, **fields}, format="json")
    assert made.status_code == 201, made.content
    return made.json()


def model_of(api: APIClient, provider: str, **fields: Any) -> Any:
    """A new model, as the API shows it."""
    body = {**MODEL, "provider": provider, **fields}
    made = api.post("/v1/chat-models", body, format="json")
    assert made.status_code == 201, made.content
    return made.json()


def test_a_team_without_a_shell_sets_up_a_model_that_answers(
    acme: Cast, api: APIClient, endpoint: FakeOpenAI
) -> None:
    provider = provider_of(api, base_url=endpoint.base_url, api_key=SECRET, timeout_seconds=5)
    model = model_of(api, provider["id"], name=LISTED)

    tested = api.post(f"/v1/providers/{provider['id']}/test", {}, format="json").json()
    routed = api.post("/v1/route", {"agent": "kyra", "query": "Hi?"}, format="json").json()

    assert (provider["key"], provider["enabled"]) == ("set", True)
    assert (model["input_price"], model["context_window"]) == (0.00015, 128_000)
    assert tested["ok"] is True
    assert (routed["model"], routed["provider"]) == (LISTED, "OpenAI")


def test_no_answer_shows_a_key_and_it_is_stored_encrypted(acme: Cast, api: APIClient) -> None:
    made = api.post("/v1/providers", {**OPENAI, "api_key": SECRET}, format="json")
    read = api.get(f"/v1/providers/{made.json()['id']}")
    listed = api.get("/v1/providers")

    for answer in (made, read, listed):
        assert SECRET not in answer.content.decode()
    stored = Provider.objects.get()
    assert SECRET not in stored.encrypted_key
    assert provider_key(provider=stored, team=acme.team) == (SECRET, "")


def test_a_change_keeps_what_is_left_out_and_asks_for_the_key_of_another_server(
    acme: Cast, api: APIClient
) -> None:
    url = f"/v1/providers/{provider_of(api, api_key=SECRET)['id']}"

    renamed = api.patch(url, {"name": "Main", "enabled": False}, format="json").json()
    moved = api.patch(url, {"base_url": "https://evil.example/v1"}, format="json")
    removed = api.patch(url, {"remove_key": True}, format="json").json()

    assert (renamed["name"], renamed["key"], renamed["enabled"]) == ("Main", "set", False)
    assert renamed["base_url"] == OPENAI["base_url"]
    assert moved.status_code == 422
    assert "api_key" in moved.json()["errors"]
    assert (removed["key"], removed["base_url"]) == ("none", OPENAI["base_url"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "ftp://host/v1"),
        ("base_url", "http://169.254.169.254/v1"),
        ("name", ""),
        ("name", "a/b"),
        ("api_key", "two words"),
        ("key_variable", "DJANGO_SECRET_KEY"),
        ("key_variable", "PROVIDER_KEY_MISSING"),
        ("timeout_seconds", 0),
        ("timeout_seconds", 601),
        ("enabled", "yes"),
        ("team", "globex"),
    ],
)
def test_a_wrong_provider_is_refused_by_its_field(
    acme: Cast, api: APIClient, field: str, value: object
) -> None:
    refused = api.post("/v1/providers", {**OPENAI, field: value}, format="json")

    assert refused.status_code == 422, refused.content
    assert field in refused.json()["errors"]
    assert not Provider.objects.exists()


def test_a_variable_of_the_server_holds_a_key_where_it_allows_that(
    acme: Cast, api: APIClient, settings: Settings
) -> None:
    settings.PROVIDER_KEYS = {
        "PROVIDER_KEY_OURS": SECRET,
        "PROVIDER_KEY_OURS_HOSTS": "api.example",
        "PROVIDER_KEY_THEIRS": SECRET,
        "PROVIDER_KEY_THEIRS_HOSTS": "a.example",
        "PROVIDER_KEY_THEIRS_TEAMS": "globex",
        "PROVIDER_KEY_ANYWHERE": SECRET,
    }

    ours = provider_of(api, key_variable="PROVIDER_KEY_OURS")
    theirs = {
        "name": "Other",
        "base_url": "https://a.example",
        "key_variable": "PROVIDER_KEY_THEIRS",
    }
    refused = api.post("/v1/providers", theirs, format="json")

    assert (ours["key"], ours["key_variable"]) == ("set", "PROVIDER_KEY_OURS")
    assert "key_variable" in refused.json()["errors"]
    # Else a key of the team could send the server's key to any host.
    unlisted = api.post(
        "/v1/providers", {**theirs, "key_variable": "PROVIDER_KEY_ANYWHERE"}, format="json"
    )
    assert "PROVIDER_KEY_ANYWHERE_HOSTS" in unlisted.json()["errors"]["key_variable"][0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tier", "huge"),
        ("input_price", -1),
        ("input_price", 0.00000000001),
        ("output_price", "0.1"),
        ("context_window", 100),
        ("name", "two words"),
        ("provider", "01920000-0000-7000-8000-00000000dead"),
        ("priority", -1),
    ],
)
def test_a_wrong_model_is_refused_by_its_field(
    acme: Cast, api: APIClient, field: str, value: object
) -> None:
    body = {**MODEL, "provider": provider_of(api)["id"], field: value}

    refused = api.post("/v1/chat-models", body, format="json")

    assert refused.status_code == 422, refused.content
    assert field in refused.json()["errors"]
    assert not ChatModel.objects.exists()


def test_models_are_listed_by_tier_changed_and_removed(acme: Cast, api: APIClient) -> None:
    provider = provider_of(api)["id"]
    small, large = model_of(api, provider), model_of(api, provider, name="large", tier="powerful")

    fast = api.get("/v1/chat-models", {"tier": "fast"}).json()["results"]
    changed = api.patch(
        f"/v1/chat-models/{small['id']}", {"tier": "balanced", "input_price": 0.5}, format="json"
    )
    too_long = api.patch(
        f"/v1/chat-models/{small['id']}", {"max_output_tokens": 200_000}, format="json"
    )
    kept = api.delete(f"/v1/providers/{provider}")
    for each in (small, large):
        assert api.delete(f"/v1/chat-models/{each['id']}").status_code == 204
    gone = api.delete(f"/v1/providers/{provider}")

    assert [each["id"] for each in fast] == [small["id"]]
    assert (changed.json()["tier"], changed.json()["input_price"]) == ("balanced", 0.5)
    assert too_long.status_code == 422
    assert kept.status_code == 409
    assert gone.status_code == 204
    assert catalogue_of(team=acme.team).choices[0].provider == "settings"


def test_a_name_is_taken_once(acme: Cast, api: APIClient) -> None:
    provider_of(api)

    refused = api.post("/v1/providers", OPENAI, format="json")

    assert refused.status_code == 422
    assert refused.json()["errors"] == {"name": ["The team already has a provider of this name."]}


def test_lists_come_in_pages(acme: Cast, api: APIClient) -> None:
    for number in range(3):
        provider_of(api, name=f"p{number}")

    first = api.get("/v1/providers", {"limit": 2}).json()
    second = api.get(first["next"]).json()

    assert [each["name"] for each in first["results"] + second["results"]] == ["p2", "p1", "p0"]


def test_others_find_nothing_and_keys_that_are_bound_may_not_ask(
    acme: Cast, globex: Cast, api: APIClient, client_of: Clients
) -> None:
    provider = provider_of(api)["id"]
    model = model_of(api, provider)["id"]
    stranger = client_of(globex)

    for path in (f"providers/{provider}", f"chat-models/{model}"):
        assert stranger.get(f"/v1/{path}").status_code == 404
        assert stranger.patch(f"/v1/{path}", {}, format="json").status_code == 404
        assert stranger.delete(f"/v1/{path}").status_code == 404
    assert stranger.post(f"/v1/providers/{provider}/test", {}, format="json").status_code == 404
    borrowed = {**MODEL, "provider": provider}
    assert stranger.post("/v1/chat-models", borrowed, format="json").status_code == 422
    for path in ("providers", "chat-models", "team"):
        assert client_of(acme, agent=acme.kyra).get(f"/v1/{path}").status_code == 403


def test_each_change_leaves_an_event(acme: Cast, api: APIClient) -> None:
    provider = provider_of(api)["id"]
    model = model_of(api, provider)["id"]
    api.patch(f"/v1/chat-models/{model}", {"priority": 1}, format="json")
    api.delete(f"/v1/chat-models/{model}")

    with team_scope(team_ids=[acme.team.pk], actor="test"):
        left = OperationalEvent.objects.filter(node="routing").order_by("id")
        assert [(each.op, each.meta) for each in left] == [
            ("create", {"provider": provider}),
            *((op, {"chatmodel": model}) for op in ("create", "update", "delete")),
        ]


def test_budgets_and_instructions_of_the_team_are_changed_as_a_version(
    acme: Cast, api: APIClient
) -> None:
    changed = api.patch(
        "/v1/team",
        {"monthly_budget_usd": 12.5, "extraction_instructions": "Look for tea.", "reason": "Calm"},
        format="json",
    )
    again = api.patch("/v1/team", {"monthly_budget_usd": None}, format="json").json()

    assert changed.json()["monthly_budget_usd"] == 12.5
    assert (again["monthly_budget_usd"], again["extraction_instructions"]) == (
        None,
        "Look for tea.",
    )
    assert api.get("/v1/team").json() == again
    assert again["instructions_are_read"] is False
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        before = TeamVersion.objects.filter(team=acme.team).order_by("-number")[1]
    assert (before.reason, before.actor.partition(":")[0]) == ("Calm", "key")
    assert before.document["monthly_budget_usd"] == 12.5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("monthly_budget_usd", -1),
        ("monthly_budget_usd", "5"),
        ("daily_user_budget_usd", 0.0000001),
        ("extraction_instructions", "x" * 2_001),
        ("slug", "other"),
    ],
)
def test_wrong_settings_of_the_team_are_refused(
    acme: Cast, api: APIClient, field: str, value: object
) -> None:
    refused = api.patch("/v1/team", {field: value}, format="json")

    assert refused.status_code == 422
    assert field in refused.json()["errors"]
    assert Team.objects.get(pk=acme.team.pk).monthly_budget_usd is None
