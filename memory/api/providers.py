"""Providers and models of a team, and its budgets: what else only the web admin sets."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import (
    NameField,
    NoteField,
    OneOfField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
    TextField,
)
from memory.api.schemas import (
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from routing.domain.complexity import Tier
from routing.models import (
    MAX_CONTEXT_TOKENS,
    MAX_PRICE_USD,
    MAX_TIMEOUT_SECONDS,
    MIN_CONTEXT_TOKENS,
    ChatModel,
    Provider,
)
from routing.services.keys import MAX_KEY_CHARS
from routing.services.models import prepare_check, provider_key
from routing.services.providers import NewKey, delete_row, save_model, save_provider
from teams.domain.agent_document import MAX_FOCUS_CHARS
from teams.errors import NotFoundError
from teams.models import Team
from teams.services.team_settings import change_team

MODEL_TIERS = [(tier.value, tier.value) for tier in Tier]
KEY_STATES = ["none", "set", "unusable"]
_TEAM_KEY = "Providers, models and settings of a team need a key of the team, bound to no agent."
_Row = TypeVar("_Row", Provider, ChatModel)
_MOST_PRIORITY = 32_767
_MOST_BUDGET_USD = 999_999.0


@extend_schema_field({"type": "number", "minimum": 0})
class UsdField(StrictFloatField):
    """An amount in USD, read as the decimal number that was written."""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        return Decimal(str(super().to_internal_value(data)))


class ProviderChangeSerializer(StrictSerializer):
    """New values of a provider; fields left out stay unchanged."""

    name = NameField(required=False, max_length=60)
    base_url = TextField(required=False, max_length=500, help_text="For example https://host/v1.")
    api_key = TextField(
        required=False,
        max_length=MAX_KEY_CHARS,
        write_only=True,
        help_text="Stored encrypted and never returned. It belongs to scheme, host and port of the"
        " address: after a change of these it is sent again.",
    )
    remove_key = StrictBooleanField(required=False, help_text="Remove the stored API key.")
    key_variable = TextField(
        required=False,
        allow_blank=True,
        max_length=100,
        help_text="In place of an API key: the server's environment variable that holds it, such as"
        " PROVIDER_KEY_OPENAI.",
    )
    timeout_seconds = StrictFloatField(
        required=False,
        min_value=0.1,
        max_value=MAX_TIMEOUT_SECONDS,
        help_text="Seconds without a response after which the next model is tried.",
    )
    enabled = StrictBooleanField(required=False, source="is_enabled")


class NewProviderSerializer(ProviderChangeSerializer):
    """An OpenAI-compatible endpoint to add."""

    example = {
        "name": "OpenAI",
        "base_url": "https://api.openai.com/v1",
        "api_key": "sk-example",
        "timeout_seconds": 60.0,
    }

    name = NameField(max_length=60)
    base_url = TextField(max_length=500, help_text="For example https://host/v1.")


class ProviderSerializer(ApiSerializer):
    """An OpenAI-compatible endpoint; its key is never shown."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    base_url = serializers.CharField()
    key = serializers.SerializerMethodField(
        help_text="unusable: it is missing on the server, or bound to another address or team."
    )
    key_variable = serializers.CharField()
    timeout_seconds = serializers.FloatField()
    enabled = serializers.BooleanField(source="is_enabled")
    created_at = serializers.DateTimeField()

    @extend_schema_field({"type": "string", "enum": KEY_STATES})
    def get_key(self, provider: Provider) -> str:
        if not (provider.key_variable or provider.encrypted_key):
            return "none"
        return "unusable" if provider_key(provider=provider, team=provider.team)[1] else "set"


class EndpointCheckSerializer(ApiSerializer):
    """The result of a test of a provider."""

    ok = serializers.BooleanField(source="is_well")
    detail = serializers.CharField(source="words")
    milliseconds = serializers.IntegerField()


