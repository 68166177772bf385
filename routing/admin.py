"""The web admin's pages of providers, models, routing decisions and spend."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from routing.domain.complexity import Tier
from routing.domain.endpoints import problem_with_key_name
from routing.models import ChatModel, Provider, RoutingDecision, SpendEntry, SpendTotal
from routing.services.models import prepare_check, provider_key
from routing.services.providers import NAME as _KEY
from routing.services.providers import REMOVED as _REMOVE
from routing.services.providers import TYPED as _TYPED
from routing.services.providers import NewKey, apply_key, note_change
from teams.admin import display
from teams.admin.base import TeamAdmin, TeamOwnedForm, section
from teams.admin.filters import DaysFilter, condition_filter, value_filter
from teams.admin.theme import (
    ChoiceFilter,
    PasswordWidget,
    RelatedFilter,
    Row,
    SwitchWidget,
    YesNoFilter,
)
from teams.admin_permissions import ADMINS
from teams.middleware import outside_staff_scope
from teams.models import Team

# Tiers of answers, and of calls in the background.
TIERS = (*(tier.value for tier in Tier), "extraction", "review", "judge")
TIER_COLOURS = {"fast": "success", "balanced": "info", "powerful": "warning"}
_OUTCOME_COLOURS = {"answered": "success", "cut": "warning", "failed": "danger", "advised": "info"}
# In place of an id in addresses.
_NEW = "add"


def _dollars(amount: Decimal | None) -> str:
    """An amount in USD with at least two places and without further zeros; a dash for none."""
    if amount is None:
        return display.NOTHING
    whole, _, part = f"{amount:f}".partition(".")
    return f"{whole}.{part.rstrip('0'):0<2}"


def _dollar_column(field: str, title: str) -> display.Column:
    return display.column(title, lambda row: _dollars(getattr(row, field)), ordering=field)


def _key_state(provider: Provider) -> str:
    if not (provider.key_variable or provider.encrypted_key):
        return display.NOTHING
    _, problem = provider_key(provider=provider, team=provider.team)
    return "not usable" if problem else "set"


class ProviderForm(TeamOwnedForm):
    """A provider whose key this server has and may send there; a typed key is never shown."""

    api_key = forms.CharField(
        label="API key",
        required=False,
        widget=PasswordWidget(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
    )
    remove_key = forms.BooleanField(
        label="Remove the stored key", required=False, widget=SwitchWidget
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        if _TYPED in self.fields:
            said = "Stored encrypted and never shown again."
            if self.instance.encrypted_key:
                said = f"A key is stored; leave this empty to keep it. {said}"
            else:
                del self.fields[_REMOVE]
            self.fields[_TYPED].help_text = said

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuses a key that could not be sent; what may be a key itself is not shown again."""
        values = super().clean()
        team = Team.objects.filter(pk=self.team_id).first() if self.team_id else None
        provider = Provider(
            base_url=values.get("base_url", ""),
            key_variable=values.get(_KEY, ""),
            encrypted_key=self.instance.encrypted_key,
        )
        key = NewKey(
            typed=values.get(_TYPED, ""),
            is_removed=bool(values.get(_REMOVE)),
            is_named=_KEY in self.changed_data,
        )
        field, problem = apply_key(provider=provider, team=team, key=key)
        if problem:
            self.add_error(field, problem)
        if problem_with_key_name(provider.key_variable):
            self.data = {**self.data, _KEY: ""}
        if not self.errors:
            values[_KEY] = provider.key_variable
            self.instance.encrypted_key = provider.encrypted_key
        return values


