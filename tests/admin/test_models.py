"""Providers, models and decisions in the admin: who enters them, what is refused, what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from routing.models import ChatModel, Provider
from routing.services.models import provider_key
from teams.tenancy import team_scope
from tests.support.admin import SignIn
from tests.support.cast import Cast
from tests.support.chat_models import make_model, make_models, make_provider, route_of

SECRET = "sk-of-the-test-4711"
ADD_PROVIDER = reverse("admin:routing_provider_add")
ADD_MODEL = reverse("admin:routing_chatmodel_add")


def provider_form(cast: Cast, **changes: object) -> dict[str, object]:
    return {
        "team": cast.team.pk,
        "name": "OpenAI",
        "base_url": "https://api.example/v1",
        "key_variable": "",
        "timeout_seconds": "30",
        "is_enabled": "on",
        **changes,
    }


def model_form(cast: Cast, provider: Provider, **changes: object) -> dict[str, object]:
    return {
        "team": cast.team.pk,
        "provider": provider.pk,
        "name": "small-1",
        "tier": "fast",
        "input_price": "0.00015",
        "output_price": "0.0006",
        "context_window": "128000",
        "max_output_tokens": "16000",
        "priority": "10",
        "is_enabled": "on",
        **changes,
    }


@pytest.fixture
def provider(cast: Cast) -> Provider:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return make_provider(cast)


def kept(cast: Cast, model: Any) -> int:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return int(model.objects.count())


def test_an_admin_enters_a_provider_and_its_model(
    cast: Cast, admin_client: Client, settings: Any
) -> None:
    settings.PROVIDER_KEYS = {"PROVIDER_KEY_OPENAI": SECRET}
    form = provider_form(cast, key_variable="PROVIDER_KEY_OPENAI")
    assert admin_client.post(ADD_PROVIDER, form).status_code == 302
    with team_scope(team_ids=[cast.team.id], actor="test"):
        entered = Provider.objects.get()
    assert admin_client.post(ADD_MODEL, model_form(cast, entered)).status_code == 302

    with team_scope(team_ids=[cast.team.id], actor="test"):
        model = ChatModel.objects.get()
        assert route_of(cast).model.name == "small-1"
    pages = [
        reverse("admin:routing_provider_changelist"),
        reverse("admin:routing_provider_change", args=[entered.pk]),
        reverse("admin:routing_chatmodel_changelist"),
        reverse("admin:routing_chatmodel_change", args=[model.pk]),
    ]
    shown = [admin_client.get(page).content.decode() for page in pages]
    assert not any(SECRET in page for page in shown)
    assert "PROVIDER_KEY_OPENAI" in shown[1]
    assert "0.00015" in shown[2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_url": "ftp://host"}, "It must look like https://host/v1."),
        (
            {"base_url": "http://169.254.169.254/"},
            "Link-local, multicast and unspecified",
        ),
        ({"base_url": "https://a:b@host/"}, "no name or password"),
        ({"base_url": "https://["}, "It must look like https://host/v1."),
        ({"timeout_seconds": "0"}, "greater than or equal to 0.1"),
        ({"timeout_seconds": "9999"}, "less than or equal to 600"),
        ({"timeout_seconds": "nan"}, "Enter a number"),
        ({"name": ""}, "This field is required."),
        ({"key_variable": "DJANGO_SECRET_KEY"}, "begins with PROVIDER_KEY_"),
        ({"key_variable": "PROVIDER_KEY_GONE"}, "PROVIDER_KEY_GONE is not set on this server."),
        ({"key_variable": "PROVIDER_KEY_BOUND"}, "may not be sent to this host."),
    ],
)
def test_a_provider_that_cannot_work_is_refused_in_words(
    cast: Cast, admin_client: Client, settings: Any, changes: dict[str, object], words: str
) -> None:
    settings.PROVIDER_KEYS = {
        "PROVIDER_KEY_BOUND": SECRET,
        "PROVIDER_KEY_BOUND_HOSTS": "elsewhere.example",
    }

    answer = admin_client.post(ADD_PROVIDER, provider_form(cast, **changes))

    assert answer.status_code == 200
    assert words in answer.content.decode()
    assert kept(cast, Provider) == 0


def test_a_key_pasted_in_place_of_its_name_is_not_shown_again(
    cast: Cast, admin_client: Client
) -> None:
    answer = admin_client.post(ADD_PROVIDER, provider_form(cast, key_variable=SECRET))

    page = answer.content.decode()
    assert "never the key itself" in page
    assert SECRET not in page
    assert kept(cast, Provider) == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"input_price": "-0.1"}, "greater than or equal to 0"),
        ({"output_price": "x"}, "Enter a number."),
        ({"output_price": "NaN"}, "Enter a number."),
        ({"tier": "gigantic"}, "Select a valid choice"),
        ({"context_window": "100", "max_output_tokens": "50"}, "greater than or equal to 1024"),
        ({"context_window": "2000"}, "The longest answer must fit into the context window"),
        ({"max_output_tokens": "0"}, "greater than or equal to 1"),
        ({"name": "two words"}, "without spaces"),
    ],
)
def test_a_model_that_cannot_be_is_refused_in_words(
    cast: Cast,
    provider: Provider,
    admin_client: Client,
    changes: dict[str, object],
    words: str,
) -> None:
    answer = admin_client.post(ADD_MODEL, model_form(cast, provider, **changes))

    assert answer.status_code == 200
    assert words in answer.content.decode()
    assert kept(cast, ChatModel) == 0


def test_a_model_is_entered_once_a_provider(
    cast: Cast, provider: Provider, admin_client: Client
) -> None:
    form = model_form(cast, provider)
    admin_client.post(ADD_MODEL, form)

    answer = admin_client.post(ADD_MODEL, form)

    assert "This provider already has a model of this name." in answer.content.decode()
    assert kept(cast, ChatModel) == 1


def test_a_model_of_one_team_cannot_be_asked_at_a_provider_of_another(
    cast: Cast, others: Cast, provider: Provider, sign_in: SignIn
) -> None:
    both = sign_in((cast.team, "admin"), (others.team, "admin"))

    answer = both.post(ADD_MODEL, model_form(others, provider))

    assert "belongs to another team" in answer.content.decode()
    assert kept(others, ChatModel) == 0


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_only_admins_enter_models(
    cast: Cast, provider: Provider, sign_in: SignIn, role: str
) -> None:
    client = sign_in((cast.team, role))

    assert client.post(ADD_PROVIDER, provider_form(cast)).status_code == 403
    assert client.post(ADD_MODEL, model_form(cast, provider)).status_code == 403
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    assert client.get(page).status_code == 200
    assert (
        client.post(page, provider_form(cast, base_url="https://evil.example")).status_code == 403
    )


def test_another_teams_staff_sees_none_of_it(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        provider = make_models(cast)
        route_of(cast)
    stranger = sign_in((others.team, "admin"), name="eve")

    for name in ("provider", "chatmodel", "routingdecision"):
        listed = stranger.get(reverse(f"admin:routing_{name}_changelist"))
        assert list(listed.context["cl"].result_list) == []
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    assert stranger.get(page).status_code in {302, 404}


def test_a_provider_with_models_is_not_removed_by_itself(
    cast: Cast, provider: Provider, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        model = make_model(provider, "fast")
    remove = reverse("admin:routing_provider_delete", args=[provider.pk])

    admin_client.post(remove, {"post": "yes"})
    assert kept(cast, Provider) == 1
    admin_client.post(reverse("admin:routing_chatmodel_delete", args=[model.pk]), {"post": "yes"})
    admin_client.post(remove, {"post": "yes"})
    assert kept(cast, Provider) == 0


def test_decisions_are_listed_with_their_reasons_and_nobody_changes_them(
    cast: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        make_models(cast)
        route = route_of(cast)
    listed = admin_client.get(reverse("admin:routing_routingdecision_changelist"))
    page = reverse("admin:routing_routingdecision_change", args=[route.decision_id])
    shown = admin_client.get(page).content.decode()

    assert "swift" in listed.content.decode()
    assert route.reason in listed.content.decode()
    assert "reasoning_depth" in shown
    assert admin_client.post(page, {"tier": "powerful"}).status_code == 403
    assert admin_client.get(reverse("admin:routing_routingdecision_add")).status_code == 403
    remove = reverse("admin:routing_routingdecision_delete", args=[route.decision_id])
    assert admin_client.post(remove, {"post": "yes"}).status_code == 403


def test_the_sidebar_leads_to_models(cast: Cast, viewer_client: Client) -> None:
    page = viewer_client.get(reverse("admin:index")).content.decode()

    for name in ("provider", "chatmodel", "routingdecision"):
        assert reverse(f"admin:routing_{name}_changelist") in page


def entered(cast: Cast, client: Client, **changes: object) -> Provider:
    """A provider as the form stored it."""
    assert client.post(ADD_PROVIDER, provider_form(cast, **changes)).status_code == 302
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Provider.objects.get()


def usable_key(cast: Cast, provider: Provider) -> tuple[str, str]:
    """The key that would be sent, or why none would."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        provider.refresh_from_db()
        return provider_key(provider=provider, team=cast.team)