class ChatModelChangeSerializer(StrictSerializer):
    """New values of a model; fields left out stay unchanged. Prices are USD per 1,000 tokens."""

    provider = serializers.UUIDField(required=False)
    name = TextField(required=False, max_length=200, help_text="The provider's name for it.")
    tier = OneOfField(choices=MODEL_TIERS, required=False)
    input_price = UsdField(required=False, min_value=0, max_value=float(MAX_PRICE_USD))
    output_price = UsdField(required=False, min_value=0, max_value=float(MAX_PRICE_USD))
    context_window = StrictIntegerField(
        required=False, min_value=MIN_CONTEXT_TOKENS, max_value=MAX_CONTEXT_TOKENS
    )
    max_output_tokens = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_CONTEXT_TOKENS
    )
    priority = StrictIntegerField(
        required=False,
        min_value=0,
        max_value=_MOST_PRIORITY,
        help_text="Within a tier the lowest is tried first.",
    )
    enabled = StrictBooleanField(required=False, source="is_enabled")


class NewChatModelSerializer(ChatModelChangeSerializer):
    """A model of a provider to add. Prices are USD per 1,000 tokens."""

    example = {
        "provider": "01920000-0000-7000-8000-000000000001",
        "name": "gpt-5-mini",
        "tier": "fast",
        "input_price": 0.00025,
        "output_price": 0.002,
        "context_window": 400000,
    }

    provider = serializers.UUIDField()
    name = TextField(max_length=200, help_text="The provider's name for it.")
    tier = OneOfField(choices=MODEL_TIERS)
    input_price = UsdField(min_value=0, max_value=float(MAX_PRICE_USD))
    output_price = UsdField(min_value=0, max_value=float(MAX_PRICE_USD))


class ChatModelSerializer(ApiSerializer):
    """A model that answers in one tier. Prices are USD per 1,000 tokens."""

    id = serializers.UUIDField()
    provider = serializers.UUIDField(source="provider_id")
    name = serializers.CharField()
    tier = serializers.ChoiceField(choices=MODEL_TIERS)
    input_price = serializers.FloatField()
    output_price = serializers.FloatField()
    context_window = serializers.IntegerField()
    max_output_tokens = serializers.IntegerField()
    priority = serializers.IntegerField()
    enabled = serializers.BooleanField(source="is_enabled")
    created_at = serializers.DateTimeField()


class ChatModelFilterSerializer(PageQuerySerializer):
    """Filters of the list of models; all must match."""

    provider = serializers.UUIDField(required=False)
    tier = OneOfField(choices=MODEL_TIERS, required=False)


class TeamSettingsSerializer(ApiSerializer):
    """The team's name, budgets and extraction instructions."""

    slug = serializers.CharField()
    name = serializers.CharField()
    monthly_budget_usd = serializers.FloatField(
        allow_null=True, help_text="null: the server's default."
    )
    daily_user_budget_usd = serializers.FloatField(
        allow_null=True, help_text="null: the server's default."
    )
    extraction_instructions = serializers.CharField()
    instructions_are_read = serializers.SerializerMethodField(
        help_text="false: the server extracts with its built-in model, which reads none."
    )

    def get_instructions_are_read(self, team: Team) -> bool:
        return bool(settings.EXTRACTION_MODEL)


class TeamSettingsChangeSerializer(StrictSerializer):
    """New settings of the team; fields left out stay unchanged."""

    example = {
        "monthly_budget_usd": 50.0,
        "daily_user_budget_usd": 1.0,
        "extraction_instructions": "Look for allergies. Leave out the weather.",
        "reason": "A new season.",
    }

    monthly_budget_usd = UsdField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=_MOST_BUDGET_USD,
        help_text="Maximum model cost of the team per month; null: the server's default.",
    )
    daily_user_budget_usd = UsdField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=_MOST_BUDGET_USD,
        help_text="Maximum model cost per person and day; null: the server's default.",
    )
    extraction_instructions = TextField(
        required=False,
        allow_blank=True,
        max_length=MAX_FOCUS_CHARS,
        help_text="What to look for and what to leave out when memories are extracted.",
    )
    reason = NoteField(max_length=500)