class _NotedAdmin(TeamAdmin[Row]):
    """Leaves the same event of each change as the API."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        note_change(row=obj, op="update" if change else "create")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        note_change(row=obj, op="delete")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            note_change(row=row, op="delete")
        super().delete_queryset(request, queryset)


@admin.register(Provider)
class ProviderAdmin(_NotedAdmin[Provider]):
    """Endpoints by name; their keys are in the server's environment or encrypted."""

    add_roles = change_roles = delete_roles = ADMINS
    form = ProviderForm
    list_display = ["name", "base_url", "key", "is_enabled", "team", "created"]
    list_filter = [("team", RelatedFilter), ("is_enabled", YesNoFilter)]
    search_fields = ["name", "base_url"]
    readonly_fields = ["created"]
    help_texts = {
        "name": "For example OpenAI.",
        "key_variable": "Instead of an API key: the server's environment variable that holds it,"
        " for example PROVIDER_KEY_OPENAI. If both are empty, no key is sent.",
        "is_enabled": "Models of a disabled provider are not used.",
    }
    key = display.column("API key", _key_state, label={"set": "success", "not usable": "danger"})
    change_form_template = "admin/routing/provider/change_form.html"

    def get_fields(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        may_write = self.has_change_permission(request, obj)
        removal = [_REMOVE] if obj is not None and obj.encrypted_key else []
        key = [_TYPED, *removal, _KEY] if may_write else ["key"]
        made = [] if obj is None else ["created"]
        return ["team", "name", "base_url", *key, "timeout_seconds", "is_enabled", *made]

    def get_readonly_fields(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "key"]

    def get_urls(self) -> list[Any]:  # Any: Django's patterns
        test = self.admin_site.admin_view(require_POST(self.test))
        return [
            path("<path:object_id>/test/", test, name="routing_provider_test"),
            *super().get_urls(),
        ]

    @method_decorator(sensitive_post_parameters(_TYPED))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(request, *args, **kwargs)

    @method_decorator(sensitive_post_parameters(_TYPED))
    def test(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Tests the provider as the form has it, stored or "add", and says how long it took."""
        is_new = object_id == _NEW
        provider = None if is_new else self.get_object(request, object_id)
        if provider is None and not is_new:
            raise Http404
        is_allowed = (
            self.has_change_permission(request, provider)
            if provider
            else self.has_add_permission(request)
        )
        if not is_allowed:
            raise PermissionDenied
        form = self.get_form(request, provider, change=provider is not None)(
            request.POST, instance=provider
        )
        if form.is_valid():
            unsaved = form.save(commit=False)
            check = prepare_check(provider=unsaved, team=unsaved.team)
            # No transaction should wait for an endpoint.
            with outside_staff_scope(request):
                found = check()
            said = [f"{found.words} ({found.milliseconds} ms)"]
        else:
            labels = {name: f"{field.label}: " for name, field in form.fields.items()}
            said = ["Nothing was sent: the form has errors."] + [
                f"{labels.get(name, '')}{word}"
                for name, words in form.errors.items()
                for word in words
            ]
        # The script of the page asks for the part alone.
        is_part = request.headers.get("HX-Request") == "true"
        template = f"admin/routing/provider/{'test' if is_part else 'test_page'}.html"
        return self.own_page(request, template, "Test of the connection", said=said)


@admin.register(ChatModel)
class ChatModelAdmin(_NotedAdmin[ChatModel]):
    """Models by tier; a team without any uses those of the server's settings."""

    add_roles = change_roles = delete_roles = ADMINS
    list_display = ["name", "tier_label", "provider", "paid_in", "paid_out", "context_window"]
    list_display += ["priority", "is_enabled", "team"]
    list_filter = [
        ("team", RelatedFilter),
        ("tier", ChoiceFilter),
        ("provider", RelatedFilter),
        ("is_enabled", YesNoFilter),
    ]
    list_select_related = ["team", "provider"]
    search_fields = ["name"]
    readonly_fields = ["created"]
    help_texts = {
        "provider": "The provider that serves the model.",
        "tier": "Fast for simple questions, balanced for most, powerful for hard ones. The tier is"
        " chosen for each question; agents can limit it.",
        "is_enabled": "A disabled model is not used. Past spend keeps its prices.",
    }
    tier_label = display.label_column("tier", "tier", TIER_COLOURS)
    paid_in = _dollar_column("input_price", "USD per 1,000 input tokens")
    paid_out = _dollar_column("output_price", "USD per 1,000 output tokens")


AttemptsFilter = condition_filter(
    "failed attempts",
    {"failed": ("Some", ~Q(attempts=[])), "none": ("None", Q(attempts=[]))},
    parameter="attempts",
)


@admin.register(RoutingDecision)
class RoutingDecisionAdmin(TeamAdmin[RoutingDecision]):
    """Every decision, newest first; the words of the query are not stored."""

    when_empty = "No call has been routed to a model yet."
    list_display = [
        *("decided", "tier_label", "model", "score_label", "scorer", "outcome_label", "estimated"),
        *("cost", "agent", "beginning", "team"),
    ]
    list_filter = [
        ("tier", ChoiceFilter),
        ("outcome", ChoiceFilter),
        ("scorer", ChoiceFilter),
        AttemptsFilter,
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent"]
    search_fields = ["=query_hash"]
    search_help_text = "Search by query digest"
    fieldsets = [
        section(
            None,
            ("decided", "tier", "team"),
            ("model", "provider", "reason"),
            ("agent", "person", "query_hash"),
        ),
        section("Score", ("score_label", "scorer"), "scores_document"),
        section("Outcome", ("outcome", "answered_by"), ("estimated", "cost"), "attempts_document"),
    ]

    decided = display.time_column("at", "time", ordering="id")
    tier_label = display.label_column("tier", "tier", TIER_COLOURS)
    outcome_label = display.label_column("outcome", "outcome", _OUTCOME_COLOURS)
    score_label = display.column("score", lambda row: f"{row.score:.1f}", ordering="score")
    estimated = _dollar_column("estimated_usd", "estimate in USD")
    cost = _dollar_column("cost_usd", "cost in USD")
    beginning = display.excerpt_column("reason", "reason")
    person = display.id_column("end_user_id", "teams_enduser", "person")
    scores_document = display.json_column("scores", "scores")
    attempts_document = display.json_column("attempts", "failed attempts")


@admin.register(SpendEntry)
class SpendEntryAdmin(TeamAdmin[SpendEntry]):
    """Every settled call, newest first."""

    list_display = ["settled", "cost", "model", "tier", "tokens", "agent_link", "person", "team"]
    when_empty = "No model has been called yet."
    list_filter = [
        value_filter("tier", TIERS),
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    search_fields = ["=model", "=end_user__external_id"]
    search_help_text = "Search by model, or external id of a person"
    fieldsets = [
        section(
            None,
            ("settled", "cost", "team"),
            ("model", "tier"),
            ("input_tokens", "output_tokens"),
            ("agent_link", "person"),
            ("day", "reservation_id"),
        )
    ]

    settled = display.time_column("at", "time", ordering="id")
    cost = _dollar_column("cost_usd", "cost in USD")
    tokens = display.column(
        "input + output tokens", lambda row: f"{row.input_tokens:,} + {row.output_tokens:,}"
    )
    agent_link = display.row_column("agent", "agent", ordering="agent__slug")
    person = display.row_column("end_user", "person")


@admin.register(SpendTotal)
class SpendTotalAdmin(TeamAdmin[SpendTotal]):
    """The cost of each day and month of the team, an agent or an end user so far."""

    list_display = [
        *("begins_on", "kind", "whose", "spent", "calls", "input_tokens", "output_tokens", "team"),
    ]
    list_filter = [
        ("kind", ChoiceFilter),
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("begins_on", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    search_fields = ["=end_user__external_id", "=agent__slug"]
    search_help_text = "Search by agent, or external id of a person"
    fieldsets = [
        section(
            None,
            ("begins_on", "kind", "team"),
            ("whose", "spent"),
            ("calls", "input_tokens", "output_tokens"),
        )
    ]

    whose = display.column(
        "agent or person", lambda total: display.row_link(total.agent or total.end_user)
    )
    spent = _dollar_column("spent_usd", "spent in USD")