def test_a_typed_key_is_stored_encrypted_and_never_shown(
    cast: Cast, admin_client: Client, viewer_client: Client
) -> None:
    provider = entered(cast, admin_client, api_key=SECRET)
    page = reverse("admin:routing_provider_change", args=[provider.pk])

    kept_when_empty = admin_client.post(page, provider_form(cast, name="Renamed"))

    assert kept_when_empty.status_code == 302
    assert usable_key(cast, provider) == (SECRET, "")
    assert SECRET not in provider.encrypted_key
    for client in (admin_client, viewer_client):
        shown = client.get(page).content.decode()
        listed = client.get(reverse("admin:routing_provider_changelist")).content.decode()
        for secret in (SECRET, provider.encrypted_key):
            assert secret not in shown + listed


def test_a_stored_key_goes_to_no_other_server(cast: Cast, admin_client: Client) -> None:
    provider = entered(cast, admin_client, api_key=SECRET)
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    elsewhere = provider_form(cast, base_url="https://evil.example/v1")

    refused = admin_client.post(page, elsewhere)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Provider.objects.update(base_url="https://evil.example/v1")

    assert "Enter it again." in refused.content.decode()
    assert usable_key(cast, provider)[0] == ""
    assert admin_client.post(page, {**elsewhere, "api_key": "another"}).status_code == 302
    assert usable_key(cast, provider) == ("another", "")