ProviderPage = page_schema("ProviderPage", ProviderSerializer)
ChatModelPage = page_schema("ChatModelPage", ChatModelSerializer)


class _SettingsViewSet(ApiViewSet):
    """Settings of a team; each address needs a key of the team."""

    def check_permissions(self, request: Request) -> None:
        """Also ForbiddenError for a key of one agent or of projects."""
        super().check_permissions(request)
        self.require_team_key(_TEAM_KEY)

    def providers(self) -> QuerySet[Provider]:
        """The team's providers."""
        rows = Provider.objects.filter(team_id=self.principal.team_id)
        return rows.select_related("team").order_by("-id")

    def models(self) -> QuerySet[ChatModel]:
        """The team's models."""
        return ChatModel.objects.filter(team_id=self.principal.team_id).order_by("-id")


class ProviderViewSet(_SettingsViewSet):
    """Endpoints that the team's models are called at. Each address needs a key of the team."""

    @operation("providers_list", query=PageQuerySerializer, answer=ProviderPage, refuses=(403, 422))
    def entries(self, given: Given) -> Response:
        """The team's providers, newest first."""
        with self.team_scope():
            return self.page(self.providers(), ProviderSerializer)

    @operation(
        "providers_create",
        body=NewProviderSerializer,
        answer={201: (ProviderSerializer, "Its models may be added.")},
        refuses=(403, 409, 422),
    )
    def create(self, given: Given) -> Response:
        """Add a provider. Its API key is sent here, or named as a variable of the server."""
        with self.team_scope():
            team = Team.objects.get(pk=self.principal.team_id)
            made = _changed_provider(Provider(team=team), given)
            return Response(ProviderSerializer(made).data, status=201)

    @operation("providers_retrieve", query=QuerySerializer, answer=ProviderSerializer)
    def load(self, given: Given, pk: UUID) -> Response:
        """A provider, without its key."""
        with self.team_scope():
            return Response(ProviderSerializer(self._provider(pk)).data)

    @operation(
        "providers_partial_update",
        body=ProviderChangeSerializer,
        answer=ProviderSerializer,
        refuses=WITH_CONFLICT,
    )
    def change(self, given: Given, pk: UUID) -> Response:
        """Change a provider; it holds from the next request on."""
        with self.team_scope():
            changed = _changed_provider(self._provider(pk, is_locked=True), given)
            return Response(ProviderSerializer(changed).data)

    @operation(
        "providers_destroy", query=QuerySerializer, answer={204: None}, refuses=WITH_CONFLICT
    )
    def remove(self, given: Given, pk: UUID) -> Response:
        """Remove a provider that has no models."""
        with self.team_scope():
            delete_row(row=self._provider(pk))
        return Response(status=204)

    @operation("providers_test", body=StrictSerializer, answer=EndpointCheckSerializer)
    def test(self, given: Given, pk: UUID) -> Response:
        """Ask the provider for its models and say how it answers; `ok` is false where it fails."""
        with self.team_scope():
            provider = self._provider(pk)
            check = prepare_check(provider=provider, team=provider.team)
        # No transaction should wait for an endpoint.
        return Response(EndpointCheckSerializer(check()).data)

    def _provider(self, pk: UUID, *, is_locked: bool = False) -> Provider:
        return _found(self.providers(), pk, "provider", is_locked=is_locked)


