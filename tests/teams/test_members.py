"""The last admin of a team stays one, whoever takes it away and how."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction

from teams.models import Membership, StaffUser
from teams.services.people import (
    LastAdminError,
    change_role,
    check_login_is_not_needed,
    remove_member,
)
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.cast import Cast, make_cast


def member(cast: Cast, name: str, role: str = "admin", **fields: object) -> Membership:
    """A login with a role in the team."""
    user = StaffUserFactory.create(username=name, **fields)
    return Membership.objects.create(team=cast.team, user=user, role=role)


def admins(cast: Cast) -> list[str]:
    """The names of the team's admins."""
    rows = Membership.objects.filter(team=cast.team, role="admin").order_by("user__username")
    return list(rows.values_list("user__username", flat=True))


def test_the_last_admin_is_not_demoted_or_removed(acme: Cast) -> None:
    ann = member(acme, "ann")
    member(acme, "rob", "reviewer")

    with pytest.raises(LastAdminError, match="This is the last admin of Acme"):
        change_role(member=ann, role="viewer")
    with pytest.raises(LastAdminError, match="This is the last admin of Acme"):
        remove_member(member=ann)

    assert admins(acme) == ["ann"]


def test_one_of_two_may_go(acme: Cast) -> None:
    ann, ben = member(acme, "ann"), member(acme, "ben")

    change_role(member=ann, role="reviewer")
    with pytest.raises(LastAdminError):
        remove_member(member=ben)

    assert admins(acme) == ["ben"]


def test_an_admin_who_cannot_sign_in_does_not_count(acme: Cast) -> None:
    ann = member(acme, "ann")
    gone = member(acme, "gone", is_active=False)

    with pytest.raises(LastAdminError):
        change_role(member=ann, role="viewer")
    remove_member(member=gone)

    assert admins(acme) == ["ann"]


def test_a_login_that_is_the_last_admin_anywhere_is_needed(acme: Cast) -> None:
    ann = member(acme, "ann").user

    with pytest.raises(LastAdminError, match="Acme"):
        check_login_is_not_needed(user=ann)
    member(acme, "ben")
    check_login_is_not_needed(user=ann)


@pytest.mark.parametrize("how", ["demote", "remove", "deactivate", "no staff", "delete the login"])
def test_the_database_refuses_too(acme: Cast, how: str) -> None:
    ann = member(acme, "ann")
    rows, users = Membership.objects.filter(pk=ann.pk), StaffUser.objects.filter(pk=ann.user_id)
    ways = {
        "demote": lambda: rows.update(role="viewer"),
        "remove": rows.delete,
        "deactivate": lambda: users.update(is_active=False),
        "no staff": lambda: users.update(is_staff=False),
        "delete the login": users.delete,
    }

    with pytest.raises(IntegrityError, match="a team keeps an admin"), transaction.atomic():
        ways[how]()

    assert admins(acme) == ["ann"]


def test_two_admins_who_go_at_once_do_not_both_go(committed_db: None) -> None:
    cast = make_cast("keeps-one")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        both = [member(cast, f"{name}-keeps-one") for name in ("ann", "ben")]
    at_once = Barrier(2)

    def leave(each: Membership) -> bool:
        try:
            at_once.wait()
            with team_scope(team_ids=[cast.team.id], actor="test"):
                remove_member(member=each)
        except LastAdminError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        left = list(pool.map(leave, both))

    assert sorted(left) == [False, True]
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert len(admins(cast)) == 1
