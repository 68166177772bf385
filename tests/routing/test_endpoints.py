"""Which addresses and key names a provider may have, and what the database refuses by itself."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from routing.clients.endpoints import open_client
from routing.domain.endpoints import problem_with_key_name, problem_with_url
from routing.models import ChatModel, Provider
from routing.services.models import provider_key
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.chat_models import make_model, make_provider


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://localhost:11434/v1",
        "http://127.0.0.1:8080",
        "http://10.0.0.7/v1",
        "http://[::1]:9000/v1/",
    ],
)
def test_an_endpoint_anywhere_is_an_address(url: str) -> None:
    assert problem_with_url(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.openai.com/v1",
        "ftp://host/v1",
        "file:///etc/passwd",
        "gopher://host/",
        "https://",
        "https://:443/v1",
        "https://host:0/v1",
        "https://host:99999/v1",
        "https://name:secret@host/v1",
        "https://secret@host/v1",
        "https://host/v1?key=secret",
        "https://host/v1#x",
        "https://host/v 1",
        "https://host/v1\n",
        "https://hôst/v1",
        "http://169.254.169.254/latest",
        "http://2852039166/latest",
        "http://0xA9.0xFE.0xA9.0xFE/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "https://192.168.1.300:8000/v1",
        "http://[::1]x/v1",
        "http://[v1.a]/v1",
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused_without_repeating_it(url: str) -> None:
    problem = problem_with_url(url)

    assert problem.endswith(".")
    assert "secret" not in problem


@pytest.mark.parametrize("name", ["", "PROVIDER_KEY_OPENAI", "PROVIDER_KEY_2_A"])
def test_a_key_is_named_by_its_variable(name: str) -> None:
    assert problem_with_key_name(name) == ""


@pytest.mark.parametrize(
    "name",
    ["sk-secret", "DJANGO_SECRET_KEY", "PROVIDER_KEY_", "PROVIDER_KEY_a", "PROVIDER_KEY_A\n", " "],
)
def test_no_other_variable_and_no_key_itself_is_taken(name: str) -> None:
    problem = problem_with_key_name(name)

    assert "PROVIDER_KEY_" in problem
    assert "secret" not in problem


def test_a_key_goes_only_where_and_to_whom_the_server_allows(acme: Cast, settings: Any) -> None:
    settings.PROVIDER_KEYS = {
        "PROVIDER_KEY_A": " secret ",
        "PROVIDER_KEY_B": "secret",
        "PROVIDER_KEY_B_HOSTS": "API.example, other.example",
        "PROVIDER_KEY_C": "secret",
        "PROVIDER_KEY_C_TEAMS": "globex",
    }

    def key(name: str, url: str = "https://api.example/v1") -> tuple[str, str]:
        return provider_key(provider=Provider(base_url=url, key_variable=name), team=acme.team)

    assert key("") == ("", "")
    assert key("PROVIDER_KEY_A") == ("secret", "")
    assert key("PROVIDER_KEY_B") == ("secret", "")
    assert key("PROVIDER_KEY_B", "https://evil.example/v1")[0] == ""
    assert key("PROVIDER_KEY_C")[0] == ""
    assert key("PROVIDER_KEY_GONE")[0] == ""
    assert key("PROVIDER_KEY_B_HOSTS")[0] == ""
    for name in ("PROVIDER_KEY_C", "PROVIDER_KEY_GONE", "PROVIDER_KEY_B_HOSTS"):
        assert key(name)[1].startswith(f"{name} ")


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "ftp://host"},
        {"base_url": "javascript:alert(1)"},
        {"timeout_seconds": 0},
        {"timeout_seconds": 601},
        {"key_variable": "sk-secret"},
    ],
)
def test_the_database_refuses_a_provider_that_cannot_be(acme: Cast, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Provider(team=acme.team, **{"name": "x", **wrong}).full_clean()
    with pytest.raises(IntegrityError), transaction.atomic():
        make_provider(acme, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tier": "gigantic"},
        {"input_price": Decimal("-0.001")},
        {"output_price": Decimal(-1)},
        {"context_window": 100, "max_output_tokens": 50},
        {"max_output_tokens": 0},
        {"context_window": 2_000, "max_output_tokens": 3_000},
    ],
)
def test_the_database_refuses_a_model_that_cannot_be(acme: Cast, wrong: dict[str, Any]) -> None:
    provider = make_provider(acme)
    fields: dict[str, Any] = {"input_price": 0, "output_price": 0, "tier": "fast", **wrong}

    with pytest.raises(ValidationError):
        ChatModel(team=acme.team, provider=provider, name="x", **fields).full_clean()
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatModel.objects.create(team=acme.team, provider=provider, name="x", **fields)


def test_a_model_is_entered_once_and_only_at_a_provider_of_its_team(
    acme: Cast, globex: Cast
) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        theirs = make_provider(globex)
    make_model(make_provider(acme), "fast")

    with pytest.raises(IntegrityError), transaction.atomic():
        make_model(Provider.objects.get(), "balanced", name="swift")
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatModel.objects.create(
            team=acme.team,
            provider_id=theirs.pk,
            name="stray",
            tier="fast",
            input_price=0,
            output_price=0,
        )


def test_an_empty_address_is_openais_whatever_the_environment_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")

    with open_client(base_url="", api_key="k", timeout=1.0, max_retries=0) as client:
        assert str(client.base_url) == "https://api.openai.com/v1/"