class ChatModelViewSet(_SettingsViewSet):
    """Models of the team, by tier. Each address needs a key of the team."""

    @operation(
        "chat_models_list",
        query=ChatModelFilterSerializer,
        answer=ChatModelPage,
        refuses=(403, 422),
    )
    def entries(self, given: Given) -> Response:
        """The team's own models, newest first; without any it uses those of the server."""
        with self.team_scope():
            filters = {"provider_id" if name == "provider" else name: given[name] for name in given}
            return self.page(self.models().filter(**filters), ChatModelSerializer)

    @operation(
        "chat_models_create",
        body=NewChatModelSerializer,
        answer={201: (ChatModelSerializer, "It may answer from now on.")},
        refuses=(403, 409, 422),
    )
    def create(self, given: Given) -> Response:
        """Add a model. The first one takes the place of all models of the server's settings."""
        with self.team_scope():
            made = self._changed(ChatModel(team_id=self.principal.team_id), given)
            return Response(ChatModelSerializer(made).data, status=201)

    @operation("chat_models_retrieve", query=QuerySerializer, answer=ChatModelSerializer)
    def load(self, given: Given, pk: UUID) -> Response:
        """A model of the team."""
        with self.team_scope():
            return Response(ChatModelSerializer(self._model(pk)).data)

    @operation(
        "chat_models_partial_update",
        body=ChatModelChangeSerializer,
        answer=ChatModelSerializer,
        refuses=WITH_CONFLICT,
    )
    def change(self, given: Given, pk: UUID) -> Response:
        """Change a model, such as its tier or prices; past spend keeps its prices."""
        with self.team_scope():
            changed = self._changed(self._model(pk, is_locked=True), given)
            return Response(ChatModelSerializer(changed).data)

    @operation("chat_models_destroy", query=QuerySerializer, answer={204: None})
    def remove(self, given: Given, pk: UUID) -> Response:
        """Remove a model."""
        with self.team_scope():
            delete_row(row=self._model(pk))
        return Response(status=204)

    def _changed(self, model: ChatModel, given: Given) -> ChatModel:
        if (provider_id := given.pop("provider", None)) is not None:
            provider = self.providers().filter(pk=provider_id).first()
            if provider is None:
                raise serializers.ValidationError({"provider": ["There is no such provider."]})
            model.provider = provider
        for name, value in given.items():
            setattr(model, name, value)
        return save_model(model=model)

    def _model(self, pk: UUID, *, is_locked: bool = False) -> ChatModel:
        return _found(self.models(), pk, "model", is_locked=is_locked)


class TeamViewSet(_SettingsViewSet):
    """The team's budgets and extraction instructions. Each address needs a key of the team."""

    @operation(
        "team_retrieve", query=QuerySerializer, answer=TeamSettingsSerializer, refuses=(403, 422)
    )
    def load(self, given: Given) -> Response:
        """The team's settings that the API may change."""
        with self.team_scope():
            team = Team.objects.get(pk=self.principal.team_id)
            return Response(TeamSettingsSerializer(team).data)

    @operation(
        "team_partial_update",
        body=TeamSettingsChangeSerializer,
        answer=TeamSettingsSerializer,
        refuses=(403, 422),
    )
    def change(self, given: Given) -> Response:
        """Change budgets and extraction instructions; each change is kept as a version.

        An agent's own budgets and instructions are in its document (`PUT /v1/agents/{slug}`).
        """
        reason = given.pop("reason")
        with self.team_scope(reason=reason):
            team = change_team(team_id=self.principal.team_id, columns=given)
            return Response(TeamSettingsSerializer(team).data)


def _found(rows: QuerySet[_Row], pk: UUID, name: str, *, is_locked: bool) -> _Row:
    """Returns the row, locked for a change; raises NotFoundError without one."""
    found = (rows.select_for_update(of=("self",)) if is_locked else rows).filter(pk=pk).first()
    if found is None:
        raise NotFoundError(f"There is no such {name}.")
    return found


def _changed_provider(provider: Provider, given: Given) -> Provider:
    key = NewKey(
        typed=given.pop("api_key", ""),
        is_removed=given.pop("remove_key", False),
        is_named="key_variable" in given,
    )
    for name, value in given.items():
        setattr(provider, name, value)
    return save_provider(provider=provider, key=key)
