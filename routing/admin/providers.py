"""Providers: the endpoints that models are asked at."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.views.decorators.http import require_POST

from routing.domain.endpoints import problem_with_key_name, problem_with_url
from routing.models import Provider
from routing.services.models import provider_key
from routing.services.provider_checks import prepare_check
from teams.admin.base import TeamAdmin, TeamOwnedForm
from teams.admin.display import NOTHING, page_of, time_column
from teams.admin.theme import RelatedFilter, YesNoFilter, display
from teams.admin_permissions import ADMINS
from teams.middleware import outside_staff_scope
from teams.models import Team

_KEY = "key_variable"


class ProviderForm(TeamOwnedForm):
    """A provider whose key this server has and may send there."""

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse a key that could not be sent; what may be a key itself is not shown again."""
        values = super().clean()
        url, name = values.get("base_url", ""), values.get(_KEY, "")
        if words := problem_with_key_name(name):
            self.add_error(_KEY, words)
            self.data = {**self.data, _KEY: ""}
            return values
        team = Team.objects.filter(pk=self.team_id).first() if self.team_id else None
        if team is not None and url and not problem_with_url(url):
            _, problem = provider_key(provider=Provider(base_url=url, key_variable=name), team=team)
            if problem:
                self.add_error(_KEY, problem)
        return values


@admin.register(Provider)
class ProviderAdmin(TeamAdmin[Provider]):
    """Endpoints by name; their keys stand in the server's environment and never here."""

    add_roles = change_roles = delete_roles = ADMINS
    form = ProviderForm
    list_display = ["name", "base_url", "key", "is_enabled", "team", "created"]
    list_filter = [("team", RelatedFilter), ("is_enabled", YesNoFilter)]
    list_select_related = ["team"]
    search_fields = ["name", "base_url"]
    fields = ["team", "name", "base_url", _KEY, "timeout_seconds", "is_enabled", "created"]
    readonly_fields = ["created"]
    help_texts = {
        "name": "As people call it, such as OpenAI or the cluster.",
        "is_enabled": "Off: none of its models is asked.",
    }
    created = time_column("created_at", "created")
    change_form_template = "admin/routing/provider/change_form.html"

    def get_urls(self) -> list[Any]:  # Any: Django's patterns
        """The pages of a provider, and the one that tries it out."""
        test = self.admin_site.admin_view(require_POST(self.test))
        return [
            path("<path:object_id>/test/", test, name="routing_provider_test"),
            *super().get_urls(),
        ]

    def test(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask the stored provider whether it answers, and say what it did and how long it took."""
        provider = self.get_object(request, object_id)
        if provider is None:
            raise Http404
        if not self.has_change_permission(request, provider):
            raise PermissionDenied
        prepared = prepare_check(provider=provider, team=provider.team)
        name, page = provider.name, page_of("routing_provider", provider.pk)
        # An endpoint is waited for, which no transaction should be.
        with outside_staff_scope(request):
            found = prepared.run()
        say = messages.success if found.is_well else messages.warning
        say(request, f"Test of {name}: {found.words} ({found.milliseconds} ms)")
        return HttpResponseRedirect(page)

    @display(description="API key", label={"set": "success", "not usable": "danger"})
    def key(self, provider: Provider) -> str:
        """Whether its key can be sent; never the key."""
        if not provider.key_variable:
            return NOTHING
        _, problem = provider_key(provider=provider, team=provider.team)
        return "not usable" if problem else "set"
