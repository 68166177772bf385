"""API keys: issued and revoked here; their secret is shown once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from teams.admin_permissions import ADMINS
from teams.models import ApiKey
from teams.services.keys import issue_key, revoke_key

from .base import TeamAdmin
from .confirm import Change, list_action, page_action
from .display import time_column
from .filters import OpenFirstFilter
from .theme import RelatedFilter, display

_TOKEN = "issued_token"  # noqa: S105 - the name of an attribute


def _revoke(request: HttpRequest, key: ApiKey, reason: str) -> None:
    del request, reason
    revoke_key(team_id=key.team_id, key_id=key.pk, now=timezone.now())


REVOKE: Change[ApiKey] = Change(
    verb="Revoke",
    done="revoked",
    explanation="Requests with these keys are refused from now on. This cannot be undone.",
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
    help_texts = {
        "agent": "The key acts as this agent alone and cannot write its document; empty: for the"
        " whole team.",
        "name": "What it is for, such as the name of the program that uses it.",
    }
    readonly_fields = ["prefix", "validity", "created", "last_used", "revoked"]
    actions = ["revoke_selected"]
    actions_detail = ["revoke_this"]

    created = time_column("created_at", "issued")
    last_used = time_column("last_used_at", "last used")
    revoked = time_column("revoked_at", "revoked")
    revoke_selected = list_action("revoke_selected", REVOKE, "Revoke")
    revoke_this = page_action("revoke_this", REVOKE, "Revoke", icon="block")

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """What a new key needs, or all that may be known of a stored one."""
        asked = ["team", "agent", "name"]
        return asked if obj is None else [*asked, *self.readonly_fields]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Never by the digest, which would answer guesses."""
        if lookup.startswith("digest"):
            return False
        return super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Issue the key; its secret goes to the answer of this request alone."""
        issued = issue_key(team_id=obj.team_id, agent=obj.agent, name=obj.name)
        obj.pk, obj.prefix = issued.key.pk, issued.key.prefix
        setattr(obj, _TOKEN, issued.token)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page with the secret: no cookie and no session ever holds it."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Your new API key",
            "opts": self.opts,
            "key": obj,
            "token": getattr(obj, _TOKEN),
        }
        return TemplateResponse(request, "admin/teams/apikey/issued.html", context)

    def useful_actions(self, row: ApiKey) -> Collection[str]:
        """No button for a key that is revoked."""
        return () if row.revoked_at else self.actions_detail

    @display(
        description="validity",
        ordering="revoked_at",
        label={"valid": "success", "revoked": "danger"},
    )
    def validity(self, key: ApiKey) -> str:
        """Whether it still opens anything."""
        return "revoked" if key.revoked_at else "valid"