def test_a_named_variable_replaces_a_stored_key_and_the_other_way_round(
    cast: Cast, admin_client: Client, settings: Any
) -> None:
    settings.PROVIDER_KEYS = {"PROVIDER_KEY_OPENAI": "from-the-environment"}
    provider = entered(cast, admin_client, api_key=SECRET)
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    named = provider_form(cast, key_variable="PROVIDER_KEY_OPENAI")

    both = admin_client.post(page, {**named, "api_key": SECRET})
    admin_client.post(page, named)
    assert usable_key(cast, provider) == ("from-the-environment", "")
    assert provider.encrypted_key == ""
    admin_client.post(page, {**named, "api_key": SECRET})

    assert "not both" in both.content.decode()
    assert SECRET not in both.content.decode()
    assert usable_key(cast, provider) == (SECRET, "")


def test_a_stored_key_is_removed(cast: Cast, admin_client: Client) -> None:
    provider = entered(cast, admin_client, api_key=SECRET)
    page = reverse("admin:routing_provider_change", args=[provider.pk])
    remove = provider_form(cast, remove_key="on")

    both = admin_client.post(page, {**remove, "api_key": "another"})
    assert "not both" in both.content.decode()
    assert usable_key(cast, provider) == (SECRET, "")
    assert "Remove the stored key" in admin_client.get(page).content.decode()
    assert admin_client.post(page, remove).status_code == 302

    assert usable_key(cast, provider) == ("", "")
    assert provider.encrypted_key == ""
    assert "Remove the stored key" not in admin_client.get(page).content.decode()


def test_a_key_of_several_words_is_refused_and_not_repeated(
    cast: Cast, admin_client: Client
) -> None:
    answer = admin_client.post(ADD_PROVIDER, provider_form(cast, api_key="Bearer sk-1"))

    assert "one word of plain characters" in answer.content.decode()
    assert "sk-1" not in answer.content.decode()
    assert kept(cast, Provider) == 0


def test_keys_survive_a_new_secret_while_the_old_one_is_named(
    cast: Cast, admin_client: Client, settings: Any
) -> None:
    settings.PROVIDER_KEYS_SECRETS = ["old"]
    provider = entered(cast, admin_client, api_key=SECRET)

    settings.PROVIDER_KEYS_SECRETS = ["new", "old"]
    assert usable_key(cast, provider) == (SECRET, "")
    settings.PROVIDER_KEYS_SECRETS = ["new"]
    assert usable_key(cast, provider)[1].endswith("Enter it again.")


def test_a_key_copied_to_another_team_does_not_open(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    provider = entered(cast, admin_client, api_key=SECRET)
    with team_scope(team_ids=[others.team.id], actor="test"):
        copied = make_provider(
            others, base_url=provider.base_url, encrypted_key=provider.encrypted_key
        )

    assert usable_key(others, copied)[0] == ""
