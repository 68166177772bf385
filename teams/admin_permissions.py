"""Permissions of a staff login in the admin, by its role in the team of the row, and refusals.

Row-level security already hides the rows of other teams; these rules decide what may be done with
visible rows. Django's permissions per model are not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views import defaults

from teams.models import Membership, Team

Roles = tuple[str, ...]

NOBODY: Roles = ()
ADMINS: Roles = (Membership.Role.ADMIN.value,)
REVIEWERS: Roles = (*ADMINS, Membership.Role.REVIEWER.value)
MEMBERS: Roles = (*REVIEWERS, Membership.Role.VIEWER.value)

# The key of a session that holds the id of the chosen team.
CHOSEN_TEAM = "team"
_KEPT = "palimpsest_team_roles"
_TEAMS_OF_ROWS = "palimpsest_teams_of_rows"
_TEMPLATE = "admin/refused.html"
_ADMIN = "/admin/"
# What a person may have typed on a page that asks.
_TYPED = ("content", "reason", "note")


def is_superuser(request: HttpRequest) -> bool:
    """Returns whether the login is a superuser, who may set up teams and logins."""
    return request.user.is_active and bool(request.user.is_superuser)


def is_member(request: HttpRequest) -> bool:
    """Returns whether the login may see rows of any team."""
    return may(request, roles=MEMBERS)


def is_team_admin(request: HttpRequest) -> bool:
    """Returns whether the login is an admin of any team."""
    return may(request, roles=ADMINS)


def roles_of(request: HttpRequest) -> Mapping[UUID, str]:
    """The login's role in each of its teams, asked once a request."""
    known: Mapping[UUID, str] | None = getattr(request, _KEPT, None)
    if known is None:
        rows = Membership.objects.filter(user_id=request.user.pk)
        known = dict(rows.values_list("team_id", "role"))
        setattr(request, _KEPT, known)
    return known


def may(request: HttpRequest, *, roles: Roles, team_id: UUID | None = None) -> bool:
    """Returns whether the login has one of `roles` in that team, or in any; superusers have all."""
    if not request.user.is_active or not roles:
        return False
    if is_superuser(request):
        return True
    held = roles_of(request)
    return held.get(team_id) in roles if team_id else any(role in roles for role in held.values())


def teams_where(request: HttpRequest, *, roles: Roles) -> list[UUID] | None:
    """The teams in which the login has one of `roles`; None means every team it sees."""
    if is_superuser(request):
        return None
    return [team_id for team_id, role in roles_of(request).items() if role in roles]


def sees_several_teams(request: HttpRequest) -> bool:
    """Returns whether lists must show which team a row belongs to."""
    scope = getattr(request, "staff_scope", None)
    is_one_chosen = scope is not None and scope.team is not None and len(scope.own_ids) > 1
    return not is_one_chosen and (is_superuser(request) or len(roles_of(request)) > 1)


