"""API keys: issued, rotated and revoked here; their secret is shown once."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from teams.admin_permissions import ADMINS
from teams.models import ApiKey, Project
from teams.services.keys import issue_key, revoke_key, rotate_key

from .base import TeamAdmin, TeamOwnedForm
from .confirm import Change, confirm_and_run, list_action, page_action
from .display import column, page_of, time_column
from .filters import condition_filter
from .theme import ChecksWidget, RelatedFilter, action

_TOKEN = "issued_token"  # noqa: S105 - the name of an attribute
OVERLAP = timedelta(hours=24)
_COLOURS = {"valid": "success", "expired": "warning", "revoked": "danger"}
_ENDED = Q(expires_at__lte=Now())


def _revoke(_request: HttpRequest, key: ApiKey, _reason: str) -> None:
    revoke_key(team_id=key.team_id, key_id=key.pk, now=timezone.now())


REVOKE: Change[ApiKey] = Change(
    verb="Revoke",
    done="revoked",
    explanation="Requests with these keys will be refused. This cannot be undone.",
    apply=_revoke,
    roles=ADMINS,
)


def _rotate(request: HttpRequest, key: ApiKey, _reason: str) -> None:
    issued = rotate_key(team_id=key.team_id, key_id=key.pk, now=timezone.now(), overlap=OVERLAP)
    setattr(issued.key, _TOKEN, issued.token)
    setattr(request, _TOKEN, issued.key)


ROTATE: Change[ApiKey] = Change(
    verb="Rotate",
    done="rotated",
    explanation="A new key with the same agent, name and permissions is shown once. The current key"
    " stays valid for 24 hours, so that you can update your programs.",
    apply=_rotate,
    roles=ADMINS,
)


ValidityFilter = condition_filter(
    "validity",
    {
        "valid": ("Valid", Q(revoked_at__isnull=True) & ~_ENDED),
        "expired": ("Expired", Q(revoked_at__isnull=True) & _ENDED),
        "revoked": ("Revoked", Q(revoked_at__isnull=False)),
        "all": ("All", Q()),
    },
    opens_first=True,
)


def _validity(key: ApiKey) -> str:
    if key.revoked_at:
        return "revoked"
    return "expired" if key.expires_at and key.expires_at <= timezone.now() else "valid"


def _projects(key: ApiKey) -> str:
    known = Project.objects.filter(team_id=key.team_id, pk__in=key.project_ids)
    return ", ".join(map(str, known)) or "all"


class KeyForm(TeamOwnedForm):
    """The fields of a new key."""

    project_ids = forms.ModelMultipleChoiceField(
        Project.objects.all(),
        required=False,
        label="Projects",
        help_text="Limits the key to these projects and to memories without a project. None"
        " selected: all projects.",
        widget=ChecksWidget,
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        # Without this a form saved by mistake would issue a key of the whole team that never ends.
        if self.instance._state.adding and not cleaned.get("name"):
            self.add_error("name", "Name the key after the program that uses it.")
        expires_at = cleaned.get("expires_at")
        if expires_at and expires_at <= timezone.now():
            self.add_error("expires_at", "Choose a time in the future.")
        projects = cleaned.get("project_ids") or []
        if any(each.team_id != getattr(cleaned.get("team"), "pk", None) for each in projects):
            self.add_error("project_ids", "Choose projects of the key's team.")
        cleaned["project_ids"] = [each.pk for each in projects]
        return cleaned


@admin.register(ApiKey)
class ApiKeyAdmin(TeamAdmin[ApiKey]):
    """Keys by their public prefix; nothing here knows a key's secret."""

    form = KeyForm
    add_roles = act_roles = ADMINS
    list_display = ["prefix", "name", "agent", "team", "validity", "is_read_only"]
    list_display += ["created", "last_used", "expires"]
    list_filter = [ValidityFilter, ("team", RelatedFilter), ("agent", RelatedFilter)]
    list_select_related = ["team", "agent"]
    search_fields = ["prefix", "name"]
    help_texts = {
        "agent": "Limits the key to this agent, whose settings it cannot change. Empty: all agents"
        " of the team.",
        "name": "For example the name of the program that uses it.",
    }
    readonly_fields = ["prefix", "projects", "validity", "created", "last_used", "revoked"]
    actions = [list_action("revoke_selected", REVOKE, "Revoke")]
    actions_detail = ["rotate_this", "revoke_this"]

    projects = column("projects", _projects)
    validity = column("validity", _validity, ordering="revoked_at", label=_COLOURS)
    created = time_column("created_at", "issued")
    last_used = time_column("last_used_at", "last used")
    expires = time_column("expires_at", "expires")
    revoked = time_column("revoked_at", "revoked")
    revoke_this = page_action("revoke_this", REVOKE, "Revoke", icon="block")

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        asked = ["team", "agent", "project_ids", "name", "is_read_only", "expires_at"]
        if obj is None:
            return asked
        return [*(each for each in asked if each != "project_ids"), *self.readonly_fields]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Never by the digest, which would answer guesses."""
        if lookup.startswith("digest"):
            return False
        return super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Issue the key; its secret goes to the answer of this request alone."""
        issued = issue_key(
            team_id=obj.team_id,
            agent=obj.agent,
            name=obj.name,
            is_read_only=obj.is_read_only,
            project_ids=obj.project_ids,
            expires_at=obj.expires_at,
        )
        obj.pk, obj.prefix = issued.key.pk, issued.key.prefix
        setattr(obj, _TOKEN, issued.token)

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page with the secret: no cookie and no session ever holds it."""
        return self._show_once(request, obj)

    @action(description="Rotate", permissions=["act"], url_path="rotate", icon="autorenew")
    def rotate_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Issue a key in place of this one, after a confirmation, and show its secret."""
        asked = confirm_and_run(self, request, ApiKey.objects.filter(pk=object_id), ROTATE)
        if asked is not None:
            return asked
        made: ApiKey | None = getattr(request, _TOKEN, None)
        if made is None:  # a message says why
            return HttpResponseRedirect(page_of("teams_apikey", object_id))
        return self._show_once(request, made)

    def _show_once(self, request: HttpRequest, key: ApiKey) -> HttpResponse:
        template, token = "admin/teams/apikey/issued.html", getattr(key, _TOKEN)
        return self.own_page(request, template, "Your new API key", key=key, token=token)

    def useful_actions(self, row: ApiKey) -> Collection[str]:
        """No button for a key that is revoked, no rotation where it has expired or was rotated."""
        if row.revoked_at:
            return ()
        is_rotatable = _validity(row) == "valid" and row.rotated_at is None
        return self.actions_detail if is_rotatable else ["revoke_this"]
