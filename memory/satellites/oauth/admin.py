"""MCP sign-ins of a team: which client acts as which agent, and their revocation."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import admin
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone

from memory.satellites.oauth.grants import CODE_LIFE, REFRESH_LIFE, revoke_grant
from memory.satellites.oauth.models import Grant
from teams.admin.base import TeamAdmin
from teams.admin.confirm import Change, list_action, page_action
from teams.admin.display import column, time_column
from teams.admin.filters import condition_filter
from teams.admin.theme import RelatedFilter
from teams.admin_permissions import ADMINS


def _revoke(_request: HttpRequest, grant: Grant, _reason: str) -> None:
    revoke_grant(team_id=grant.team_id, grant_id=grant.pk, cause="admin", now=timezone.now())


REVOKE: Change[Grant] = Change(
    verb="Revoke",
    done="revoked",
    explanation="The program can no longer use the memory. Its person can connect it again.",
    apply=_revoke,
    roles=ADMINS,
)

_LIVES = Q(used_at__gt=Now() - REFRESH_LIFE) | Q(
    used_at__isnull=True, created_at__gt=Now() - CODE_LIFE
)
StateFilter = condition_filter(
    "state",
    {
        "active": ("Active", Q(revoked_at__isnull=True) & _LIVES),
        "expired": ("Expired", Q(revoked_at__isnull=True) & ~_LIVES),
        "revoked": ("Revoked", Q(revoked_at__isnull=False)),
        "all": ("All", Q()),
    },
    opens_first=True,
)
_COLOURS = {"active": "success", "expired": "warning", "revoked": "danger"}


def _state(grant: Grant) -> str:
    if grant.revoked_at:
        return "revoked"
    ends_at = grant.used_at + REFRESH_LIFE if grant.used_at else grant.created_at + CODE_LIFE
    return "active" if ends_at > timezone.now() else "expired"


@admin.register(Grant)
class GrantAdmin(TeamAdmin[Grant]):
    """The programs that people let in."""

    act_roles = ADMINS
    list_display = ["client_name", "agent", "end_user", "login", "team", "state", "is_read_only"]
    list_display += ["created", "used"]
    list_filter = [StateFilter, ("team", RelatedFilter), ("agent", RelatedFilter)]
    list_select_related = ["team", "client", "user", "agent", "end_user"]
    search_fields = ["client__name", "user__username", "agent__slug"]
    when_empty = "Programs that people connect by MCP with their login are listed here."
    fields = ["client_name", "agent", "end_user", "is_read_only", "login", "resource", "team"]
    fields += ["state", "created", "used", "revoked"]
    actions = [list_action("revoke_selected", REVOKE, "Revoke")]
    actions_detail = ["revoke_this"]

    client_name = column("program", lambda grant: grant.client.name)
    login = column("login", lambda grant: grant.user.get_username())
    state = column("state", _state, ordering="revoked_at", label=_COLOURS)
    created = time_column("created_at", "allowed")
    used = time_column("used_at", "tokens renewed")
    revoked = time_column("revoked_at", "revoked")
    revoke_this = page_action("revoke_this", REVOKE, "Revoke", icon="block")

    def useful_actions(self, row: Grant) -> Collection[str]:
        """No button for one that is revoked."""
        return () if row.revoked_at else self.actions_detail