class TeamPermissions:
    """The permission methods of a ModelAdmin of team rows, by membership role.

    `add_roles`, `change_roles` and `delete_roles` say who may use Django's own forms, superusers
    included: empty means nobody. `act_roles` may run the admin's actions, `view_roles` look.
    """

    model: Any  # the class of the rows, set by the ModelAdmin this is mixed into
    view_roles: Roles = MEMBERS
    add_roles: Roles = NOBODY
    change_roles: Roles = NOBODY
    delete_roles: Roles = NOBODY
    act_roles: Roles = REVIEWERS

    # Any in the signatures: Django hands a row, the theme's buttons hand its id as text.

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_member(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.view_roles, obj)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.add_roles, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.change_roles, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.delete_roles, obj)

    def has_act_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.act_roles, obj)

    def _may(self, request: HttpRequest, roles: Roles, obj: Any) -> bool:
        if obj is None:
            return may(request, roles=roles)
        team_id = self._team_id(request, obj)
        return team_id is not None and may(request, roles=roles, team_id=team_id)

    def _team_id(self, request: HttpRequest, obj: Any) -> UUID | None:
        if isinstance(obj, Team):
            return obj.pk
        if isinstance(obj, Model):
            team_id: UUID | None = getattr(obj, "team_id", None)
            return team_id
        # Each button of a page asks for the same row's team, which never changes.
        known: dict[tuple[str, str], UUID | None] | None = getattr(request, _TEAMS_OF_ROWS, None)
        if known is None:
            known = {}
            setattr(request, _TEAMS_OF_ROWS, known)
        key = (self.model._meta.label, str(obj))
        if key not in known:
            rows = self.model._default_manager.values_list("team_id", flat=True)
            try:
                known[key] = rows.filter(pk=obj).first()
            except (ValueError, ValidationError):
                known[key] = None
        return known[key]


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the role does not allow it, and who could change that."""
    if not request.path.startswith(_ADMIN):
        return defaults.permission_denied(request, exception)
    if offer := _offer_of_other_team(request, HTTPStatus.FORBIDDEN):
        return offer
    return _refused(
        request,
        HTTPStatus.FORBIDDEN,
        "You do not have permission",
        "Your role in the team does not allow this, or the item no longer exists. Ask an admin of"
        " the team to do it or to change your role.",
    )


def not_found(request: HttpRequest) -> HttpResponse:
    """Say that the address leads nowhere, or to another team of the login."""
    return _offer_of_other_team(request, HTTPStatus.NOT_FOUND) or _refused(
        request,
        HTTPStatus.NOT_FOUND,
        "Page not found",
        f"There is nothing at {request.path}. It may have been deleted. Use the menu or the search"
        " to find what you are looking for.",
    )


def _offer_of_other_team(request: HttpRequest, status: int) -> HttpResponse | None:
    """The page of an address that is about a row of a team that the login has not chosen.

    It names the team and offers to switch to it; None where the login may not see the row.
    """
    scope: Any = getattr(request, "staff_scope", None)  # the middleware's
    if scope is None or scope.team is None or len(scope.own_ids) < 2:
        return None
    with scope.of_all():
        found = next(_visible_rows(request), None)
        team = Team.objects.get(pk=found[1]) if found else None
    if found is None or team is None or team == scope.team:
        return None
    is_read = request.method in ("GET", "HEAD")
    return _refused(
        request,
        status,
        f"This belongs to {team}",
        f"You have chosen the team {scope.team}.{'' if is_read else ' Nothing was changed.'}",
        typed=[] if is_read else _typed(request),
        team=team,
        # Not every address that takes a form has a page.
        next=request.get_full_path() if is_read else found[0],
    )


def _visible_rows(request: HttpRequest) -> Iterator[tuple[str, UUID]]:
    """The admin's page and the team of each row in scope that the address may be about."""
    match = request.resolver_match
    given = (match.kwargs.get("object_id") or match.kwargs.get("pk")) if match else None
    if match is None or given is None:
        return
    held = dict(Membership.objects.filter(user_id=request.user.pk).values_list("team_id", "role"))
    for model, page in admin.site._registry.items():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        # The page of a row that stands under its model, or any with the id of a row.
        is_meant = isinstance(given, UUID) or str(match.url_name).startswith(f"{name}_")
        if not is_meant or not isinstance(page, TeamPermissions):
            continue
        field = "pk" if model is Team else "team_id"
        rows = model._default_manager.values_list(field, flat=True)
        try:
            team_id = rows.filter(pk=unquote(str(given))).first()
        except (ValueError, ValidationError):
            continue
        if team_id and (is_superuser(request) or held.get(team_id) in page.view_roles):
            yield reverse(f"admin:{name}_change", args=[given]), team_id


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the page that was sent is of another session, and show what was typed on it."""
    if not request.path.startswith(_ADMIN):
        return defaults.permission_denied(request, PermissionError(reason))
    return _refused(
        request,
        HTTPStatus.FORBIDDEN,
        "This page has expired",
        "Nothing was changed: you have logged in or out since the page was loaded, or your browser"
        " blocks cookies. Log in, reload the page and try again.",
        typed=_typed(request),
    )


def _typed(request: HttpRequest) -> list[str]:
    return [text for name in _TYPED if (text := request.POST.get(name, "").strip())]


def locked_out(request: HttpRequest, response: HttpResponse, credentials: object) -> HttpResponse:
    """Say that too many passwords were wrong; django-axes calls it in place of the answer."""
    del response, credentials
    return _refused(
        request,
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many failed attempts to sign in",
        f"Try again in {settings.AXES_COOLOFF_TIME.seconds // 60} minutes. The operator of the"
        " server can unlock the login at once with manage.py axes_reset_username.",
    )


def _refused(
    request: HttpRequest,
    status: int,
    title: str,
    what_to_do: str,
    *,
    typed: list[str] | None = None,
    **more: object,
) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        # The menu names who is logged in.
        "is_nav_sidebar_enabled": request.user.is_authenticated,
        "title": title,
        "what_to_do": what_to_do,
        "typed": typed or [],
        **more,
    }
    answer = TemplateResponse(request, _TEMPLATE, context, status=status)
    return answer.render()
