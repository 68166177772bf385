"""Webhooks of a team, and what was sent to them; a secret is shown once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.satellites.webhooks import endpoints
from memory.satellites.webhooks.endpoints import EndpointWithSecret
from memory.satellites.webhooks.models import WEBHOOK_EVENTS, WebhookDelivery, WebhookEndpoint
from teams.admin.base import TeamAdmin, TeamOwnedForm, section
from teams.admin.confirm import Change, confirm_and_run, list_action, page_action
from teams.admin.display import excerpt_column, label_column, page_of, row_column, time_column
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChecksWidget, RelatedFilter, action, display
from teams.admin_permissions import ADMINS
from teams.errors import DomainError
from teams.tenancy import database_now

_SECRET = "made_secret"  # noqa: S105 - the name of an attribute
_COLOURS = {"waiting": "info", "delivered": "success", "dead": "danger"}
_State = WebhookDelivery.State


def _rotate(request: HttpRequest, endpoint: WebhookEndpoint, _: str) -> None:
    setattr(request, _SECRET, endpoints.rotate_secret(endpoint=endpoint, now=database_now()))


def _test(_: HttpRequest, endpoint: WebhookEndpoint, __: str) -> None:
    endpoints.send_test(endpoint=endpoint, now=database_now())


def _replay(_: HttpRequest, delivery: WebhookDelivery, __: str) -> None:
    endpoints.replay(endpoint=delivery.endpoint, now=database_now(), delivery_id=delivery.id)


ROTATE: Change[WebhookEndpoint] = Change(
    verb="Rotate secret",
    done="rotated",
    explanation="A new secret is shown once. The current one stays valid for 24 hours, so that you"
    " can update the receiver.",
    apply=_rotate,
    roles=ADMINS,
)
TEST: Change[WebhookEndpoint] = Change(
    verb="Send test event",
    done="tested",
    explanation="Sends an event of the type webhook.test. See Webhook deliveries for the result.",
    apply=_test,
    roles=ADMINS,
)
REPLAY_DEAD: Change[WebhookEndpoint] = Change(
    verb="Retry failed deliveries",
    done="retried",
    explanation="They are sent after newer events, in their order and with their original ids.",
    apply=lambda _, endpoint, __: (
        "Failed deliveries queued again:"
        f" {endpoints.replay(endpoint=endpoint, now=database_now()):,}."
    ),
    roles=ADMINS,
)
REMOVE: Change[WebhookEndpoint] = Change(
    verb="Delete",
    done="deleted",
    explanation="No more events are sent to it. Its pending and failed deliveries are deleted too.",
    apply=lambda _, endpoint, __: endpoints.delete_endpoint(endpoint=endpoint),
    roles=ADMINS,
)
REPLAY: Change[WebhookDelivery] = Change(
    verb="Retry",
    done="queued",
    explanation="The receiver gets the same event with the same id again.",
    apply=_replay,
    roles=ADMINS,
)


class WebhookForm(TeamOwnedForm):
    """An endpoint, its events ticked."""

    events = forms.MultipleChoiceField(
        choices=[(each, each) for each in WEBHOOK_EVENTS],
        widget=ChecksWidget,
        help_text="Events to send.",
    )

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse an address that nothing may be sent to, and one more than a team may have."""
        values = super().clean()
        try:
            if "url" in values:
                endpoints.check_url(values["url"])
            if self.team_id and self.instance._state.adding:
                endpoints.require_room(team_id=self.team_id)
        except DomainError as error:
            self.add_error(error.field or None, error.message)
        return values


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(TeamAdmin[WebhookEndpoint]):
    """Programs of the team that are told of changes; nothing here shows a stored secret."""

    add_roles = change_roles = act_roles = view_roles = ADMINS
    form = WebhookForm
    list_display = ["__str__", "health", "include_text", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["name", "url"]
    when_empty = "Webhooks send events, such as new memories, to your own programs."
    help_texts = {"url": "An https address that is not in a private network."}
    actions_detail = ["test_this", "replay_this", "rotate_this", "remove_this"]
    readonly_fields = ["health", "note", "failing", "created", "deliveries_link"]

    test_this = page_action("test_this", TEST, "Send test event", icon="send")
    replay_this = page_action("replay_this", REPLAY_DEAD, "Retry failed", icon="replay")
    remove_this = page_action("remove_this", REMOVE, "Delete", icon="delete")
    created = time_column("created_at", "created", ordering="id")
    failing = time_column("failing_since", "failing since")

    def get_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> Any:
        """Returns the fields of a new endpoint or of a stored one."""  # Any: Django's own shape
        asked = ["team", "name", "url", "events", "include_text"]
        return asked if obj is None else [*asked, "is_enabled", *self.readonly_fields]

    def useful_actions(self, row: WebhookEndpoint) -> Collection[str]:
        """Nothing is sent to one that is disabled."""
        return self.actions_detail if row.is_enabled else ["rotate_this", "remove_this"]

    def save_model(
        self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool
    ) -> None:  # Any: Django's own signature
        """Save it; the secret of a new one goes to the answer of this request alone."""
        fields = ("url", "events", "name", "include_text")
        given = {name: form.cleaned_data[name] for name in fields}
        if change:
            stored = endpoints.endpoint_of(team_id=obj.team_id, endpoint_id=obj.pk)
            given["is_enabled"] = obj.is_enabled
            endpoints.change_endpoint(endpoint=stored, changes=given)
            return
        made = endpoints.create_endpoint(team_id=obj.team_id, **given)
        obj.pk = made.endpoint.pk
        setattr(request, _SECRET, made)

    def response_add(
        self, request: HttpRequest, obj: WebhookEndpoint, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page with the secret."""
        return self._show_once(request, getattr(request, _SECRET))

    @action(description="Rotate secret", permissions=["act"], url_path="rotate", icon="autorenew")
    def rotate_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give it a new secret, after a confirmation, and show it."""
        rows: QuerySet[WebhookEndpoint] = WebhookEndpoint.objects.filter(pk=object_id)
        asked = confirm_and_run(self, request, rows, ROTATE)
        if asked is not None:
            return asked
        made: EndpointWithSecret | None = getattr(request, _SECRET, None)
        if made is None:  # a message says why
            return HttpResponseRedirect(page_of("webhooks_webhookendpoint", object_id))
        return self._show_once(request, made)

    def _show_once(self, request: HttpRequest, made: EndpointWithSecret) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Signing secret",
            "opts": self.opts,
            "webhook": made.endpoint,
            "secret": made.secret,
        }
        return TemplateResponse(request, "admin/webhooks/webhookendpoint/secret.html", context)

    @display(
        description="health",
        ordering="failing_since",
        label={"healthy": "success", "failing": "warning", "disabled": "danger"},
    )
    def health(self, endpoint: WebhookEndpoint) -> str:
        """The state of the endpoint: healthy, failing or disabled."""
        if not endpoint.is_enabled:
            return "disabled"
        return "failing" if endpoint.failing_since else "healthy"

    @display(description="deliveries")
    def deliveries_link(self, endpoint: WebhookEndpoint) -> SafeString:
        """The list of what was sent to it."""
        page = reverse("admin:webhooks_webhookdelivery_changelist")
        return format_html('<a href="{}?endpoint={}">Show deliveries</a>', page, endpoint.pk)


class StateFilter(OpenFirstFilter):
    """Filter by state; undelivered ones by default."""

    title = "state"
    parameter_name = "state"
    states = {
        "open": ("Not delivered", ~Q(state=_State.DELIVERED)),
        **{state.value: (str(state.label), Q(state=state)) for state in _State},
        "all": ("All", Q()),
    }


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(TeamAdmin[WebhookDelivery]):
    """Events for webhooks: the list opens on those that wait or are dead."""

    view_roles = act_roles = ADMINS
    list_display = ["type", "state_label", "endpoint", "attempts", "problem", "team", "happened"]
    list_filter = [StateFilter, ("team", RelatedFilter), ("happened_at", DaysFilter)]
    list_select_related = ["team", "endpoint"]
    ordering = ["-seq"]
    when_empty = "No deliveries are waiting or have failed."
    actions = ["replay_selected"]
    actions_detail = ["replay_this"]
    fieldsets = [
        section(
            None,
            ("type", "state", "attempts"),
            ("endpoint_link", "team"),
            ("happened", "attempted", "due"),
            ("status_code", "error"),
            ("id", "data"),
        )
    ]

    replay_selected = list_action("replay_selected", REPLAY, "Retry")
    replay_this = page_action("replay_this", REPLAY, "Retry", icon="replay")
    state_label = label_column("state", "state", _COLOURS)
    problem = excerpt_column("error", "problem", length=60)
    endpoint_link = row_column("endpoint", "webhook")
    happened = time_column("happened_at", "happened", ordering="seq")
    attempted = time_column("attempted_at", "last attempt")
    due = time_column("due_at", "next attempt")

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """The link of a webhook filters by it."""  # Any: Django's own signature
        return lookup == "endpoint" or bool(super().lookup_allowed(lookup, value, request))

    def useful_actions(self, row: WebhookDelivery) -> Collection[str]:
        """Anything can be sent again; what waits, at once."""
        return self.actions_detail
