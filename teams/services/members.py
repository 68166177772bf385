"""Members of a team: roles that change, and the admin that always remains."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from teams.errors import ConflictError
from teams.models import Membership, StaffUser, Team


class LastAdminError(ConflictError):
    """It would leave a team without an admin; nothing was changed."""


def change_role(*, member: Membership, role: str) -> None:
    """Give the member another role; LastAdminError for the team's last admin.

    Call it in the team's scope.
    """
    with transaction.atomic():
        if role != Membership.Role.ADMIN:
            check_other_admins(user_id=member.user_id, team_ids=[member.team_id])
        Membership.objects.filter(team_id=member.team_id, pk=member.pk).update(role=role)
    member.role = role


def remove_member(*, member: Membership) -> None:
    """Take the member out of the team; LastAdminError for its last admin. Call it in scope."""
    with transaction.atomic():
        check_other_admins(user_id=member.user_id, team_ids=[member.team_id])
        Membership.objects.filter(team_id=member.team_id, pk=member.pk).delete()


def check_login_is_not_needed(*, user: StaffUser) -> None:
    """Raise LastAdminError if a team would be without an admin when this login could not sign in.

    Call it in the scope of all teams.
    """
    teams = Membership.objects.filter(user_id=user.pk).values_list("team_id", flat=True)
    check_other_admins(user_id=user.pk, team_ids=list(teams))


def check_other_admins(*, user_id: int, team_ids: Collection[UUID]) -> None:
    """Raise LastAdminError if the login is the last admin of one of the teams.

    Until the transaction ends, no other one changes the admins of these teams. An admin is one who
    can sign in. The database refuses as well (sql/last_admin.sql).
    """
    teams = Team.objects.select_for_update(no_key=True).filter(pk__in=team_ids).order_by("pk")
    found = list(teams)
    admins = Membership.objects.filter(
        team_id__in=team_ids,
        role=Membership.Role.ADMIN,
        user__is_active=True,
        user__is_staff=True,
    )
    by_team: dict[UUID, set[int]] = {}
    for team_id, admin_id in admins.values_list("team_id", "user_id"):
        by_team.setdefault(team_id, set()).add(admin_id)
    needed = [team.name for team in found if by_team.get(team.pk) == {user_id}]
    if needed:
        raise LastAdminError(
            f"This is the last admin of {', '.join(needed)}: name another admin first.",
            field="role",
        )
