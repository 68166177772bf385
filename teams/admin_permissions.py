"""What a staff login may do in the admin: its role in the team of the row decides.

Row-level security already hides the rows of other teams; these rules decide what may be done with
visible rows. Django's permissions per model are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest

from teams.models import Membership, Team

Roles = tuple[str, ...]

NOBODY: Roles = ()
ADMINS: Roles = (Membership.Role.ADMIN.value,)
REVIEWERS: Roles = (*ADMINS, Membership.Role.REVIEWER.value)
MEMBERS: Roles = (*REVIEWERS, Membership.Role.VIEWER.value)

_KEPT = "palimpsest_team_roles"
_TEAMS_OF_ROWS = "palimpsest_teams_of_rows"


def is_superuser(request: HttpRequest) -> bool:
    """Whether the login is one of those that set up teams and logins."""
    return request.user.is_active and bool(request.user.is_superuser)


def is_member(request: HttpRequest) -> bool:
    """Whether the login may see rows of any team."""
    return may(request, roles=MEMBERS)


def is_team_admin(request: HttpRequest) -> bool:
    """Whether the login is an admin of any team."""
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
    """Whether the login has one of `roles` in that team, or in any team where none is named.

    A superuser has every role of every team; nobody has one of none.
    """
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
    """Whether lists must say which team a row belongs to."""
    return is_superuser(request) or len(roles_of(request)) > 1


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
