"""API keys: issued and revoked here; their secret is shown once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from teams.admin_permissions import ADMINS
from teams.models import ApiKey
from teams.services.keys import issue_key, revoke_key

from .base import TeamAdmin
from .confirm import Change, confirm_and_run
from .display import moment
from .filters import OpenFirstFilter
from .theme import RelatedFilter, action, display

_TOKEN = "issued_token"  # noqa: S105 - the name of an attribute


def _revoke(request: HttpRequest, key: ApiKey, reason: str) -> None:
    del request, reason
    revoke_key(team_id=key.team_id, key_id=key.pk, now=timezone.now())


REVOKE: Change[ApiKey] = Change(
    verb="Revoke",
    done="revoked",
    explanation="Whoever uses these keys is refused from the next request on, for ever.",
    apply=_revoke,
    roles=ADMINS,
)


class ValidityFilter(OpenFirstFilter):
    """Valid keys first."""

    title = "validity"
    parameter_name = "validity"
    states = {
        "valid": ("Valid", Q(revoked_at__isnull=True)),
        "revoked": ("Revoked", Q(revoked_at__isnull=False)),
        "all": ("All", Q()),
    }


@admin.register(ApiKey)
class ApiKeyAdmin(TeamAdmin[ApiKey]):
    """Keys by their public prefix; nothing here knows a key's secret."""

    add_roles = act_roles = ADMINS
    list_display = ["prefix", "name", "agent", "team", "validity", "created", "last_used"]
    list_filter = [ValidityFilter, ("team", RelatedFilter), ("agent", RelatedFilter)]
    list_select_related = ["team", "agent"]
    search_fields = ["prefix", "name"]
    readonly_fields = ["prefix", "validity", "created", "last_used", "revoked"]
    actions = ["revoke_selected"]
    actions_detail = ["revoke_this"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """What a new key needs, or all that may be known of a stored one."""
        del request
        asked = ["team", "agent", "name"]
        if obj is None:
            return asked
        return [*asked, "prefix", "validity", "created", "last_used", "revoked"]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Never by the digest, which would answer guesses."""
        if lookup.startswith("digest"):
            return False
        return super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Issue the key; its secret goes to the answer of this request alone."""
        del request, form, change
        issued = issue_key(team_id=obj.team_id, agent=obj.agent, name=obj.name)
        obj.pk, obj.prefix = issued.key.pk, issued.key.prefix
        setattr(obj, _TOKEN, issued.token)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page with the secret: no cookie and no session ever holds it."""
        del post_url_continue
        context = {
            **self.admin_site.each_context(request),
            "title": "Your new API key",
            "opts": self.opts,
            "key": obj,
            "token": getattr(obj, _TOKEN),
        }
        return TemplateResponse(request, "admin/teams/apikey/issued.html", context)

    @action(description="Revoke", permissions=["act"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[ApiKey]
    ) -> HttpResponse | None:
        """Revoke the chosen keys."""
        return confirm_and_run(self, request, queryset, REVOKE)

    @action(description="Revoke", permissions=["act"], url_path="revoke", icon="block")
    def revoke_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke this key."""
        return self.change_this(request, object_id, REVOKE)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """No button for a key that is revoked."""
        key = self.get_object(request, object_id)
        is_valid = key is not None and key.revoked_at is None
        return super().get_actions_detail(request, object_id) if is_valid else []

    @display(
        description="validity",
        ordering="revoked_at",
        label={"valid": "success", "revoked": "danger"},
    )
    def validity(self, key: ApiKey) -> str:
        """Whether it still opens anything."""
        return "revoked" if key.revoked_at else "valid"

    @display(description="issued", ordering="created_at")
    def created(self, key: ApiKey) -> str:
        """When it was issued."""
        return moment(key.created_at)

    @display(description="last used", ordering="last_used_at")
    def last_used(self, key: ApiKey) -> str:
        """When it was last used, to half a minute."""
        return moment(key.last_used_at)

    @display(description="revoked")
    def revoked(self, key: ApiKey) -> str:
        """When it was revoked."""
        return moment(key.revoked_at)
